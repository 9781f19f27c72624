"""The same conversation in each request format: the user's question, the model's calls, and their results."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from toolcarry.switch import SummarizeTransformer

Message = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """A provider's way to write a conversation. Calls come with thinking that is signed by the backend that made them."""

    name: str
    user: Callable[[str], Message]
    says: Callable[[str], Message]
    calls: Callable[[str, str, dict[str, Any]], list[Message]]
    gives: Callable[[str, str, str], Message]

    def turn(
        self, call_id: str, name: str, arguments: dict[str, Any], result: str
    ) -> list[Message]:
        return [*self.calls(call_id, name, arguments), self.gives(call_id, name, result)]


SIGNED = "signed-by-the-old-one"


def anthropic_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Message]:
    thought = {"type": "thinking", "thinking": "hm", "signature": SIGNED}
    use = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    return [{"role": "assistant", "content": [thought, use]}]


def openai_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Message]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "reasoning_content": SIGNED, "tool_calls": [call]}
    ]


def responses_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Message]:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNED}
    call = {"type": "function_call", "id": f"fc_{SIGNED}", "call_id": call_id, "name": name}
    return [thought, {**call, "arguments": json.dumps(arguments)}]


def ollama_calls(_call_id: str, name: str, arguments: dict[str, Any]) -> list[Message]:
    function = {"name": name, "arguments": arguments}
    return [
        {
            "role": "assistant",
            "content": "",
            "thinking": SIGNED,
            "tool_calls": [{"function": function}],
        }
    ]


def gemini_calls(_call_id: str, name: str, arguments: dict[str, Any]) -> list[Message]:
    call = {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": SIGNED}
    return [{"role": "model", "parts": [{"text": SIGNED, "thought": True}, call]}]


def bedrock_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Message]:
    thought = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": SIGNED}}}
    use = {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}
    return [{"role": "assistant", "content": [thought, use]}]


ANTHROPIC = Shape(
    "anthropic",
    lambda text: {"role": "user", "content": [{"type": "text", "text": text}]},
    lambda text: {"role": "assistant", "content": [{"type": "text", "text": text}]},
    anthropic_calls,
    lambda call_id, _name, text: {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text}],
    },
)
OPENAI = Shape(
    "openai",
    lambda text: {"role": "user", "content": text},
    lambda text: {"role": "assistant", "content": text},
    openai_calls,
    lambda call_id, _name, text: {"role": "tool", "tool_call_id": call_id, "content": text},
)
RESPONSES = Shape(
    "responses",
    lambda text: {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
    },
    lambda text: {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    },
    responses_calls,
    lambda call_id, _name, text: {
        "type": "function_call_output",
        "call_id": call_id,
        "output": text,
    },
)
OLLAMA = Shape(
    "ollama",
    lambda text: {"role": "user", "content": text},
    lambda text: {"role": "assistant", "content": text},
    ollama_calls,
    lambda _call_id, name, text: {"role": "tool", "tool_name": name, "content": text},
)
GEMINI = Shape(
    "gemini",
    lambda text: {"role": "user", "parts": [{"text": text}]},
    lambda text: {"role": "model", "parts": [{"text": text}]},
    gemini_calls,
    lambda _call_id, name, text: {
        "role": "user",
        "parts": [{"functionResponse": {"name": name, "response": {"output": text}}}],
    },
)
BEDROCK = Shape(
    "bedrock",
    lambda text: {"role": "user", "content": [{"text": text}]},
    lambda text: {"role": "assistant", "content": [{"text": text}]},
    bedrock_calls,
    lambda call_id, _name, text: {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": call_id, "content": [{"text": text}] if text else []}}
        ],
    },
)
SHAPES = [ANTHROPIC, OPENAI, RESPONSES, OLLAMA, GEMINI, BEDROCK]


def texts_of(message: Message) -> str:
    """All texts of a message, joined."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


FILE = "\n".join(f"{number:>4}  line {number} of main.rs" for number in range(1, 245))
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
WHERE = {"conversation": "c", "backend": "b"}


def history(shape: Shape) -> list[Message]:
    """One request that was answered, with a file read and a command run."""
    return [
        shape.user("Read src/main.rs, then run the tests."),
        *shape.turn("call_1", "Read", {"file_path": "src/main.rs"}, FILE),
        *shape.turn("call_2", "Bash", {"command": "cargo test"}, "3 passed"),
        shape.says("All three pass."),
    ]


def transformer(**options: Any) -> SummarizeTransformer:
    """One whose conversation ``c`` was answered by ``a``."""
    made = SummarizeTransformer(**options)
    made.answered("c", "a")
    return made
