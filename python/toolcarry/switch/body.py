"""Request bodies for the switch: read the messages from the bytes, and write changed ones back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toolcarry._input.json import dump, loads, loads_any_depth
from toolcarry._input.objects import as_list, as_object
from toolcarry._input.raw_json import split_object, write_array, write_object, written_items
from toolcarry.errors import InputError
from toolcarry.model.content import THINKING_PARTS
from toolcarry.switch.bound import bound_members
from toolcarry.switch.request_fields import RequestFields, read_fields
from toolcarry.switch.types import Switched, SwitchedBody

__all__ = ["SwitchRequest", "open_request"]


class SwitchRequest(NamedTuple):
    """A request body: its bytes, its messages, and their place."""

    body: bytes
    key: str
    messages: Sequence[Any]

    def answer(self, switched: Switched) -> SwitchedBody:
        """Return the body with other messages; the same object if they are the same.

        Everything else, including unchanged messages, is copied byte for byte.
        """
        if not switched.is_switched:
            return SwitchedBody(self.body, switched.report, switched.line)
        document = {**loads_any_depth(self.body), self.key: switched.messages}
        members = split_object(self.body)
        is_thinking_off = self.key == "messages" and refuses_thinking(document)
        if is_thinking_off:
            new = without_thinking(document)
            changed = {name for name in new if new[name] is not document[name]}
            members = {
                name: dump(new[name]) if name in changed else value
                for name, value in members.items()
                if name in new
            }
        members[self.key] = self._written(members[self.key], switched.messages)
        # The messages say it all, and another backend does not know the rest.
        names, kinds = bound_members(document, is_first=not switched.report.is_sticky)
        members = {name: value for name, value in members.items() if name not in names}
        bound = tuple(sorted({*switched.report.bound, *kinds}))
        report = replace(switched.report, bound=bound)
        return SwitchedBody(
            write_object(members), report, switched.line, is_thinking_off=is_thinking_off
        )

    def _written(self, array: bytes, messages: Sequence[Any]) -> bytes:
        """Return messages as JSON; those of the body are copied from its ``array`` byte for byte."""
        own = {id(message): at for at, message in enumerate(self.messages)}
        spelled = written_items(array)
        places = [own.get(id(message)) for message in messages]
        return write_array(
            [
                dump(message) if at is None else spelled[at]
                for at, message in zip(places, messages, strict=True)
            ]
        )


def open_request(body: bytes, fields: RequestFields | None = None) -> SwitchRequest:
    """Split a request body; ``fields`` are the members that were already read. Raises ``InputError`` for anything else.

    >>> open_request(b'{"model": "m", "messages": []}').key
    'messages'
    """
    fields = read_fields(body) if fields is None else fields
    if fields.has_many_values:
        raise InputError("too many values", None)
    if not fields.key:
        loads(body)
        raise InputError("no request", None)
    return SwitchRequest(body, fields.key, fields.messages)


def refuses_thinking(document: dict[str, Any]) -> bool:
    """True if Anthropic would refuse to continue thinking: the turn with the open calls has to begin with a thought of its own.

    The turn begins after the user's last text. Thinking of another backend means nothing to Anthropic, and was removed.
    """
    # "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`":
    # https://platform.claude.com/docs/en/build-with-claude/extended-thinking
    thinking = as_object(document.get("thinking"))
    if thinking is None or thinking.get("type") != "enabled":
        return False
    turns = [as_object(message) or {} for message in document["messages"]]
    begin = len(turns)
    while begin and (turns[begin - 1].get("role") == "assistant" or has_results(turns[begin - 1])):
        begin -= 1
    if begin == len(turns) or not has_results(turns[-1]):
        return False
    blocks = as_list(turns[begin].get("content")) or ()
    first = as_object(blocks[0]) if blocks else None
    return (first or {}).get("type") not in THINKING_PARTS


def has_results(message: Any) -> bool:
    """True if a message holds results of tools."""
    blocks = as_list(message.get("content")) or ()
    return any((as_object(block) or {}).get("type") == "tool_result" for block in blocks)


def without_thinking(document: dict[str, Any]) -> dict[str, Any]:
    """Return a request without thinking, and without the edit that clears thinking, which needs it."""
    new = {key: value for key, value in document.items() if key != "thinking"}
    management = as_object(new.get("context_management"))
    edits = as_list((management or {}).get("edits"))
    if management is not None and edits is not None:
        kept = [
            edit
            for edit in edits
            if not str((as_object(edit) or {}).get("type")).startswith("clear_thinking")
        ]
        new["context_management"] = {**management, "edits": kept}
    return new
