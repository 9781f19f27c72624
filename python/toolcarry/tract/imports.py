"""Session files, taken in line by line.

Each line is kept as it stands, and read into the commits that it holds. What of a file was taken in before is known by
its bytes: a file that has grown is gone on with, and one that has changed is refused. The last line may be torn where
the file is still written to; what comes to it later is kept beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolcarry.body import loads_line, messages_of, open_body
from toolcarry.errors import InputError
from toolcarry.tract.marks import count_truncated
from toolcarry.tract.messages import Check, append_messages, known_names
from toolcarry.tract.reading import Names, message_drafts
from toolcarry.tract.store.hashing import content_hash
from toolcarry.tract.store.log import Draft, Log, Prepared, prepare
from toolcarry.tract.store.pages import Head
from toolcarry.tract.values import ImportResult, Kind
from toolcarry.tract.view import RECORDS, SAID
from toolcarry.unpack import read_file

__all__ = ["Progress", "import_file"]

Progress = Callable[[int, int], object]
"""Told how many lines are done, and of how many."""

BATCH: Final = 500
"""Lines in one transaction."""


class MovedError(Exception):
    """Somebody else wrote to the conversation."""


class Taken(NamedTuple):
    """What of a file is there already."""

    head: Head
    """Of the conversation, at that time."""
    end: int
    """The byte behind it."""
    is_read: bool
    """Whether the line that it ends in was read as a message, if it ends within one."""
    names: Names


def import_file(
    log: Log, path: str | os.PathLike[str], progress: Progress | None, check: Check
) -> ImportResult:
    """Take in a session file, or a document that holds a conversation; what is there already is skipped.

    ``check`` is shown what is to be written.
    """
    data = read_file(Path(path))
    if not is_session(data):
        opened = open_body(data)
        if opened.lines is None:
            return import_document(log, data, opened.messages, check)
    total = data.count(b"\n") + (not data.endswith(b"\n"))
    taken = find_taken(log, data, path)
    done = skipped = lines_to(data, taken.end)
    commits = unread = truncated = 0
    while taken.end < len(data):
        end, drafts, missed = make_batch(data, taken)
        check(drafts)
        try:
            head = append_at(log, taken.head, drafts)
        except MovedError:
            taken = find_taken(log, data, path)
            done = lines_to(data, taken.end)
            continue
        done += data.count(b"\n", taken.end, end)
        taken = Taken(head, end, True, taken.names)
        commits += len(drafts)
        unread += missed
        truncated += count_truncated(drafts)
        if progress is not None:
            progress(total if end == len(data) else done, total)
    return ImportResult(total, skipped, commits, unread, truncated)


def is_session(data: bytes) -> bool:
    """Whether the first line is a message, or a record, by itself, so that it is lines for certain."""
    record = loads_line(data[: data.find(b"\n") + 1 or len(data)])
    return record is not None and messages_of(record) is None


def make_batch(data: bytes, taken: Taken) -> tuple[int, list[Draft], int]:
    """The next lines: the byte behind them, their commits, and how many hold no object."""
    end, unread = taken.end, 0
    drafts: list[Draft] = []
    for _ in range(BATCH):
        if end == len(data):
            break
        first = data.rfind(b"\n", 0, end) + 1
        start, end = end, data.find(b"\n", end) + 1 or len(data)
        chunk, line = data[start:end], data[first:end]
        if first < start:
            # The first bytes of this line are there: the rest as it stands, and then the line, if now it says something.
            drafts.append(source(chunk))
            record = None if taken.is_read else loads_line(line)
            found = [] if record is None else message_drafts(record, line, taken.names)
            drafts += [
                draft._replace(metadata={**draft.metadata, "inside": True}) for draft in found
            ]
            continue
        record = loads_line(line)
        unread += record is None and not line.isspace()
        found = [] if record is None else message_drafts(record, line, taken.names)
        drafts += with_source(found) if found else [source(line)]
    return end, drafts, unread


def with_source(drafts: list[Draft]) -> list[Draft]:
    """The commits of a line, of which the first says that its content is the line."""
    first = drafts[0]
    return [first._replace(metadata={**first.metadata, "source": True}), *drafts[1:]]


def source(chunk: bytes, **metadata: Any) -> Draft:
    """Bytes of a file that are no message by themselves."""
    return Draft("record", Kind.RECORD, chunk, {"record": 0, "source": True, **metadata}, 0)


def append_at(log: Log, expected: Head, drafts: Sequence[Draft]) -> Head:
    """Append to the head that is expected, and no other. The new head."""

    def make(head: Head) -> Prepared:
        if head != expected:
            raise MovedError
        return prepare(drafts)

    return log.advance(make) or expected


def find_taken(log: Log, data: bytes, path: str | os.PathLike[str]) -> Taken:
    """What of a file is there already. Raises ``InputError`` where the file is another one by now."""
    head, end, is_read = log.head(), 0, True
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
        is_read = commit.kind is not Kind.RECORD
    return Taken(head, end, is_read, Names(lambda: known_names(log)))


def lines_to(data: bytes, end: int) -> int:
    """How many lines are whole before a byte."""
    return data.count(b"\n", 0, end) + (end == len(data) and not data.endswith(b"\n"))


def import_document(log: Log, data: bytes, messages: Sequence[Any], check: Check) -> ImportResult:
    """Take in a request, or a list of messages: the messages, and behind them the document as it stands."""
    commits, skipped = append_messages(log, messages, check, is_inside=True)
    found = content_hash(data).hex()

    def make(_: Head) -> Sequence[Draft]:
        is_there = any(commit.content_hash == found for commit in log.commits(RECORDS))
        return () if is_there else [source(data, document=True)]

    added = len(commits) + len(log.append_to(make))
    return ImportResult(len(messages), skipped, added, 0, count_truncated(commits))
