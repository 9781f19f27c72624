"""The ledger: one line for each call that is shown nowhere else, and for each earlier request of the user.

Equal calls share a line, with all of their numbers. Lines that are worth most are taken first, and stand in time order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from toolcarry._input.json import compact_json
from toolcarry.fallback.context.handover.clean import short_line
from toolcarry.fallback.context.handover.files import File, changed_since
from toolcarry.fallback.context.handover.kinds import TABLE, words
from toolcarry.fallback.context.handover.outcomes import Lines, is_item, lines_of_change
from toolcarry.fallback.context.handover.pieces import NOTHING, Paper, Piece, inert_line
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.fallback.dialogue import SpokenText
from toolcarry.model.dedupe.shell import has_side_effects

HEADING: Final[str] = TABLE["headings"]["ledger"]
_LASTING: Final = words("lasting")
_MOST_MISSES: Final = 8
"""The lines that do not fit after which no other one is tried."""
_MOST_NUMBERS: Final = 6
_NEWEST_REQUESTS: Final = 8
"""The requests that come before all calls; older ones come with the calls of the current request."""
_LONGEST_TITLE: Final = 100
_LONGEST_COMMAND: Final = 400
"""The number of characters of a command that are checked for changes to files."""


class Line(NamedTuple):
    """A line of the ledger: what it is worth (0 most), where it stands, and the calls that it is about."""

    rank: int
    position: int
    order: int
    text: str
    numbers: tuple[int, ...]


class Ledger(NamedTuple):
    """The section, the numbers of calls with a line of their own, and of those in the line of another one."""

    piece: Piece
    listed: frozenset[int]
    merged: frozenset[int]
    has_request: bool = False
    """True if the last request of the user stands in it, before the calls that came after it."""


EMPTY: Final = Ledger(NOTHING, frozenset(), frozenset())


class LedgerWriter:
    """Writes the ledger. Lines are made once, when they are first wanted."""

    def __init__(
        self,
        steps: Sequence[Step],
        requests: Sequence[SpokenText],
        resolved: Mapping[int, int],
        files: Mapping[str, File],
        lines: Lines,
        paper: Paper,
        longest: int,
    ) -> None:
        self._steps, self._requests, self._resolved = steps, requests, resolved
        self._files = files
        self._lines, self._paper, self._longest = lines, paper, longest
        self._sizes: dict[str, int] = {}

    def write(
        self, shown: AbstractSet[int], shown_turns: AbstractSet[int], room: int, asked: Piece
    ) -> Ledger:
        """Return the ledger of all calls but those that are shown elsewhere. ``asked`` is the last request, which is paid
        for already, and stands before the calls that came after it.
        """
        groups = self._groups(shown)
        candidates: list[tuple[int, int, list[Step] | SpokenText]] = [
            (0 if place < _NEWEST_REQUESTS else 3, -turn.position, turn)
            for place, turn in enumerate(reversed(self._requests))
            if turn.position not in shown_turns
        ]
        candidates += [(self._rank(group[-1]), -group[-1].number, group) for group in groups]
        candidates.sort(key=_by_rank)
        room -= self._paper.measure.size(HEADING)
        more = self._paper.line_size(_more_line(len(self._steps)))
        taken: list[Line] = []
        misses = 0
        for rank, _, each in candidates:
            line = self._request(each) if isinstance(each, SpokenText) else self._line(each, rank)
            size = self._size(line.text)
            if size + more > room:
                misses += 1
                if misses == _MOST_MISSES:
                    break
                continue
            room -= size
            taken.append(line)
        return self._assemble(taken, sum(map(len, groups)), asked)

    def _assemble(self, taken: list[Line], count: int, asked: Piece) -> Ledger:
        taken.sort(key=_by_place)
        left_out = count - sum([len(line.numbers) for line in taken])
        texts = [line.text for line in taken]
        if not texts:
            return EMPTY
        if left_out:
            texts.append(_more_line(left_out))
        texts[-1] += "\n"
        since = (self._requests[-1].position, 0) if asked is not NOTHING else None
        before = sum([since is None or _by_place(line) < since for line in taken])
        has_request = before < len(taken)
        if has_request and before:
            texts[before - 1] += "\n"
        measure = self._paper.measure
        size = measure.size(HEADING) + sum([measure.size(text) for text in texts])
        listed = frozenset([line.numbers[-1] for line in taken if line.numbers])
        merged = frozenset([number for line in taken for number in line.numbers[:-1]])
        if has_request:
            texts.insert(before, asked.text)
        return Ledger(Piece("".join([HEADING, *texts]), size), listed, merged, has_request)

    def _size(self, text: str) -> int:
        size = self._sizes.get(text)
        if size is None:
            size = self._sizes[text] = self._paper.line_size(text)
        return size

    def _groups(self, shown: AbstractSet[int]) -> list[list[Step]]:
        """Return the steps that are not shown, those about the same thing together."""
        groups: dict[tuple[int, str, str], list[Step]] = {}
        for step in self._steps:
            if step.number not in shown:
                groups.setdefault(self._sign(step), []).append(step)
        return list(groups.values())

    def _sign(self, step: Step) -> tuple[int, str, str]:
        """Return what a step shares with those in the same line: its request, its outcome, and what it is about."""
        about = "\n".join(step.keys)
        if step.kind == "command":
            about = f"{step.directory}\n{step.command}"
        elif step.kind == "plan" and step.has_succeeded:
            about = step.entry.tool_name
        elif step.entry.call is None:
            about = f"{step.entry.tool_name}\n{step.text}"
        elif not about:
            about = f"{step.entry.tool_name}\n{_written(step)}"
        return step.turn, f"{step.kind} {step.state}", about

    def _rank(self, step: Step) -> int:
        if step.state in ("rejected", "interrupted") or step.kind == "question":
            return 0
        if step.kind == "plan" and step.has_succeeded:
            return 4
        is_current = step.turn == self._steps[-1].turn
        if step.state == "failed" and is_current:
            return 2
        if step.is_change and step.has_succeeded:
            return 1 if is_current else 2
        if step.kind == "command" and step.has_succeeded:
            command = step.command[:_LONGEST_COMMAND]
            if any(word in command for word in _LASTING) or has_side_effects(command):
                return 1 if is_current else 2
        return 3 if is_current else 4

    def _request(self, turn: SpokenText) -> Line:
        text = f"- **User:** {inert_line(' '.join(turn.text.split()), self._longest)}\n"
        return Line(0, turn.position, 0, text, ())

    def _line(self, group: list[Step], rank: int) -> Line:
        step = group[-1]
        numbers = tuple([each.number for each in group])
        listed = ", ".join([f"#{number}" for number in numbers[-_MOST_NUMBERS:]])
        if len(numbers) > _MOST_NUMBERS:
            listed = f"{len(numbers)} times, last {listed}"
        notes = self._lines.notes(step)
        if step.number in self._resolved:
            notes.append(f"see #{self._resolved[step.number]}")
        changed = changed_since(step, self._files)
        if changed:
            notes.append(changed)
        said = f" ({'; '.join(notes)})" if notes else ""
        outcome = self._outcome(group)
        outcome = f" → {outcome}" if outcome else ""
        title = inert_line(self._lines.title(step, _LONGEST_TITLE) + said, _LONGEST_TITLE + 200)
        text = f"- {listed} {title}{inert_line(outcome, 4 * self._longest)}\n"
        return Line(rank, step.entry.position, step.number, text, numbers)

    def _outcome(self, group: list[Step]) -> str:
        step = group[-1]
        if len(group) > 1 and step.kind == "edit" and step.has_succeeded:
            counted = [lines_of_change(each) for each in group]
            if (0, 0) in counted:
                return f"{len(group)} edits"
            removed, added = sum([out for out, _ in counted]), sum([new for _, new in counted])
            is_everywhere = any(
                each.is_everywhere
                for one in group
                for change in one.changes
                for each in change.replacements
            )
            total = "in all, some in each place" if is_everywhere else "in all"
            return f"{len(group)} edits, -{removed} +{added} lines {total}"
        if len(group) > 1 and is_item(step):
            items = [self._lines.outcome(each, self._longest) for each in group]
            return short_line("; ".join(items), 2 * self._longest)
        outcome = self._lines.outcome(step, self._longest)
        is_last = len(group) > 1 and outcome
        return f"last: {outcome}" if is_last else outcome


def _written(step: Step) -> str:
    """Return the arguments of a call as a text that only equal ones have."""
    given = step.entry.given
    return "\n".join([f"{name} {compact_json(given[name])}" for name in sorted(given)])


def _by_rank(item: tuple[int, int, list[Step] | SpokenText]) -> tuple[int, int]:
    return item[:2]


def _by_place(line: Line) -> tuple[int, int]:
    return line.position, line.order


def _more_line(count: int) -> str:
    return f"- … {count:,} more call{'s' * (count > 1)}, not listed\n"
