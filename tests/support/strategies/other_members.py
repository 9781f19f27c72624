"""Members as other providers write them: names of tools, arguments, ids of items, types, marks for the prompt cache.

``with_other_members`` changes the messages of a request in place; no message is moved, and no result is lost.
"""

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

JsonObject = dict[str, Any]

ARGUMENTS = {"anthropic": "input", "openai": "arguments", "responses": "arguments", "ollama": "arguments", "gemini": "args", "bedrock": "input"}  # fmt: skip
"""The member with the arguments of a call."""
SERVERS = ("web_search",)
NAMES = ("files.read", "files_read", "läse", "list files", "x" * 140, "7z")
GIVEN = (None, "", "ls", '{"command": "ma', '{"a": 1}', "[1]", [1], {"a": "b"}, 7)
ITEM_IDS = ("toolu_1", "fc_1", "ctc_1", "msg_1", "fc_" + "x" * 64)
MEMBERS = (("reasoning_content", "Hm."), ("reasoning_details", []), ("refusal", None), ("x", 1))
MARK = {"type": "ephemeral"}


def objects_in(value: Any) -> Iterator[JsonObject]:
    """Yield the objects in messages at any depth, without those in arguments."""
    if isinstance(value, list):
        for each in value:
            yield from objects_in(each)
    elif isinstance(value, dict):
        yield value
        for key, each in value.items():
            if key not in ARGUMENTS.values():
                yield from objects_in(each)


def calls_in(provider: str, messages: list[Any]) -> list[JsonObject]:
    """Return the objects that hold the name and the arguments of a client's tool."""
    key = ARGUMENTS[provider]
    found = [each for each in objects_in(messages) if "name" in each and key in each]
    return [each for each in found if each["name"] not in SERVERS]


def rename(draw: st.DrawFn, provider: str, messages: list[Any]) -> None:
    """Give a tool another name, in all of its calls and results."""
    calls = calls_in(provider, messages)
    if calls:
        name, new = draw(st.sampled_from(calls))["name"], draw(st.sampled_from(NAMES))
        for each in objects_in(messages):
            for key in ("name", "tool_name"):
                if each.get(key) == name:
                    each[key] = new


def give(draw: st.DrawFn, provider: str, messages: list[Any]) -> None:
    calls = calls_in(provider, messages)
    if calls:
        draw(st.sampled_from(calls))[ARGUMENTS[provider]] = draw(st.sampled_from(GIVEN))


def put(draw: st.DrawFn, messages: list[Any], key: str, values: Any, *kinds: str) -> None:
    """Give one of the objects of these types a member, or another value of it."""
    found = [each for each in objects_in(messages) if each.get("type") in kinds]
    if found:
        draw(st.sampled_from(found))[key] = draw(st.sampled_from(values))


def leave_out(draw: st.DrawFn, messages: list[Any], key: str, *kinds: str) -> None:
    found = [each for each in objects_in(messages) if each.get("type") in kinds and key in each]
    if found:
        del draw(st.sampled_from(found))[key]


def say(draw: st.DrawFn, messages: list[Any]) -> None:
    """Give a message of the model a member of another provider."""
    found = [each for each in messages if each.get("role") == "assistant"]
    if found:
        key, value = draw(st.sampled_from(MEMBERS))
        draw(st.sampled_from(found))[key] = value


def mark(draw: st.DrawFn, messages: list[Any], *kinds: str) -> None:
    for _ in range(draw(st.integers(1, 7))):
        put(draw, messages, "cache_control", (MARK,), *kinds)


Touch = Callable[[st.DrawFn, list[Any]], None]

TOUCHES: dict[str, tuple[Touch, ...]] = {
    "anthropic": (
        say,
        lambda draw, messages: mark(draw, messages, "text", "tool_use", "tool_result", "image"),
        lambda draw, messages: leave_out(draw, messages, "signature", "thinking"),
    ),
    "openai": (
        say,
        lambda draw, messages: mark(draw, messages, "text"),
        lambda draw, messages: leave_out(draw, messages, "type", "function", "custom"),
    ),
    "responses": (
        lambda draw, messages: put(
            draw, messages, "id", ITEM_IDS, "function_call", "custom_tool_call", "message"
        ),
        lambda draw, messages: leave_out(draw, messages, "summary", "reasoning"),
        lambda draw, messages: put(
            draw, messages, "type", ("text", "input_text", "output_text"), "input_text", "output_text"
        ),
    ),
}  # fmt: skip


@st.composite
def with_other_members(draw: st.DrawFn, provider: str, messages: list[Any]) -> list[Any]:
    """Change a few members of the messages of a request."""
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.integers(0, 3))
        touches = TOUCHES.get(provider, ())
        if kind > 1 and touches:
            draw(st.sampled_from(touches))(draw, messages)
        else:
            (rename, give)[kind % 2](draw, provider, messages)
    return messages
