"""Split a message, or a line of a session file, into the parts that become commits of the history.

The text with its calls is one part, and each result is a part of its own. Truncation is not judged here: the text of a
part is returned if it may contain a truncation marker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from toolcarry._data import read_table
from toolcarry._input.document import held_message
from toolcarry._input.json import dump_canonical, loads_arguments
from toolcarry._input.objects import JsonObject, first_given
from toolcarry.model.content import result_text, spoken_text
from toolcarry.model.formats import SPEAKERS, read_message, read_spoken
from toolcarry.model.formats.message import MessageParts, ToolCall, ToolResult
from toolcarry.model.text.cut_words import has_cut_word
from toolcarry.types.values import EncodingName

__all__ = ["LinePart", "Part", "line_part", "read_parts", "result_metadata"]

MESSAGE: Final = 0
CALL: Final = 1
RESULT: Final = 2
"""The kinds of ``tract.Kind`` that a part may have."""

SYSTEM_ROLES: Final[tuple[str, ...]] = tuple(read_table("roles")["system_roles"])


class Part(NamedTuple):
    """The part of a message that one commit holds."""

    kind: int
    role: str
    text: str
    metadata: dict[str, Any]
    wires: tuple[JsonObject, ...]
    """The calls of an assistant message, or the result, as objects of the message."""


class LinePart(NamedTuple):
    """A part of a line, without its text."""

    kind: int
    role: str
    token_count: int
    calls: bytes | None = None
    """The calls as canonical bytes."""
    names: Sequence[tuple[str, str]] = ()
    """The id and the name of each call."""
    result: tuple[str, str, bool] | None = None
    """For a result the id of its call, its tool's name, and true if it failed."""
    suspect: str | None = None
    """The text of a result, if it may contain a truncation marker."""


def line_part(part: Part, count: Callable[[str, EncodingName], int]) -> LinePart:
    """Return a part without its text, whose tokens are counted by ``count``."""
    kind, role, text, metadata, _ = part
    tokens = count(text, "o200k_base")
    if kind == CALL:
        calls = metadata["tool_calls"]
        names = tuple([(call["id"], call["name"]) for call in calls])
        return LinePart(kind, role, tokens, calls=dump_canonical(calls), names=names)
    if kind == RESULT:
        result = (metadata["tool_call_id"], metadata["name"], metadata["is_error"])
        suspect = text if has_cut_word(text) else None
        return LinePart(kind, role, tokens, result=result, suspect=suspect)
    return LinePart(kind, role, tokens)


def read_parts(record: JsonObject) -> list[Part] | None:
    """Return the parts of a message or a record; none if it has no content for the history.

    ``None`` stands for a message that only an importer can read.
    """
    message = record
    if record.get("role") is None and first_given(record, "uuid", "message") is not None:
        message = held_message(record) or record
    message_parts = MessageParts()
    if read_message(message, message.get("role"), message_parts) is None:
        return None
    results = [_result_part(result) for result in message_parts.results]
    spoken = read_spoken(message)
    text = spoken_text(spoken.content) if not _is_result(message, message_parts) else ""
    if message_parts.calls:
        calls = {"tool_calls": [_call_metadata(call) for call in message_parts.calls]}
        wires = tuple(call.wire for call in message_parts.calls)
        return [Part(CALL, "assistant", text, calls, wires), *results]
    role = "system" if spoken.speaker in SYSTEM_ROLES else SPEAKERS.get(spoken.speaker, "").lower()
    if text and role:
        results.append(Part(MESSAGE, role, text, {}, ()))
    return results


def _is_result(message: JsonObject, message_parts: MessageParts) -> bool:
    """Return true if a message is itself a result, so that it has no other content."""
    return any(result.wire is message for result in message_parts.results)


def _result_part(result: ToolResult) -> Part:
    metadata = result_metadata(result.call_id, result.name, is_error=result.is_error)
    return Part(RESULT, "tool", result_text(result.content), metadata, (result.wire,))


def result_metadata(call_id: str, name: str, *, is_error: bool) -> dict[str, Any]:
    return {"tool_call_id": call_id, "name": name, "is_error": is_error}


def _call_metadata(call: ToolCall) -> dict[str, Any]:
    """Return a call in the form of the metadata, its arguments as an object."""
    return {"id": call.call_id, "name": call.name, "arguments": loads_arguments(call.arguments)}
