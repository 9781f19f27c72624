"""What records and messages say of themselves beside what is said in them: told in one line, since nobody takes it."""

from __future__ import annotations

from collections import Counter
from typing import Final

from toolcarry._input.objects import Wire, as_object, text_or_empty
from toolcarry._util.plural import counted
from toolcarry.convert.losses import Losses, listed
from toolcarry.convert.own import is_own_message, is_own_result
from toolcarry.convert.parts import Family
from toolcarry.convert.said import holder_of

SAID: Final = frozenset(
    (
        "role", "type", "kind", "content", "parts", "message", "payload", "data", "llm_message",
        "tool_calls", "invalid_tool_calls", "function_call", "tool_call_id", "tool_call_ids", "tool_use_id",
        "tool_name", "name", "is_error", "status", "tool_call", "action", "observation", "thought", "response",
        "images", "thinking", "reasoning", "reasoning_content", "thinking_blocks", "additional_kwargs", "refusal",
        "system_prompt", "source", "cache_control",
    )
)  # fmt: skip
"""The members of messages that hold what is said, or that are told of elsewhere."""

SPEAKERS: Final = frozenset(("system", "developer", "user", "assistant"))


class Fields:
    """The names of what is left behind, and how many records hold no message."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._names: set[str] = set()
        self._messages = 0
        self._passed: Counter[str] = Counter()

    def note(self, record: Wire, message: Wire) -> None:
        """Note what a record, and the message in it, say of themselves."""
        holder = holder_of(message)
        levels = [holder, *([message] if message is not holder else [])]
        levels += [record] if record is not message else []
        if self._goes_on(holder):
            del levels[0]
        found = {
            str(key)
            for level in levels
            for key, value in level.items()
            if value not in (None, [], {})
        }
        lost = found - SAID
        if holder.get("role") in SPEAKERS:
            lost |= found & {"name", "status"}  # elsewhere they are a tool's
        self._messages += bool(lost)
        self._names |= lost

    def _goes_on(self, holder: Wire) -> bool:
        """Whether an object goes on as it stands: an item of Responses, or what is of the target's own shape."""
        is_own = is_own_message(holder, self._family) or is_own_result(holder, self._family)
        return is_own or is_item(holder)

    def note_passed(self, record: Wire) -> None:
        """Note a record that holds no message; one that is written again later is no loss."""
        if record and as_object(record.get("message")) is None:
            self._passed[text_or_empty(record.get("type") or record.get("kind")) or "no type"] += 1

    def tell(self, losses: Losses) -> None:
        if self._passed:
            kinds = listed(sorted(self._passed))
            held = counted(self._passed.total(), "record")
            losses.add(None, "metadata", f"{held} without message: {kinds}")
        if self._names:
            held = counted(self._messages, "message")
            losses.add(None, "metadata", f"fields of {held}: {listed(sorted(self._names))}")


def is_item(wire: Wire) -> bool:
    """Whether an object is an item of Responses: its members are its own."""
    kind = text_or_empty(wire.get("type"))
    return wire.get("role") is None and kind.endswith(("_call", "_output", "reasoning"))
