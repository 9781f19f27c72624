"""Messages that a client sends, in, of which most are there already; and the whole conversation out again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from toolcarry._input.objects import plain_messages
from toolcarry.tract.compile import own_message
from toolcarry.tract.reading import Names, decode_text, dump_message, object_drafts
from toolcarry.tract.store.hashing import content_hash
from toolcarry.tract.store.log import Draft, Log
from toolcarry.tract.store.pages import Head
from toolcarry.tract.values import CommitInfo, Kind
from toolcarry.tract.view import CALLS

__all__ = ["Check", "append_messages", "export", "known_names"]

Check = Callable[[Sequence[Draft]], object]
"""Raises for what must not be written."""


class Appended(NamedTuple):
    """What was appended of messages, and how many of them were there already."""

    commits: list[CommitInfo]
    skipped: int


def append_messages(
    log: Log, messages: Sequence[Mapping[str, Any]], check: Check, *, is_inside: bool = False
) -> Appended:
    """Append what of the messages is not there yet: where the history ends with how they begin, that is skipped.

    So the whole conversation may be given each time, as clients send it, or what is new; and either again.
    ``check`` is shown what is to be written. ``is_inside``: they stand in a document that is kept as a whole.
    """
    plain = plain_messages(messages)
    skipped = 0

    def make(_: Head) -> Sequence[Draft]:
        nonlocal skipped
        names = Names(lambda: known_names(log))
        found = [object_drafts(message, names) for message in plain]
        drafts = [draft for each in found for draft in each]
        known = overlap(log, drafts)
        ends = itertools.accumulate(len(each) for each in found)
        skipped = sum(end <= known for end in ends)
        check(drafts[known:])
        inside = {"inside": True} if is_inside else {}
        return [draft._replace(metadata={**draft.metadata, **inside}) for draft in drafts[known:]]

    return Appended(log.append_to(make), skipped)


def overlap(log: Log, drafts: Sequence[Draft]) -> int:
    """How many of the first drafts are what the log ends with, at most. Linear in both."""
    wanted = [draft_key(draft) for draft in drafts]
    tail: list[tuple[object, ...]] = []
    for commit in log.newest(None):
        if len(tail) == len(wanted):
            break
        if commit.kind < Kind.EDIT and "document" not in commit.metadata:
            tail.append(commit_key(commit))
    tail.reverse()
    # How long a beginning ends here, by Knuth, Morris and Pratt: first of the drafts in themselves, then in the log.
    borders = [0] * len(wanted)
    for place in range(1, len(wanted)):
        borders[place] = extend(wanted, borders, borders[place - 1], wanted[place])
    length = 0
    for key in tail:
        length = extend(wanted, borders, length, key)
    return length


def extend(wanted: Sequence[object], borders: Sequence[int], length: int, key: object) -> int:
    """The longest beginning of ``wanted`` that ends with ``key``, where one of ``length`` ended before it."""
    if length == len(wanted):
        length = borders[length - 1] if length else 0
    while length > 0 and wanted[length] != key:
        length = borders[length - 1]
    return length + 1 if length < len(wanted) and wanted[length] == key else length


def draft_key(draft: Draft) -> tuple[object, ...]:
    return known_by(draft.role, content_hash(draft.content).hex(), draft.metadata)


def commit_key(commit: CommitInfo) -> tuple[object, ...]:
    return known_by(commit.role, commit.content_hash, commit.metadata)


def known_by(role: str, found: str, metadata: Mapping[str, Any]) -> tuple[object, ...]:
    """What tells messages apart: their content without cache marks, and not the tool's name, which only some say."""
    return (
        role,
        metadata.get("unmarked", found),
        metadata.get("tool_call_id"),
        metadata.get("is_error"),
        metadata.get("record"),
    )


def known_names(log: Log) -> dict[str, str]:
    """The tool's name of each call in the history, by its id; of calls with one id, the latest."""
    calls = (call for commit in log.commits(CALLS) for call in commit.metadata["tool_calls"])
    return {call["id"]: call["name"] for call in calls}


def export(log: Log) -> Iterator[bytes]:
    """The lines of imported files, byte for byte, and a line of JSON for each other message.

    A document, and a message, begins a line of its own: a newline parts it from what came before, where that ends in none.
    """
    is_open = False
    for commit, content in log.contents():
        if commit.kind >= Kind.EDIT:
            continue
        if commit.metadata.get("source") is True:
            is_line = False
            chunk = content
            if is_open and "document" in commit.metadata:
                yield b"\n"
        elif commit.metadata.get("record", 0) > 0 or "inside" in commit.metadata:
            continue
        else:
            is_line = True
            chunk = content if "record" in commit.metadata else own_line(commit, content)
        if is_line and is_open:
            yield b"\n"
        yield chunk + b"\n" if is_line else chunk
        is_open = not is_line and not chunk.endswith(b"\n")


def own_line(commit: CommitInfo, content: bytes) -> bytes:
    return dump_message(own_message(commit, decode_text(content)))
