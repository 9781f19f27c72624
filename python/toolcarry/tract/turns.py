"""Tool calls and tool results over the whole history, oldest first, each call with what came back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolcarry.tract.store.log import Log
from toolcarry.tract.values import CommitInfo, Kind, ToolTurn
from toolcarry.tract.view import CALLS, CALLS_AND_RESULTS, RESULTS, View, original, read_view

__all__ = ["find_calls", "find_results", "find_turns", "pair_turns"]


def find_results(
    log: Log, name: str | None = None, after: str | None = None, before: str | None = None
) -> Iterator[CommitInfo]:
    """The results of a tool, or of all, between two commits; of an edited one the newest version, in its place.

    So a newer version names its place, too.
    """
    start = original(log, after).sequence if after is not None else 0
    end = original(log, before).sequence if before is not None else None
    view = read_view(log)
    for commit in log.commits(RESULTS, after=start):
        if end is not None and commit.sequence >= end:
            return
        if name is None or commit.name == name:
            yield view.version_of(commit)


def find_calls(log: Log, name: str | None = None) -> Iterator[CommitInfo]:
    """What the model said with at least one call of the tool, or of any."""
    for commit in log.commits(CALLS):
        if name is None or name in call_names(commit):
            yield commit


def find_turns(log: Log, name: str | None = None) -> list[ToolTurn]:
    """The turns that called the tool, or any."""
    turns = pair_turns(log.commits(CALLS_AND_RESULTS), read_view(log))
    return [turn for turn in turns if name is None or name in turn.tool_names]


class Open:
    """A turn in the making: a call, and the results so far, by the place of what they answer."""

    __slots__ = ("call", "keys", "names", "results")

    def __init__(self, call: CommitInfo) -> None:
        calls = call.metadata["tool_calls"]
        self.call = call
        self.names = tuple([each["name"] for each in calls])
        self.keys = [each["id"] or f"\0{each['name']}" for each in calls]
        self.results: list[tuple[int, CommitInfo]] = []

    def close(self, view: View) -> ToolTurn:
        results = sorted(self.results, key=place_of)
        versions = tuple([view.version_of(result) for _, result in results])
        return ToolTurn(self.call, versions, self.names)


def place_of(found: tuple[int, CommitInfo]) -> int:
    return found[0]


def pair_turns(commits: Iterable[CommitInfo], view: View) -> list[ToolTurn]:
    """Calls and results as turns. A result belongs to the nearest earlier unanswered call with its id, else to the
    nearest with it; without an id, to the first unanswered call of its tool in the last turn that has one."""
    turns: list[Open] = []
    waiting: dict[str, list[tuple[Open, int]]] = {}
    latest: dict[str, tuple[Open, int]] = {}
    for commit in commits:
        if commit.kind is Kind.CALL:
            turn = Open(commit)
            turns.append(turn)
            for place in range(
                len(turn.keys) - 1, -1, -1
            ):  # of one turn's the first is taken first
                key = turn.keys[place]
                latest[key] = (turn, place)
                waiting.setdefault(key, []).append((turn, place))
            continue
        key = commit.tool_call_id or f"\0{commit.name}"
        open_calls = waiting.get(key)
        found = open_calls.pop() if open_calls else latest.get(key)
        if found is not None:
            found[0].results.append((found[1], commit))
    return [turn.close(view) for turn in turns]


def call_names(commit: CommitInfo) -> list[str]:
    return [call["name"] for call in commit.metadata["tool_calls"]]
