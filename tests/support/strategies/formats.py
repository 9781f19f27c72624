"""Generated messages of every wire format other than Anthropic's and Chat's: valid and malformed.

Ids repeat, are missing, or lead nowhere; any value in a message may be gone or of another kind. What tells that an
object is a message at all (its type, kind, role, step) stays, so that no line of a file turns into a whole request.
"""

import copy
import json
from typing import Any

from hypothesis import strategies as st
from support.builders import families
from support.strategies.agents import (
    Message,
    answers,
    atif,
    flags,
    given_to,
    ids,
    langchain,
    message,
    openhands,
    opentelemetry,
    steps,
    swe_agent,
)
from support.strategies.texts import texts
from support.strategies.tools import calls, contents

spoken = texts.map(lambda text: {"text": text})

# OpenAI Responses, and Codex around it

response_calls = st.one_of(
    st.builds(
        lambda call, call_id, is_text: {
            "type": "function_call",
            "id": "fc_1",
            "call_id": call_id,
            "name": call.name,
            "arguments": given_to(call, is_text),
        },
        calls,
        ids,
        flags,
    ),
    st.builds(
        lambda text, call_id: {
            "type": "custom_tool_call",
            "call_id": call_id,
            "name": "apply_patch",
            "input": text,
        },
        texts,
        ids,
    ),
    st.builds(
        lambda call, call_id: {
            "type": "local_shell_call",
            "call_id": call_id,
            "action": call.input,
        },
        calls,
        ids,
    ),
)
packed = st.builds(
    lambda text, code: json.dumps({"output": text, "metadata": {"exit_code": code}}),
    texts,
    st.sampled_from((0, 1, 127, -1)),
)
response_results = st.builds(
    lambda kind, call_id, output: {"type": kind, "call_id": call_id, "output": output},
    st.sampled_from(("function_call_output", "custom_tool_call_output")),
    ids,
    answers | packed,
)
on_server: st.SearchStrategy[Message] = st.one_of(
    st.builds(
        lambda call_id, output, error: {
            "type": "mcp_call",
            "id": call_id,
            "name": "ask",
            "arguments": "{}",
            "output": output,
            "error": error,
        },
        ids,
        answers,
        st.none() | texts,
    ),
    st.builds(
        lambda call_id, status: {"type": "web_search_call", "id": call_id, "status": status},
        ids,
        st.sampled_from(("completed", "failed")),
    ),
    ids.map(lambda call_id: {"type": "image_generation_call", "id": call_id, "result": "QUJD"}),
)
response_said: st.SearchStrategy[Message] = st.sampled_from(
    (
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"role": "user", "content": "hi"},
    )
)
responses: st.SearchStrategy[Message] = (
    response_calls | response_results | on_server | response_said
)
codex = st.builds(
    lambda kind, item: {"timestamp": "t", "type": kind, "payload": item},
    st.sampled_from(("response_item", "response_item", "response_item", "event_msg")),
    responses,
)

# Gemini and Bedrock

gemini_calls = st.builds(
    lambda call, call_id: {"functionCall": {"id": call_id, "name": call.name, "args": call.input}},
    calls,
    ids,
)
gemini_answers = st.one_of(
    answers.map(lambda value: {"output": value}),
    answers.map(lambda value: {"error": value}),
    answers.map(lambda value: {"rows": value, "count": 1}),
)
gemini_results = st.builds(
    lambda call, call_id, answer: {
        "functionResponse": {"id": call_id, "name": call.name, "response": answer}
    },
    calls,
    ids,
    gemini_answers,
)
code = st.sampled_from(
    (
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "E"}},
    )
)
gemini = st.one_of(
    message("model", "parts", gemini_calls | spoken),
    message("user", "parts", gemini_results | spoken),
    message("model", "parts", code.map(copy.deepcopy)),
)
bedrock_parts = st.one_of(
    spoken,
    contents.map(lambda value: {"json": {"value": value}}),
    st.just({"image": {"format": "png", "source": {"bytes": "QUJD"}}}),
)
bedrock = st.one_of(
    message(
        "assistant",
        "content",
        spoken
        | st.builds(
            lambda call, call_id: {
                "toolUse": {"toolUseId": call_id, "name": call.name, "input": call.input}
            },
            calls,
            ids,
        ),
    ),
    message(
        "user",
        "content",
        spoken
        | st.builds(
            lambda call_id, parts, status: {
                "toolResult": {"toolUseId": call_id, "content": parts, "status": status}
            },
            ids,
            st.lists(bedrock_parts, max_size=2),
            st.sampled_from(("success", "error")),
        ),
    ),
)

KEPT = frozenset(
    ("type", "kind", "role", "step_id", "source", "message", "action", "message_type", "payload")
)
"""The members that identify the format of a message: they are left alone."""
odd_values: st.SearchStrategy[Any] = st.sampled_from(
    (None, "", 7, True, "text", [], ["x"], {}, {"a": 1}, [None, {}])
)


@st.composite
def bent(draw: st.DrawFn, given: st.SearchStrategy[Message]) -> Message:
    """Draw a message in which a value is missing, or of another kind."""
    made = copy.deepcopy(draw(given))
    holder: Any = made
    while True:
        keys: list[Any] = [key for key in places(holder) if holder is not made or key not in KEPT]
        if not keys:
            return made
        key = draw(st.sampled_from(keys))
        goes_deeper = draw(st.integers(0, 2)) > 0
        if places(holder[key]) and goes_deeper:
            holder = holder[key]
            continue
        if draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = copy.deepcopy(draw(odd_values))
        return made


def places(value: Any) -> list[Any]:
    """Return the keys or the indexes of a value."""
    return (
        list(value)
        if isinstance(value, dict)
        else list(range(len(value)))
        if isinstance(value, list)
        else []
    )


FAMILIES: dict[str, st.SearchStrategy[Message]] = {
    "responses": responses,
    "codex": codex,
    "gemini": gemini,
    "bedrock": bedrock,
    "swe_agent": swe_agent,
    "steps": steps,
    "langchain": langchain,
    "openhands": openhands,
    "opentelemetry": opentelemetry,
    "atif": atif,
}

shaped: st.SearchStrategy[Message] = st.one_of(
    *FAMILIES.values(), *(bent(family) for family in FAMILIES.values())
)
"""A message of any of these shapes."""

orderly: st.SearchStrategy[list[Message]] = st.lists(
    st.sampled_from(sorted(families.FAMILIES)), max_size=8
).map(
    lambda names: [
        message
        for number, name in enumerate(names)
        for message in families.FAMILIES[name](f"toolu_{number}")
    ]
)
"""Draw calls with their results, each in a different format."""

conversations: st.SearchStrategy[list[Message]] = st.sampled_from(sorted(FAMILIES)).flatmap(
    lambda name: orderly | st.lists(FAMILIES[name] | bent(FAMILIES[name]), max_size=10)
)
"""A conversation of one of these shapes, or of all in good order."""
