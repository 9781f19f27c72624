"""The one way into the history: texts, messages and lines become drafts of commits, in full.

Invariant ``canonical_tool_result_is_lossless``: the content of a draft is the text, the message or the line that was
given, whatever its size. A change here is one of schema and types alone: ids, names, roles and flags of failure go into
the metadata, an SDK's object becomes JSON. Nothing in this module, and nothing that it imports, cuts, summarizes or
projects a text; a contract of import-linter proves that (``pyproject.toml``).

The other mode of normalisation is the projection, which may limit: ``toolcarry.project`` and ``Tract.compile`` with a
policy. It reads the history and never writes to it.

A result that was cut before it came here is stored as it is, and flagged. See ``truncation`` and ``guard``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolcarry import _backend
from toolcarry._input.objects import MAX_DEPTH, as_list, is_too_deep
from toolcarry._pure.formats import UNKNOWN
from toolcarry._pure.history.session_lines import LinePart, result_metadata
from toolcarry.errors import InputError
from toolcarry.importers.parts import read_parts
from toolcarry.tract.commit_codec import decode_text, dump_message, encode_text, stored_parts
from toolcarry.tract.store.log import Draft
from toolcarry.tract.store.rows import content_hash
from toolcarry.tract.store.types import Kind
from toolcarry.tract.truncation import find_mark, find_member, has_preview, is_preview

__all__ = [
    "FLAG",
    "Names",
    "check_readable",
    "counted",
    "flag_if",
    "is_cut_wire",
    "line_drafts",
    "message_drafts",
    "object_drafts",
    "record_draft",
    "refuse_previews",
    "result_draft",
    "said_draft",
]

FLAG: Final = "legacy_truncated"
"""The metadata of a result that was cut before it was written."""
ENCODING: Final = "o200k_base"
"""The encoding in which the tokens of a commit are counted."""
SOURCE: Final = {"source": True}
"""The metadata of the draft that represents bytes of a file."""
WRITTEN_SOURCE: Final = b'"source":true,'
CACHE_MARK: Final = b'"cache_control"'


def count(text: str) -> int:
    return _backend.kernels.count_tokens(text, ENCODING)


def flag_if(metadata: dict[str, Any], is_cut: bool) -> None:
    """Flag the metadata of a result that was cut."""
    if is_cut:
        metadata[FLAG] = True


def refuse_previews(
    message: Mapping[str, Any], drafts: Iterable[Draft], position: int | None
) -> None:
    """Raise ``InputError`` for a message that says that it is a preview, or has a result that is one.

    A preview is for a stream or a screen; the text itself must be written.
    """
    parts = as_list(message.get("content")) or ()
    if any(map(has_preview, (message, *parts))) or any(
        is_preview(text) for text in cut_texts(drafts)
    ):
        where = "content" if position is None else f"message {position}"
        raise InputError(f"{where}: a preview can't be written to the history", position)


def cut_texts(drafts: Iterable[Draft]) -> Iterator[str]:
    """Yield the texts of the results that were cut."""
    for draft in drafts:
        if FLAG not in draft.metadata:
            continue
        is_text = "record" not in draft.metadata
        parts = None if is_text else stored_parts(draft.content)
        yield decode_text(draft.content) if parts is None else parts[draft.metadata["record"]].text


def said_draft(
    role: str, text: str, free: Mapping[str, Any], calls: Sequence[Mapping[str, Any]] = ()
) -> Draft:
    """Return the draft for a text of the user, the system or the model, with the model's calls."""
    metadata = {**free, "tool_calls": calls} if calls else dict(free)
    kind = Kind.CALL if calls else Kind.MESSAGE
    return Draft(role, kind, encode_text(text), metadata, count(text))


def record_draft(content: bytes, **more: bool) -> Draft:
    """Return the draft for bytes that are not a message by themselves."""
    return Draft("record", Kind.RECORD, content, {"record": 0, **more}, 0)


def check_readable(message: Mapping[str, Any], position: int) -> None:
    """Raise ``InputError`` for a message that could never be read back."""
    if is_too_deep(message):
        raise InputError(f"message {position} is nested deeper than {MAX_DEPTH}", position)


class Names:
    """The tool names by call id, since most results don't contain them.

    The names in the history are loaded only if a result needs one; usually its call was noted before.
    """

    def __init__(self, load: Callable[[], Mapping[str, str]]) -> None:
        self._load = load
        self._noted: dict[str, str] = {}
        self._known: Mapping[str, str] | None = None

    def note(self, names: Iterable[tuple[str, str]]) -> None:
        """Note the ids and the names of calls."""
        self._noted.update(names)

    def find(self, call_id: str) -> str:
        """Return the tool name of the latest call with this id; ``unknown`` if no call has it."""
        if call_id in self._noted:
            return self._noted[call_id]
        if self._known is None:
            self._known = self._load()
        return self._known.get(call_id, UNKNOWN)


class Uncounted(NamedTuple):
    """A draft with its text, whose tokens are not counted yet."""

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
    """Return the drafts of a message whose bytes are ``content``, and note the names of its calls.

    ``is_source``: the first draft represents these bytes of a file. ``is_inside``: another commit already holds them.
    """
    found: list[Uncounted] = []
    for index, (kind, role, text, own, wires) in enumerate(read_parts(record)):
        metadata = {**own, "record": index}
        names.note((call["id"], call["name"]) for call in metadata.get("tool_calls", ()))
        if kind == Kind.RESULT:
            metadata["name"] = metadata["name"] or names.find(metadata["tool_call_id"])
            flag_if(metadata, find_mark(text) is not None or any(map(is_cut_wire, wires)))
        if is_source and index == 0:
            metadata["source"] = True
        if is_inside:
            metadata["inside"] = True
        found.append(Uncounted(Draft(role, Kind(kind), content, metadata, 0), text))
    return found


def line_drafts(lines: Sequence[bytes], names: Names) -> list[list[Draft] | None]:
    """Return the drafts of each line of a file; ``None`` for a line that is not a JSON object."""
    try:
        found = _backend.kernels.read_lines(list(lines))
    except ValueError as error:
        raise InputError(f"metadata: {error}", None) from None
    return [
        None if parts is None else [line_draft(line, index, part, names) for index, part in enumerate(parts)]
        for line, parts in zip(lines, found, strict=True)
    ]  # fmt: skip


def line_draft(line: bytes, index: int, part: LinePart, names: Names) -> Draft:
    """Return the draft for a part of a line. The first part represents the whole line."""
    role, tokens = part.role, part.token_count
    source = {} if index else SOURCE
    if part.calls is not None:
        names.note(part.names)
        start = b"" if index else WRITTEN_SOURCE
        written = b'{"record":%d,%b"tool_calls":%b}' % (index, start, part.calls)
        return Draft(role, Kind.CALL, line, {}, tokens, written)
    if part.result is None:
        return Draft(role, Kind.MESSAGE, line, {"record": index, **source}, tokens)
    call_id, name, is_error = part.result
    own = result_metadata(call_id, name or names.find(call_id), is_error=is_error)
    metadata = {**own, "record": index, **source}
    is_marked = part.suspect is not None and find_mark(part.suspect) is not None
    flag_if(metadata, is_marked or (has_member(line) and is_cut_part(line, index)))
    return Draft(role, Kind.RESULT, line, metadata, tokens)


def has_member(line: bytes) -> bool:
    """Return true if a line may have a member that says that a result was cut."""
    return b"runcated" in line or b'"preview"' in line


def is_cut_part(line: bytes, index: int) -> bool:
    """Return true if a member of a result in a line says that it was cut."""
    parts = stored_parts(line)
    return parts is not None and index < len(parts) and any(map(is_cut_wire, parts[index].wires))


def is_cut_wire(wire: Mapping[str, Any]) -> bool:
    """Return true if a member of a result, or of a part of its content, says that it was cut."""
    held = (wire, *(as_list(wire.get("content")) or ()))
    return any(find_member(each) is not None or has_preview(each) for each in held)


def counted(found: Sequence[Uncounted]) -> list[Draft]:
    """Return the drafts with their token counts; all texts are counted in one call."""
    counts = _backend.kernels.count_texts([text for _, text in found], ENCODING)
    pairs = zip(found, counts, strict=True)
    return [draft._replace(token_count=count) for (draft, _), count in pairs]


def result_draft(
    call_id: str, name: str, text: str, *, is_error: bool, free: Mapping[str, Any]
) -> Draft:
    """Return the draft for a tool result that is a text, with the caller's metadata ``free``."""
    metadata = {**free, **result_metadata(call_id, name, is_error=is_error)}
    flag_if(metadata, find_mark(text) is not None)
    return Draft("tool", Kind.RESULT, encode_text(text), metadata, count(text))


def object_drafts(
    message: Mapping[str, Any], names: Names, written: bytes | None = None
) -> list[Draft]:
    """Return the drafts of a message object. The content is its text alone, if the message has nothing else.

    ``written`` are the bytes that the message was read from; on one line, they are the content.
    Clients move their cache marks with each request. So the metadata has ``unmarked``, the hash of the message without
    these marks, by which it is recognised.
    """
    role, text = message.get("role"), message.get("content")
    if isinstance(text, str) and set(message) <= PLAIN.get(str(role), frozenset()):
        if role != "tool":
            return [Draft(str(role), Kind.MESSAGE, encode_text(text), {}, count(text))]
        call_id, name = message.get("tool_call_id"), message.get("name")
        if isinstance(call_id, str) and (name is None or isinstance(name, str)):
            found = name or names.find(call_id)
            return [result_draft(call_id, found, text, is_error=False, free={})]
    is_line = written is not None and b"\n" not in written and b"\r" not in written
    content = written if written is not None and is_line else dump_message(message)
    drafts = counted(message_drafts(message, content, names))
    drafts = drafts or [record_draft(content)]
    if CACHE_MARK not in content or (bare := dump_message(unmarked(message))) == content:
        return drafts
    known = {"unmarked": content_hash(bare).hex()}
    return [draft._replace(metadata={**draft.metadata, **known}) for draft in drafts]


def unmarked(wire: Mapping[str, Any], depth: int = 2) -> dict[str, Any]:
    """Return a message without cache marks, in its parts and their parts too. Arguments of calls stay unchanged.

    >>> unmarked({"role": "user", "content": [{"type": "text", "text": "Go.", "cache_control": {"type": "ephemeral"}}]})
    {'role': 'user', 'content': [{'type': 'text', 'text': 'Go.'}]}
    """
    new = {key: value for key, value in wire.items() if key != "cache_control"}
    parts = new.get("content")
    if depth and isinstance(parts, list):
        new["content"] = [
            unmarked(part, depth - 1) if isinstance(part, dict) else part for part in parts
        ]
    return new


PLAIN: Final = {
    "user": frozenset(("role", "content")),
    "system": frozenset(("role", "content")),
    "assistant": frozenset(("role", "content")),
    "tool": frozenset(("role", "content", "tool_call_id", "name")),
}
"""The keys of messages that have only a text, by role."""
