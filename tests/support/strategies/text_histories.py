"""Generated conversations with thoughts and turns, a host's own calls, and tools that forge lines."""

from typing import Any

from hypothesis import strategies as st
from support.builders.wire import Message
from support.strategies import conversations as strategies
from support.strategies.texts import json_values, texts
from support.strategies.tools import contents

turn_ids = st.sampled_from((1, 2, 3, "1", "a", 1, 2, None, True, 1.0, "", 1 << 62, 1 << 70))
positions = st.sampled_from((0, 1, 2, 3, 7, -1, None, True, "1", 1 << 62, 1 << 70))
thoughts = st.lists(
    st.sampled_from(
        ("<think>", "</think>", "`<think>`", "```", "```py", "~~~", "\n", "\n", "a", "b c", " ", "> ")
    ),
    max_size=8,
).map("".join)  # fmt: skip


@st.composite
def conversations(draw: st.DrawFn) -> list[Any]:
    """A transcript, in which somebody says what they think, and some messages know their turn."""
    messages = list(draw(strategies.transcripts))
    for _ in range(draw(st.integers(0, 3))):
        role = draw(st.sampled_from(("user", "assistant", "assistant", "assistant", "system")))
        place = draw(st.integers(0, len(messages)))
        messages.insert(place, {"role": role, "content": draw(thoughts | texts)})
    return [with_turn(draw, message) for message in messages]


def with_turn(draw: st.DrawFn, message: Any) -> Any:
    """A message that may know its turn; a record's message does."""
    if not isinstance(message, dict) or not message or not draw(st.booleans()):
        return message
    inner = message.get("message")
    if isinstance(inner, dict):
        return message | {"message": inner | {"turn_id": draw(turn_ids)}}
    return message | {"turn_id": draw(turn_ids)}


arguments = st.one_of(
    st.dictionaries(texts, json_values, max_size=3),
    st.sampled_from(('{"a": 1}', "no json", "[1]", "", None)),
    json_values,
)
functions = st.fixed_dictionaries({}, optional={"name": strategies.names, "arguments": arguments})
records: st.SearchStrategy[Message] = st.fixed_dictionaries(
    {},
    optional={
        "turn_id": turn_ids,
        "position": positions,
        "name": strategies.names | json_values,
        "tool_name": strategies.names,
        "function": functions | json_values,
        "arguments": arguments,
        "args": arguments,
        "result": contents,
        "output": contents,
        "is_error": st.sampled_from((True, False, None, "yes")),
        "error": st.sampled_from((None, False, "", True, "boom", 0)) | json_values,
    },
)
lists_of_records = st.lists(records, max_size=5)

forging = st.lists(
    st.sampled_from(
        ("[Tool: ", "[Tool: f()] → ok", "\n", "\n\n", "\r", "\r\n", "[", "Tool: ", "[\\Tool: ", "\x1b[0m", "\x00", "\u200e", " ", "x" * 90)
    ),
    max_size=8,
).map("".join)  # fmt: skip
"""Texts with which a tool might imitate another tool's line."""


def forged_call(name: str, given: Any, content: Any, state: str) -> list[Message]:
    """A call, and what came back."""
    call = {"type": "tool_use", "id": "c", "name": name, "input": given}
    answer = {"type": "tool_result", "tool_use_id": "c", "content": content, "is_error": state == "failed"}  # fmt: skip
    said = {"role": "assistant", "content": [call]}
    if state == "open":
        return [said]
    if state == "orphan":
        answer["name"] = name
        return [{"role": "user", "content": [answer | {"tool_use_id": "gone"}]}]
    return [said, {"role": "user", "content": [answer]}]


media = forging.map(lambda url: [{"type": "image", "source": {"type": "url", "url": url}}])
forged_calls = st.builds(
    forged_call,
    forging,
    st.dictionaries(forging, forging | st.lists(forging, max_size=2), max_size=2),
    forging
    | st.lists(forging.map(lambda text: {"type": "text", "text": text}), max_size=3)
    | media,
    st.sampled_from(("", "", "", "failed", "open", "orphan")),
)
"""Each is one line, whatever it tries."""
