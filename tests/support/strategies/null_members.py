"""Members that are null, as SDKs write those that a message or a part does not have."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from toolcarry._data import read_table
from toolcarry.model.destinations import DESTINATIONS

JsonObject = dict[str, Any]

LISTS = ("content", "parts", "tool_calls")
HOLDERS = ("function", "custom", "functionCall", "functionResponse", "toolUse", "toolResult")
NAMES = sorted(
    {
        *read_table("structures")["part_keys"],
        *("args", "data", "function_name", "kind", "observation", "response", "source_call_id", "step_id"),
        *("tool_call", "tool_call_ids"),
        *("type", "id", "name", "content", "parts", "tool_calls", "tool_call_id", "tool_name", "call_id"),
        *("tool_use_id", "is_error", "status", "cache_control", "custom", "function", "input", "arguments"),
        *("message", "uuid", "citations", "caller", "annotations", "partial_args", "will_continue"),
    }
    - {name for each in DESTINATIONS.values() for name in each.record.get("refused_members", ())}
)  # fmt: skip
"""Names of members that say what a message or a part is, and of others that SDKs write. Those that a destination
refuses, null or not, are missing."""


def holders_in(value: Any) -> Iterator[JsonObject]:
    """Yield messages, their parts, and the objects in parts that hold a call or a result, but no arguments."""
    for each in value if isinstance(value, list) else ():
        if isinstance(each, dict):
            yield each
            for key in LISTS:
                yield from holders_in(each.get(key))
            for key in HOLDERS:
                if isinstance(each.get(key), dict):
                    yield from holders_in([each[key]])


@st.composite
def with_null_members(draw: st.DrawFn, messages: list[Any]) -> list[Any]:
    """Draw the same messages with null members in some of their objects."""
    nulls = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=8, unique=True))
    chosen = draw(st.lists(st.booleans(), min_size=1, max_size=8))
    copy = copied(messages)
    for number, each in enumerate(holders_in(copy)):
        if chosen[number % len(chosen)]:
            for name in nulls:
                each.setdefault(name, None)
    return copy


def copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def without_null_members(messages: Any) -> list[Any]:
    """Return messages without the null members of their objects."""
    copy = copied(messages)
    for each in [*holders_in(copy)]:
        for name in [name for name, value in each.items() if value is None]:
            del each[name]
    return list(copy)
