"""A view of the log with newest versions, omissions and compactions applied, and calls paired with their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from toolcarry.tract.matching import Calls, add_commit
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo, Kind, ToolTurn

__all__ = [
    "BETWEEN",
    "CALLS",
    "CALLS_AND_RESULTS",
    "CHANGES",
    "MESSAGES",
    "NOTHING",
    "RECORDS",
    "RESULTS",
    "SAID",
    "View",
    "is_backfill",
    "original",
    "pair_turns",
    "ranges",
    "read_canonical",
    "read_view",
    "sequences",
    "view_of",
]

MESSAGES: Final = (Kind.MESSAGE, Kind.CALL, Kind.RESULT)
SAID: Final = (*MESSAGES, Kind.RECORD)
"""Messages, calls and results, and records that are not messages."""
CALLS: Final = (Kind.CALL,)
RESULTS: Final = (Kind.RESULT,)
RECORDS: Final = (Kind.RECORD,)
CALLS_AND_RESULTS: Final = (Kind.CALL, Kind.RESULT)
EDITS: Final = (Kind.EDIT,)
BETWEEN: Final = "\n\n"
"""The text between the summaries of a compaction."""
CHANGES: Final = (Kind.EDIT, Kind.COMPACTION, Kind.UNDO, Kind.OMISSION)


class View(NamedTuple):
    """The edits, omissions and compactions in effect when the log was read. Integers are commit sequences."""

    newest: dict[str, CommitInfo]
    """The newest version of each edited result, by the hash of the original."""
    left_out: set[int]
    compacted: dict[int, CommitInfo]
    """The compaction that covers each commit."""

    def version_of(self, commit: CommitInfo) -> CommitInfo:
        """Return the newest version of a result, or the commit itself if it was not edited."""
        return self.newest.get(commit.commit_hash, commit)


NOTHING: Final = View({}, set(), {})
"""The view in which nothing is edited, left out or compacted."""


def read_view(log: Log) -> View:
    """Read the edits, omissions and compactions in effect, without those that were undone or replaced."""
    return view_of(list(log.commits(CHANGES)))


def read_canonical(log: Log) -> View:
    """Read the view of the canonical history: each result in full, those that were cut before as a backfill has them."""
    return view_of([commit for commit in log.commits(EDITS) if is_backfill(commit)])


def is_backfill(commit: CommitInfo) -> bool:
    """True if it is the whole of a result that was cut before it was written."""
    provenance = commit.metadata.get("provenance")
    return isinstance(provenance, Mapping) and provenance.get("by") == "backfill"


def view_of(changes: Sequence[CommitInfo]) -> View:
    """Return the view that edits, omissions, compactions and their withdrawals make."""
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
    """Return the commit with this hash; for a newer version of a result, the original result."""
    commit = log.find(name)
    return commit if commit.edits is None else log.find(commit.edits)


def ranges(found: Iterable[int]) -> list[list[int]]:
    """Return sequences as runs, each with its first and last number, as they are stored in metadata.

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
    """Yield the sequences of runs that ``ranges`` made.

    >>> list(sequences([[2, 4], [9, 9]]))
    [2, 3, 4, 9]
    """
    for first, last in runs:
        yield from range(first, last + 1)


def pair_turns(commits: Iterable[CommitInfo], view: View) -> list[ToolTurn]:
    """Pair calls and results into turns, as ``matching.Calls`` says."""
    paired: Calls[CommitInfo] = Calls()
    turns = [(commit, calls) for commit in commits if (calls := add_commit(paired, commit))]
    return [
        ToolTurn(
            commit,
            [view.version_of(result) for call in calls for result in call.results],
            [call.said.name for call in calls],
        )
        for commit, calls in turns
    ]
