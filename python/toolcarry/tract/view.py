"""How the log is to be read: which results have a newer version, what is left out, and what a compaction stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from toolcarry.tract.store.log import Log
from toolcarry.tract.values import CommitInfo, Kind

__all__ = [
    "CALLS",
    "CALLS_AND_RESULTS",
    "CHANGES",
    "MESSAGES",
    "NOTHING",
    "RECORDS",
    "RESULTS",
    "SAID",
    "View",
    "original",
    "ranges",
    "read_view",
    "sequences",
]

# Which commits are read, as SQL, so that nothing else is.
MESSAGES: Final = f"AND c.kind < {Kind.RECORD:d}"
"""What was said, called and returned."""
SAID: Final = f"AND c.kind < {Kind.EDIT:d}"
"""The same, and what says nothing that is known here."""
CALLS: Final = f"AND c.kind = {Kind.CALL:d}"
RESULTS: Final = f"AND c.kind = {Kind.RESULT:d}"
RECORDS: Final = f"AND c.kind = {Kind.RECORD:d}"
CALLS_AND_RESULTS: Final = f"AND c.kind IN ({Kind.CALL:d}, {Kind.RESULT:d})"
CHANGES: Final = f"AND c.kind >= {Kind.EDIT:d}"


class View(NamedTuple):
    """What the commits say of earlier ones, at the time of reading. Commits are named by their sequence."""

    newest: dict[str, CommitInfo]
    """The newest version of each edited result, by the hash of the original."""
    left_out: set[int]
    compacted: dict[int, CommitInfo]
    """The compaction that stands for a commit."""

    def version_of(self, commit: CommitInfo) -> CommitInfo:
        """The newest version of a result, with the original's place in the order; else the commit itself."""
        return self.newest.get(commit.commit_hash, commit)


NOTHING: Final = View({}, set(), {})
"""The log as if nothing had been said of it: all first versions."""


def read_view(log: Log) -> View:
    """What is in force now: an undone compaction or omission is as if it had not been."""
    changes = list(log.commits(CHANGES))
    undone = {str(commit.metadata["undoes"]) for commit in changes if commit.kind is Kind.UNDO}
    view = View({}, set(), {})
    replaced: set[str] = set()
    withdrawn: set[int] = set()
    for commit in changes:
        if commit.kind is Kind.COMPACTION:
            if commit.commit_hash in undone:
                withdrawn.update(sequences(commit.metadata.get("edits", ())))
            else:
                replaced.update(commit.metadata.get("replaces", ()))
    for commit in changes:
        if commit.kind is Kind.EDIT and commit.sequence not in withdrawn:
            view.newest[str(commit.edits)] = commit
        elif commit.commit_hash in undone or commit.commit_hash in replaced:
            continue
        elif commit.kind is Kind.OMISSION:
            view.left_out.update(sequences(commit.metadata["covers"]))
        elif commit.kind is Kind.COMPACTION and "edits" not in commit.metadata:
            for covered in sequences(commit.metadata["covers"]):
                view.compacted[covered] = commit
    return view


def original(log: Log, name: str) -> CommitInfo:
    """The commit of a hash; of a newer version of a result, the result."""
    commit = log.find(name)
    return commit if commit.edits is None else log.find(commit.edits)


def ranges(found: Iterable[int]) -> list[list[int]]:
    """Sequences as first and last of each run, as metadata has them.

    >>> ranges([5, 2, 3, 4, 9])
    [[2, 5], [9, 9]]
    """
    runs: list[list[int]] = []
    for sequence in sorted(found):
        if runs and runs[-1][1] == sequence - 1:
            runs[-1][1] = sequence
        else:
            runs.append([sequence, sequence])
    return runs


def sequences(runs: Iterable[Sequence[int]]) -> Iterator[int]:
    """What ``ranges`` has put together.

    >>> list(sequences([[2, 4], [9, 9]]))
    [2, 3, 4, 9]
    """
    for first, last in runs:
        yield from range(first, last + 1)
