"""A message of any shape as commits: what was said, with its calls, and each result by itself.

What a commit's content is, its metadata says: with ``record`` it is a message, or a line of a file, as it stood, and the
number tells which part of it the commit is; without, it is the text itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolcarry._pure.content import result_text
from toolcarry._pure.dialogue import spoken_text
from toolcarry._pure.read import SPEAKERS, UNKNOWN, read_message, read_spoken
from toolcarry._pure.said import Said, ToolCall, ToolResult
from toolcarry.decode import loads, loads_arguments
from toolcarry.errors import InputError
from toolcarry.tokens import count_texts, count_tokens
from toolcarry.tract.marks import flag_truncated
from toolcarry.tract.store.log import Draft
from toolcarry.tract.values import CommitInfo, Kind
from toolcarry.wire import Wire, as_object

__all__ = [
    "Names",
    "Part",
    "Uncounted",
    "arguments_json",
    "counted",
    "decode_text",
    "dump_message",
    "encode_text",
    "message_drafts",
    "object_drafts",
    "part_text",
    "read_parts",
    "result_draft",
]

SYSTEMS: Final = ("system", "developer")

encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Part(NamedTuple):
    """What one commit has of a message."""

    kind: Kind
    role: str
    text: str
    metadata: dict[str, Any]
    wires: tuple[Wire, ...]
    """The calls of what the model said, or the result: the message's own objects."""


def encode_text(text: str) -> bytes:
    """A text as the history keeps it: UTF-8, in which a lone surrogate stays what it is."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def part_text(commit: CommitInfo, content: bytes) -> str:
    """The text of a commit, of its content. A line of a file that is no message is shown as it stands."""
    index = commit.metadata.get("record")
    if index is None:
        return decode_text(content)
    if commit.kind is Kind.RECORD:
        return content.decode("utf-8", "replace")
    return read_parts(loads(content))[int(index)].text


def read_parts(record: Wire) -> list[Part]:
    """The parts of a message or a record: none where it says nothing that the history asks for."""
    message = record
    if record.get("role") is None and ("uuid" in record or "message" in record):
        message = as_object(record.get("message")) or record
    said = Said()
    read_message(message, message.get("role"), said)
    results = [result_part(result) for result in said.results]
    spoken = read_spoken(message)
    text = spoken_text(spoken.content) if not is_result(message, said) else ""
    if said.calls:
        calls = {"tool_calls": [call_metadata(call) for call in said.calls]}
        wires = tuple(call.wire for call in said.calls)
        return [Part(Kind.CALL, "assistant", text, calls, wires), *results]
    role = "system" if spoken.speaker in SYSTEMS else SPEAKERS.get(spoken.speaker, "").lower()
    if text and role:
        results.append(Part(Kind.MESSAGE, role, text, {}, ()))
    return results


def is_result(message: Wire, said: Said) -> bool:
    """Whether a message is a result itself, so that its content is no more than that."""
    return any(result.wire is message for result in said.results)


def result_part(result: ToolResult) -> Part:
    metadata = result_metadata(result.call_id, result.name, is_error=result.is_error)
    return Part(Kind.RESULT, "tool", result_text(result.content), metadata, (result.wire,))


def result_metadata(call_id: str, name: str, *, is_error: bool) -> dict[str, Any]:
    return {"tool_call_id": call_id, "name": name, "is_error": is_error}


def call_metadata(call: ToolCall) -> dict[str, Any]:
    """A call as the metadata has it, its arguments as an object."""
    return {"id": call.call_id, "name": call.name, "arguments": loads_arguments(call.arguments)}


def arguments_json(call: Mapping[str, Any]) -> str:
    """The arguments of a call in the metadata, as OpenAI's requests have them."""
    return encode(call["arguments"])


class Names:
    """The tool's name of each call, by its id, since most results don't say it.

    What the history knows is loaded when a result needs it: in a whole conversation the calls come before.
    """

    def __init__(self, load: Callable[[], Mapping[str, str]]) -> None:
        self._load = load
        self._noted: dict[str, str] = {}
        self._known: Mapping[str, str] | None = None

    def note(self, calls: Iterable[Mapping[str, Any]]) -> None:
        """Take in the calls that come by."""
        self._noted.update((call["id"], call["name"]) for call in calls)

    def find(self, call_id: str) -> str:
        """The name of the latest call with this id; ``unknown`` where there is none."""
        if call_id in self._noted:
            return self._noted[call_id]
        if self._known is None:
            self._known = self._load()
        return self._known.get(call_id, UNKNOWN)


class Uncounted(NamedTuple):
    """A commit to be, the tokens of whose text are not counted yet."""

    draft: Draft
    text: str


def message_drafts(
    record: Mapping[str, Any],
    content: bytes,
    names: Names,
    *,
    is_source: bool = False,
    is_inside: bool = False,
) -> list[Uncounted]:
    """The commits of a message, whose bytes are ``content``. Notes the names of its calls.

    ``is_source``: the first of them stands for these bytes of a file. ``is_inside``: they stand in what is kept elsewhere.
    """
    found: list[Uncounted] = []
    for index, (kind, role, text, own, _) in enumerate(read_parts(record)):
        metadata = {**own, "record": index}
        names.note(metadata.get("tool_calls", ()))
        if kind is Kind.RESULT:
            metadata["name"] = metadata["name"] or names.find(metadata["tool_call_id"])
            flag_truncated(metadata, text)
        if is_source and index == 0:
            metadata["source"] = True
        if is_inside:
            metadata["inside"] = True
        found.append(Uncounted(Draft(role, kind, content, metadata, 0), text))
    return found


def counted(found: Sequence[Uncounted]) -> list[Draft]:
    """The commits with the tokens of their texts, all of which are counted at once."""
    counts = count_texts([text for _, text in found])
    pairs = zip(found, counts, strict=True)
    return [Draft(*draft[:4], count) for (draft, _), count in pairs]


def result_draft(
    call_id: str, name: str, text: str, *, is_error: bool, free: Mapping[str, Any]
) -> Draft:
    """The commit of a tool result that is a text, with what the caller notes beside it."""
    metadata = {**free, **result_metadata(call_id, name, is_error=is_error)}
    flag_truncated(metadata, text)
    return Draft("tool", Kind.RESULT, encode_text(text), metadata, count_tokens(text))


def object_drafts(message: Mapping[str, Any], names: Names) -> list[Draft]:
    """The commits of a message that a program holds: its text alone, where that is all it says."""
    role, text = message.get("role"), message.get("content")
    if isinstance(text, str) and set(message) <= PLAIN.get(str(role), frozenset()):
        if role != "tool":
            return [Draft(str(role), Kind.MESSAGE, encode_text(text), {}, count_tokens(text))]
        call_id, name = message.get("tool_call_id"), message.get("name")
        if isinstance(call_id, str) and (name is None or isinstance(name, str)):
            found = name or names.find(call_id)
            return [result_draft(call_id, found, text, is_error=False, free={})]
    content = dump_message(message)
    drafts = counted(message_drafts(message, content, names))
    return drafts or [Draft("record", Kind.RECORD, content, {"record": 0}, 0)]


def dump_message(message: Mapping[str, Any]) -> bytes:
    """A message as JSON on one line, in UTF-8; a lone surrogate makes it ASCII, in which it can be written."""
    try:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"a message is no JSON: {error}", None) from None


PLAIN: Final = {
    "user": frozenset(("role", "content")),
    "system": frozenset(("role", "content")),
    "assistant": frozenset(("role", "content")),
    "tool": frozenset(("role", "content", "tool_call_id", "name")),
}
"""The members of messages that are no more than their text."""
