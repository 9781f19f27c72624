"""``toolcarry history log``: list the commits of a conversation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from toolcarry._input.document import loads_line
from toolcarry._input.objects import as_object
from toolcarry.api.survey import HOLDERS, times_of
from toolcarry.cli.io import Output, json_line
from toolcarry.cli.store import LEAST_TEXT, Store, as_fields, short, shown_time
from toolcarry.cli.terminal import LONGEST, columns, one_line

if TYPE_CHECKING:
    from toolcarry.tract import CommitInfo, Tract

LONGEST_LINE: Final = 1 << 20
"""The bytes of the longest imported line in which a time is looked for."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The commits that are listed: of a role, with a tool, with a text, and raw records or not."""

    role: str | None = None
    tool: str | None = None
    text: str | None = None
    has_records: bool = False

    def takes(self, tract: Tract, commit: CommitInfo) -> bool:
        """Return true if a commit is listed."""
        if commit.kind.name == "RECORD" and not self.has_records and self.role != "record":
            return False
        if self.role is not None and commit.role != self.role:
            return False
        if self.tool is not None and self.tool not in tools_of(commit):
            return False
        return self.text is None or self.text.lower() in tract.get_content(commit).lower()


def show_log(
    store: Store, conversation: str | None, limit: int | None, only: Filter, *, is_json: bool
) -> None:
    """Write a line for each commit, newest first."""
    out = Output()
    with store.read(conversation) as tract:
        for commit in islice(found_in(tract, only), limit):
            if is_json:
                time = time_of_message(tract, commit).isoformat()
                out.write(json_line({**as_fields(commit), "time": time}))
            else:
                out.write(f"{log_line(tract, commit, out)}\n".encode())


def found_in(tract: Tract, only: Filter) -> Iterator[CommitInfo]:
    return (commit for commit in tract.log() if only.takes(tract, commit))


def tools_of(commit: CommitInfo) -> list[str]:
    """Return the names of the tools that a commit calls, or whose result it is."""
    calls = commit.metadata.get("tool_calls", ())
    return [commit.name] if commit.name else [call["name"] for call in calls]


def log_line(tract: Tract, commit: CommitInfo, out: Output) -> str:
    """Return a commit as a line: hash, time, role, tools, tokens, and the first line of the text."""
    head = (
        f"{short(commit)}  {shown_time(time_of_message(tract, commit))}  {one_line(commit.role, 10):10}  "
        f"{one_line(', '.join(tools_of(commit)), 20):20}  {commit.token_count:>8,}  "
    )
    width = columns(sys.stdout) - len(head) if out.is_terminal else LONGEST
    line = tract.get_content(commit).strip().partition("\n")[0].rstrip("\r")
    return f"{head}{one_line(line, max(width, LEAST_TEXT))}".rstrip()


def time_of_message(tract: Tract, commit: CommitInfo) -> datetime:
    """Return the time that the imported line of a commit gives, else the time of the commit."""
    if commit.metadata.get("source") is True and "document" not in commit.metadata:
        line = tract.get_source(commit)
        record = loads_line(line) if len(line) <= LONGEST_LINE else None
        if record is not None:
            held = [as_object(record.get(name)) or {} for name in HOLDERS]
            times = [time for holder in (record, *held) for time in times_of(holder)]
            if times:
                return times[0]
    return commit.created_at
