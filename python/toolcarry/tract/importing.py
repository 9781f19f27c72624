"""Append messages that a client sends, and import session files line by line.

Messages and lines that the history already has are skipped. Each line of a file is stored unchanged, and is the content
of the commits that are read from it. Imported bytes are recognized by their hashes: the import of a file that has grown
continues, and a file that has changed is refused. The last line may be incomplete while the file is still being
written; its rest is stored as a separate commit.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from toolcarry import _backend
from toolcarry._input.archive import read_file
from toolcarry._input.document import loads_line, messages_of, open_body
from toolcarry._input.objects import plain_messages
from toolcarry.errors import InputError
from toolcarry.tract.canonical import (
    Names,
    NewMessage,
    by_id,
    check_readable,
    line_drafts,
    object_drafts,
    record_draft,
    refuse_previews,
)
from toolcarry.tract.guard import Guard, is_flagged
from toolcarry.tract.store.hashing import Draft, Head, content_hash
from toolcarry.tract.store.log import ATTEMPTS, FIRST_PAGE, Log, Prepared, busy, prepare
from toolcarry.tract.store.types import CommitInfo, ImportResult, Kind
from toolcarry.tract.view import CALLS, RECORDS, SAID
from toolcarry.types.unread import NOTHING, Unread
from toolcarry.types.values import checked_path

__all__ = ["Progress", "append_messages", "import_file", "read_transcript"]


class Appended(NamedTuple):
    """The commits that were appended, and the number of messages that the history already had."""

    commits: list[CommitInfo]
    skipped: int


def append_messages(
    log: Log, messages: Sequence[Mapping[str, Any]], guard: Guard, *, is_inside: bool = False
) -> Appended:
    """Append the messages, and skip the first ones if the history already ends with them.

    So callers may pass the whole conversation each time, as clients send it, or only the new messages, and may repeat
    either. ``is_inside``: the messages are part of a document that is stored as a whole, and may hold previews.
    """
    inside = {"inside": True} if is_inside else {}
    given = [NewMessage(message, more=inside) for message in plain_messages(messages)]
    skipped = 0

    def make(_: Head) -> Sequence[Draft]:
        nonlocal skipped
        names = Names(lambda: known_names(log))
        found = drafts_of(given, names, is_inside=is_inside)
        drafts = [draft for each in found for draft in each]
        known = overlap(log, drafts)
        ends = itertools.accumulate(len(each) for each in found)
        skipped = sum(end <= known for end in ends)
        guard.check(drafts[known:])
        return drafts[known:]

    commits = log.append_to(make)
    guard.tell(commits)
    return Appended(commits, skipped)


def drafts_of(
    given: Sequence[NewMessage], names: Names, *, is_inside: bool = False
) -> list[list[Draft]]:
    """Return the drafts of messages. Raises ``InputError`` for one that could not be read back, and, unless
    ``is_inside``, for a preview."""
    for position, new in enumerate(given):
        check_readable(new.message, position)
    found = list(object_drafts(given, names))
    if not is_inside:
        for position, (new, drafts) in enumerate(zip(given, found, strict=True)):
            refuse_previews(new.message, drafts, position)
    return found


def overlap(log: Log, drafts: Sequence[Draft]) -> int:
    """Return the largest number of first drafts that equals the end of the log. Takes time linear in both."""
    wanted = [
        known_by(draft.role, content_hash(draft.content).hex(), draft.metadata) for draft in drafts
    ]
    known = set(wanted)
    tail: list[tuple[object, ...]] = []
    for commit in log.newest(None):
        if len(tail) == len(wanted):
            break
        if commit.kind < Kind.EDIT and "document" not in commit.metadata:
            key = known_by(commit.role, commit.content_hash, commit.metadata)
            if key not in known:  # nothing before it can be part of an overlap
                break
            tail.append(key)
    tail.reverse()
    # Knuth-Morris-Pratt: the border of each prefix of the drafts, then the longest prefix that ends at each commit.
    borders = [0] * len(wanted)
    for place in range(1, len(wanted)):
        borders[place] = extend_border(wanted, borders, borders[place - 1], wanted[place])
    length = 0
    for key in tail:
        length = extend_border(wanted, borders, length, key)
    return length


def extend_border(
    wanted: Sequence[object], borders: Sequence[int], length: int, key: object
) -> int:
    """Return the length of the longest prefix of ``wanted`` that ends with ``key``, after a prefix of ``length``."""
    if length == len(wanted):
        length = borders[length - 1] if length else 0
    while length > 0 and wanted[length] != key:
        length = borders[length - 1]
    return length + 1 if length < len(wanted) and wanted[length] == key else length


def known_by(role: str, found: str, metadata: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the key by which equal messages are recognised.

    It ignores cache marks, and the tool's name, which some clients leave out of results.
    """
    return (
        role,
        metadata.get("unmarked", found),
        metadata.get("tool_call_id"),
        metadata.get("is_error"),
        metadata.get("record"),
    )


def known_names(log: Log) -> Iterator[dict[str, str]]:
    """Yield the tool names by call id, first those of the history's newest calls, since most results follow
    their call, then those of all calls. If ids repeat, the latest call counts."""
    yield names_of_calls(reversed(list(log.newest(FIRST_PAGE))))
    yield names_of_calls(log.commits(CALLS))


def names_of_calls(commits: Iterable[CommitInfo]) -> dict[str, str]:
    found = (commit for commit in commits if commit.kind in CALLS)
    names: dict[str, str] = {}
    for commit in found:
        names |= by_id((call["id"], call["name"]) for call in commit.metadata["tool_calls"])
    return names


Progress = Callable[[int, int], object]
"""A function of the number of imported lines and the number of all lines."""

BATCH: Final = 500
"""Lines in one transaction."""


class MovedError(Exception):
    """Another writer appended to the conversation."""


class ImportState(NamedTuple):
    """The part of a file that the history already has."""

    head: Head
    """The head of the conversation at that time."""
    end: int
    """The number of imported bytes."""
    names: Names


def import_file(
    log: Log, path: str | os.PathLike[str], progress: Progress | None, guard: Guard
) -> ImportResult:
    """Import a session file, or a document that holds a conversation, and skip what the history already has."""
    data, messages = read_transcript(path)
    if messages is not None:
        return import_document(log, data, messages, guard)
    total = data.count(b"\n") + (not data.endswith(b"\n"))
    taken = find_state(log, data, path)
    done = skipped = lines_to(data, taken.end)
    commits = unread = truncated = moved = 0
    with ReadAhead(data, log.tenant, guard) as reading:
        while taken.end < len(data):
            batch = reading.take(taken)
            try:
                head = append_at(log, taken.head, batch.prepared)
            except MovedError:
                moved += 1
                if moved == ATTEMPTS:
                    raise busy(log.database.name, ATTEMPTS) from None
                reading.drop()
                taken = find_state(log, data, path)
                done = lines_to(data, taken.end)
                continue
            moved = 0
            done += batch.lines
            taken = ImportState(head, batch.end, taken.names)
            commits += len(batch.prepared.parts)
            unread += batch.unread
            truncated += guard.tell(batch.flagged)
            if progress is not None:
                progress(total if batch.end == len(data) else done, total)
    return ImportResult(total, skipped, commits, unread, truncated, unread_messages(data))


def read_transcript(path: str | os.PathLike[str]) -> tuple[bytes, Sequence[Any] | None]:
    """Return the bytes of a file, and its messages if it is a document. Raises ``InputError`` if it is not a
    conversation, and ``ConfigError`` for a path that is not allowed."""
    name = checked_path("path", path)
    data = read_file(Path(name))
    if not data or data.isspace():
        raise InputError(f"{name}: is empty")
    if is_session(data):
        return data, None
    opened = open_body(data)
    return data, opened.messages if opened.lines is None else None


class Batch(NamedTuple):
    """The next lines of a file as commits that are ready to be written."""

    end: int
    """The number of bytes up to the end of these lines."""
    lines: int
    prepared: Prepared
    unread: int
    """The number of lines that are not JSON objects."""
    flagged: list[Draft]
    """The results that were cut before."""


class ReadAhead:
    """A context manager that reads the next lines of a file while the current batch is written.

    Reading takes place in a separate thread. A file of a single batch needs no thread.
    """

    def __init__(self, data: bytes, tenant: str, guard: Guard) -> None:
        self._data = data
        self._tenant = tenant
        self._guard = guard
        self._pool = ThreadPoolExecutor(1, "toolcarry-import")
        self._next: Future[Batch] | None = None

    def take(self, taken: ImportState) -> Batch:
        """Return the batch that begins where ``taken`` ends. Raises the errors of reading it."""
        coming, self._next = self._next, None
        batch = coming.result() if coming is not None else self._read(taken)
        if batch.end < len(self._data):
            after = taken._replace(end=batch.end)
            self._next = self._pool.submit(self._read, after)
        return batch

    def drop(self) -> None:
        """Discard the batch that was read ahead."""
        if self._next is not None:
            wait([self._next])
            self._next = None

    def _read(self, taken: ImportState) -> Batch:
        lines = read_batch(self._data, taken)
        self._guard.check(lines.drafts)
        prepared = prepare(lines.drafts, self._tenant)
        flagged = list(filter(is_flagged, lines.drafts))
        return Batch(lines.end, lines.lines, prepared, lines.unread, flagged)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()


def is_session(data: bytes) -> bool:
    """True if the first line by itself is a message or a record, so that the file certainly consists of lines."""
    record = loads_line(data[: data.find(b"\n") + 1 or len(data)])
    return record is not None and messages_of(record) is None


class NextLines(NamedTuple):
    """The next lines of a file as drafts of commits."""

    end: int
    lines: int
    drafts: list[Draft]
    unread: int


def read_batch(data: bytes, taken: ImportState) -> NextLines:
    """Read the next lines as drafts. If the last import ended within a line, the rest of that line comes first."""
    end, unread = taken.end, 0
    drafts: list[Draft] = []
    is_torn = data.rfind(b"\n", 0, end) + 1 < end
    if is_torn:
        end, drafts = finish_line(data, taken)
    lines: list[bytes] = []
    while end < len(data) and len(lines) < BATCH:
        start, end = end, data.find(b"\n", end) + 1 or len(data)
        lines.append(data[start:end])
    for line, found in zip(lines, line_drafts(lines, taken.names, is_source=True), strict=True):
        unread += found is None and not line.isspace()
        drafts += found or [record_draft(line, source=True)]
    return NextLines(end, len(lines) + is_torn, drafts, unread)


def finish_line(data: bytes, taken: ImportState) -> tuple[int, list[Draft]]:
    """Return the drafts for the rest of a line whose first bytes are imported, and the offset of the line's end.

    The first draft is the rest, unchanged. The messages of the whole line follow, if it could not be read before.
    """
    first = data.rfind(b"\n", 0, taken.end) + 1
    end = data.find(b"\n", taken.end) + 1 or len(data)
    rest = record_draft(data[taken.end : end], source=True, inside=True)
    line = data[first:end]
    is_read = loads_line(data[first : taken.end]) is not None  # only the line break was missing
    inside = {"inside": True}
    (said,) = [None] if is_read else line_drafts([line], taken.names, [inside])
    if said is None:
        return end, [rest]
    return end, [rest, *(said or [record_draft(line, **inside)])]


def append_at(log: Log, expected: Head, prepared: Prepared) -> Head:
    """Append to the expected head and return the new one. Raises ``MovedError`` if the head is another one."""

    def make(head: Head) -> Prepared:
        if head != expected:
            raise MovedError
        return prepared

    return log.advance(make) or expected


def find_state(log: Log, data: bytes, path: str | os.PathLike[str]) -> ImportState:
    """Return the part of a file that the history already has. Raises ``InputError`` if that part has changed."""
    head, end = log.head(), 0
    for commit, size, _ in log.sized(SAID):
        if commit.metadata.get("source") is not True:
            continue
        if content_hash(data[end : end + size]).hex() != commit.content_hash:
            line = lines_to(data, end) + 1
            raise InputError(
                f"{os.fspath(path)}: line {line} is not what was imported into "
                f"{log.conversation!r}: import the file into a conversation of its own",
                line - 1,
            )
        end += size
    return ImportState(head, end, Names(lambda: known_names(log)))


def lines_to(data: bytes, end: int) -> int:
    """Return the number of complete lines before an offset."""
    return data.count(b"\n", 0, end) + (end == len(data) and not data.endswith(b"\n"))


def import_document(log: Log, data: bytes, messages: Sequence[Any], guard: Guard) -> ImportResult:
    """Import a request or a list of messages: first its messages, then the document, unchanged."""
    commits, skipped = append_messages(log, messages, guard, is_inside=True)
    found = content_hash(data).hex()

    def make(_: Head) -> Sequence[Draft]:
        if any(commit.content_hash == found for commit in log.commits(RECORDS)):
            return ()
        return [record_draft(data, source=True, document=True)]

    added = len(commits) + len(log.append_to(make))
    truncated = sum(map(is_flagged, commits))
    return ImportResult(len(messages), skipped, added, 0, truncated, unread_messages(data))


def unread_messages(data: bytes) -> Unread:
    """Report the messages and records of a file whose structure no format knows."""
    try:
        return _backend.kernels.unread(data)
    except InputError:  # lines that are requests of their own: they are stored, and not read
        return NOTHING
