"""The switch for the bytes of a request: its messages are taken out, and put back where they are others."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import orjson

from toolcarry.decode import loads
from toolcarry.errors import InputError
from toolcarry.switch.packed import dump
from toolcarry.switch.values import Switched, SwitchedBody
from toolcarry.wire import as_list, as_object

__all__ = ["Request", "open_request"]

LISTS: Final = ("messages", "contents", "input")
"""Where a request keeps its messages."""
THOUGHTS: Final = ("thinking", "redacted_thinking")


class Request(NamedTuple):
    """A request body: its bytes, its document, and where in that the messages stand."""

    body: bytes
    document: dict[str, Any]
    key: str

    @property
    def messages(self) -> list[Any]:
        """The messages of the request."""
        found: list[Any] = self.document[self.key]
        return found

    def answer(self, switched: Switched) -> SwitchedBody:
        """The body with other messages; the same object where they are the same."""
        if not switched.is_switched:
            return SwitchedBody(self.body, switched.report, switched.line)
        document = {**self.document, self.key: switched.messages}
        is_thinking_off = self.key == "messages" and refuses_thinking(document)
        if is_thinking_off:
            document = without_thinking(document)
        return SwitchedBody(
            dump(document), switched.report, switched.line, is_thinking_off=is_thinking_off
        )


def open_request(body: bytes) -> Request:
    """A request body taken apart. Raises ``InputError`` for what is no request.

    >>> open_request(b'{"model": "m", "messages": []}').key
    'messages'
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = loads(body)  # what others accept
    if isinstance(document, dict):
        for key in LISTS:
            if isinstance(document.get(key), list):
                return Request(body, document, key)
    raise InputError("no request", None)


def refuses_thinking(document: dict[str, Any]) -> bool:
    """Whether Anthropic would refuse to think on: the turn with the open calls has to begin with a thought of its own.

    The turn goes back to the user's words. What another backend thought there means nothing to it, and was taken out.
    """
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
    return (first or {}).get("type") not in THOUGHTS


def has_results(message: Any) -> bool:
    """Whether a message brings what tools gave."""
    blocks = as_list(message.get("content")) or ()
    return any((as_object(block) or {}).get("type") == "tool_result" for block in blocks)


def without_thinking(document: dict[str, Any]) -> dict[str, Any]:
    """A request without thinking, and without what asks for its thoughts to be cleared, which needs it."""
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
