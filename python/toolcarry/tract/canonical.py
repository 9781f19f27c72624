"""The only way into the history: strings, messages and lines become drafts of commits, in full.

Invariant ``canonical_tool_result_is_lossless``: the content of a draft is the text, the message or the line that was
given, whatever its size. A change here is one of schema and types alone: ids, names, roles and flags of failure go into
the metadata, an SDK's object becomes JSON. Nothing in this module, and nothing that it imports, cuts, summarizes or
projects a text; a contract of import-linter proves that (``pyproject.toml``).

The other mode of normalisation is the projection, which may limit: ``toolcarry.project`` and ``Tract.compile`` with a
policy. It reads the history and never writes to it.

A result that was already cut when it arrived is stored as it is, and flagged. See ``truncation`` and ``guard``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from toolcarry import _backend
from toolcarry._input.json import dump_canonical
from toolcarry._input.objects import MAX_DEPTH, as_list, is_too_deep
from toolcarry.errors import InputError
from toolcarry.model.formats import UNKNOWN
from toolcarry.model.session_lines import LinePart, Part, result_metadata
from toolcarry.tract.commit_codec import decode_text, dump_message, encode_text, stored_parts
from toolcarry.tract.store.hashing import Draft, content_hash
from toolcarry.tract.store.types import Kind
from toolcarry.tract.truncation import find_mark, find_member, has_preview, is_preview

__all__ = [
    "FLAG",
    "Names",
    "NewMessage",
    "by_id",
    "check_readable",
    "is_cut_wire",
    "line_drafts",
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
"""The metadata of a draft that represents bytes of a file."""
CACHE_MARK: Final = b'"cache_control"'


def count(text: str) -> int:
    return _backend.kernels.count_tokens(text, ENCODING)


def refuse_previews(
    message: Mapping[str, Any], drafts: Iterable[Draft], position: int | None
) -> None:
    """Raise ``InputError`` for a message that says that it is a preview, or has a result that is one.

    A preview is for a stream or a screen; the text itself must be written.
    """
    parts = as_list(message.get("content")) or ()
    if any(map(has_preview, (message, *parts))) or any(map(is_preview, cut_texts(drafts))):
        where = "content" if position is None else f"message {position}"
        raise InputError(f"{where}: a preview can't be written to the history", position)


def cut_texts(drafts: Iterable[Draft]) -> Iterator[str]:
    """Yield the texts of the results that were cut."""
    line, parts = b"", list[Part]()
    for draft in drafts:
        if FLAG not in draft.metadata:
            continue
        if "record" in draft.metadata and draft.content is not line:
            line, parts = draft.content, stored_parts(draft.content) or []
        is_part = "record" in draft.metadata and parts
        yield parts[draft.metadata["record"]].text if is_part else decode_text(draft.content)


def said_draft(
    role: str, text: str, free: Mapping[str, Any], calls: Sequence[Mapping[str, Any]] = ()
) -> Draft:
    """Return the draft for text of the user, the system or the model, with the model's calls."""
    metadata = {**free, "tool_calls": calls} if calls else dict(free)
    kind = Kind.CALL if calls else Kind.MESSAGE
    return Draft(role, kind, encode_text(text), metadata, count(text))


def record_draft(content: bytes, **more: Any) -> Draft:
    """Return the draft for bytes that are not a message by themselves."""
    return Draft("record", Kind.RECORD, content, {"record": 0, **more}, 0)


def check_readable(message: Mapping[str, Any], position: int) -> None:
    """Raise ``InputError`` for a message that could never be read back."""
    if is_too_deep(message):
        raise InputError(f"message {position} is nested deeper than {MAX_DEPTH}", position)


def by_id(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the names of calls by their ids. A result without an id may be of any call of a message without one."""
    given = list(names)
    is_open = len({name for call_id, name in given if not call_id}) > 1
    return dict(given) | ({"": UNKNOWN} if is_open else {})


class Names:
    """The tool names by call id, since most results don't contain them.

    The names in the history are loaded only if a result needs one; usually its call was noted before. ``load`` yields
    those of the newest calls, then all.
    """

    def __init__(self, load: Callable[[], Iterator[Mapping[str, str]]]) -> None:
        self._load = load
        self._noted: dict[str, str] = {}
        self._known: Mapping[str, str] = {}
        self._older: Iterator[Mapping[str, str]] | None = None

    def note(self, names: Iterable[tuple[str, str]]) -> None:
        """Note the ids and the names of the calls of a message."""
        self._noted.update(by_id(names))

    def find(self, call_id: str) -> str:
        """Return the tool name of the latest call with this id; ``unknown`` if no call has it."""
        if call_id in self._noted:
            return self._noted[call_id]
        if call_id not in self._known:
            self._read_to(call_id)
        return self._known.get(call_id, UNKNOWN)

    def _read_to(self, call_id: str) -> None:
        """Load names until they have this id, or all. After an error they are loaded again."""
        older, self._older = self._older or self._load(), None
        for self._known in older:
            if call_id in self._known:
                break
        self._older = older


def line_drafts(
    lines: Sequence[bytes],
    names: Names,
    more: Sequence[Mapping[str, Any]] = (),
    *,
    is_source: bool = False,
) -> Iterator[list[Draft] | None]:
    """Yield the drafts of each line; ``None`` for a line that is not a JSON object.

    ``more`` has further metadata for the drafts of each line. ``is_source``: the first draft of a line represents its
    bytes in a file.
    """
    try:
        found = _backend.kernels.read_lines(list(lines))
    except ValueError as error:
        raise InputError(f"metadata: {error}", None) from None
    for line, parts, own in zip(lines, found, more or [{}] * len(lines), strict=True):
        cut = cut_parts(line) if parts is not None and has_member(line) else frozenset[int]()
        yield None if parts is None else [
            line_draft(
                line, index, part, names, own if index or not is_source else {**own, **SOURCE},
                is_cut=index in cut,
            )
            for index, part in enumerate(parts)
        ]  # fmt: skip


def line_draft(
    line: bytes,
    index: int,
    part: LinePart,
    names: Names,
    more: Mapping[str, Any],
    *,
    is_cut: bool,
) -> Draft:
    """Return the draft for a part of a line, and note the names of its calls."""
    role, tokens = part.role, part.token_count
    metadata = {"record": index, **more}
    if part.calls is not None:
        names.note(part.names)
        return Draft(role, Kind.CALL, line, metadata, tokens, with_calls(metadata, part.calls))
    if part.result is None:
        return Draft(role, Kind.MESSAGE, line, metadata, tokens)
    call_id, name, is_error = part.result
    metadata |= result_metadata(call_id, name or names.find(call_id), is_error=is_error)
    is_marked = part.suspect is not None and find_mark(part.suspect) is not None
    if is_marked or is_cut:
        metadata[FLAG] = True
    return Draft(role, Kind.RESULT, line, metadata, tokens)


def with_calls(metadata: Mapping[str, Any], calls: bytes) -> bytes:
    """Return metadata with calls, which are canonical bytes already, as canonical bytes.

    >>> with_calls({"record": 0, "unmarked": "0f"}, b"[]")
    b'{"record":0,"tool_calls":[],"unmarked":"0f"}'
    """
    written = {name: dump_canonical({name: value})[1:-1] for name, value in metadata.items()}
    written["tool_calls"] = b'"tool_calls":' + calls
    return b"{" + b",".join([written[name] for name in sorted(written)]) + b"}"


def has_member(line: bytes) -> bool:
    """Return true if a line may have a member that says that a result was cut."""
    return b"runcated" in line or b'"preview"' in line


def cut_parts(line: bytes) -> frozenset[int]:
    """Return the indexes of the results in a line of which a member says that they were cut."""
    parts = stored_parts(line) or ()
    return frozenset(at for at, part in enumerate(parts) if any(map(is_cut_wire, part.wires)))


def is_cut_wire(wire: Mapping[str, Any]) -> bool:
    """Return true if a member of a result, or of a part of its content, says that it was cut."""
    held = (wire, *(as_list(wire.get("content")) or ()))
    return any(find_member(each) is not None or has_preview(each) for each in held)


def result_draft(
    call_id: str,
    name: str,
    text: str,
    *,
    is_error: bool,
    free: Mapping[str, Any],
    tokens: int | None = None,
) -> Draft:
    """Return the draft for a tool result that is a string, with the caller's metadata ``free``; counts its ``tokens``
    if they are not known."""
    metadata = {**free, **result_metadata(call_id, name, is_error=is_error)}
    if find_mark(text) is not None:
        metadata[FLAG] = True
    tokens = count(text) if tokens is None else tokens
    return Draft("tool", Kind.RESULT, encode_text(text), metadata, tokens)


class NewMessage(NamedTuple):
    """A message to write; ``written`` are the bytes that it was read from, ``more`` is further metadata."""

    message: Mapping[str, Any]
    written: bytes | None = None
    more: Mapping[str, Any] = MappingProxyType({})


def object_drafts(given: Sequence[NewMessage], names: Names) -> Iterator[list[Draft]]:
    """Yield the drafts of each message. All are read at once. If a message has only text, the content is that text.

    Otherwise the content is the message on one line: as it was written, if that is one line. Raises ``InputError`` for
    a message that is not JSON.
    Clients move their cache marks with each request. So the metadata has ``unmarked``, the hash of the message without
    these marks, by which it is recognised.
    """
    lines = [None if is_plain(new.message) else as_line(new, at) for at, new in enumerate(given)]
    texts = [new.message["content"] for new, line in zip(given, lines, strict=True) if line is None]
    counts = iter(_backend.kernels.count_texts(texts, ENCODING))
    more = [
        {**new.more, **unmarked_hash(new.message, line)}
        for new, line in zip(given, lines, strict=True)
        if line is not None
    ]
    read = line_drafts([line for line in lines if line is not None], names, more)
    for new, line in zip(given, lines, strict=True):
        if line is None:
            yield [plain_draft(new, names, next(counts))]
        else:
            drafts = next(read)
            yield drafts or [record_draft(line, **new.more)]


def is_plain(message: Mapping[str, Any]) -> bool:
    """Return true if a message has only a text, its role, and for a result the id of its call and its tool."""
    role, name = message.get("role"), message.get("name")
    allowed = PLAIN.get(str(role), NONE)
    if not isinstance(message.get("content"), str) or not set(message) <= allowed:
        return False
    is_named = name is None or isinstance(name, str)
    return role != "tool" or (is_named and isinstance(message.get("tool_call_id"), str))


def as_line(new: NewMessage, position: int) -> bytes:
    """Return a message on one line. Raises ``InputError`` if it is not JSON."""
    written = new.written
    if written is not None and b"\n" not in written and b"\r" not in written:
        return written
    try:
        return dump_message(new.message)
    except InputError as error:
        raise InputError(f"message {position}: {error}", position) from None


def unmarked_hash(message: Mapping[str, Any], line: bytes) -> dict[str, str]:
    """Return the metadata by which a message with cache marks is recognised; empty for a message without any."""
    if CACHE_MARK not in line or (bare := dump_message(unmarked(message))) == line:
        return {}
    return {"unmarked": content_hash(bare).hex()}


def plain_draft(new: NewMessage, names: Names, tokens: int) -> Draft:
    """Return the draft for a message that has only text."""
    message = new.message
    role, text = message["role"], message["content"]
    if role != "tool":
        return Draft(role, Kind.MESSAGE, encode_text(text), dict(new.more), tokens)
    call_id = message["tool_call_id"]
    name = message.get("name") or names.find(call_id)
    return result_draft(call_id, name, text, is_error=False, free=new.more, tokens=tokens)


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


NONE: Final = frozenset[str]()
PLAIN: Final = {
    "user": frozenset(("role", "content")),
    "system": frozenset(("role", "content")),
    "assistant": frozenset(("role", "content")),
    "tool": frozenset(("role", "content", "tool_call_id", "name")),
}
"""The keys of messages that have only text, by role."""
