"""The hand-over: what is shown of a conversation for a model that goes on with it, and in which order the room is spent.

State comes first: the last request, the plan, the failures that are open. Of the rest, the latest steps come first, the
newest whole if that is possible. A part is for the current text of files that those steps do not show, more of it the
larger the total is, and a part for the ledger.

::

    frame, summary, working directory           first
    ## Plan, ## Open Failures, last request     up to a share each
    ## Files Read, ## Files Changed             up to a quarter of what is left: the file in work first
    ## Earlier                                  up to a sixth
    ## Latest Steps                             everything else
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from toolcarry._data import read_table
from toolcarry.fallback.context.budget import FRAMING
from toolcarry.fallback.context.fence import Source
from toolcarry.fallback.context.handover import failures as failing
from toolcarry.fallback.context.handover import latest as last_steps
from toolcarry.fallback.context.handover.clean import without_keys
from toolcarry.fallback.context.handover.files import File, find_files
from toolcarry.fallback.context.handover.kinds import TABLE
from toolcarry.fallback.context.handover.ledger import EMPTY, Ledger, LedgerWriter
from toolcarry.fallback.context.handover.outcomes import Lines
from toolcarry.fallback.context.handover.passages import Shown, files_in_work, show_file
from toolcarry.fallback.context.handover.pieces import (
    LONGEST_INLINE,
    NOTHING,
    Paper,
    Piece,
    inert_line,
)
from toolcarry.fallback.context.handover.plan import HEADING, Plan, find_plan
from toolcarry.fallback.context.handover.step_text import StepWriter
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.fallback.context.limits import limits_of
from toolcarry.fallback.context.summary import fit_summary
from toolcarry.fallback.dialogue import SpokenText
from toolcarry.model.text.sanitize import CLOSE_MARKER, OPEN_MARKER
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.values import CallPlace

_TEXTS: Final = read_table("texts")
_FILES_READ: Final[str] = _TEXTS["files_heading"]
_FILES_CHANGED: Final[str] = _TEXTS["changes_heading"]
_FAILURES: Final[str] = TABLE["headings"]["failures"]
_UNANSWERED: Final[str] = TABLE["headings"]["unanswered"]
_QUOTED: Final = "(as quoted in the summary)"
_ABSOLUTE: Final = ("/", "~")
_MOST_FAILURES: Final = 4
_MOST_MISSES: Final = 3
"""The number of files without anything to show after which the search ends: reconstructing the text of a file takes
time."""
_OLD_PLAN: Final = 10
"""The least number of calls after a plan that is reported next to it."""
_SMALL: Final = 3_000
_MIDDLE: Final = 8_000


class Directory(NamedTuple):
    """The directory to which paths and commands are relative, and what is said of it."""

    path: str
    label: str


def find_directory(steps: Sequence[Step]) -> Directory:
    """Return the working directory that the session gives for its newest call; else the one in which all commands ran.

    Its path is empty if none is certain.
    """
    session = next(
        (step.session_directory for step in reversed(steps) if step.session_directory), ""
    )
    if session:
        return Directory(session, "Working directory")
    found = {step.directory for step in steps if step.kind == "command"}
    only = found.pop() if len(found) == 1 else ""
    return Directory(only if only.startswith(_ABSOLUTE) else "", "All commands ran in")


class HandOver:
    """A hand-over that is being written. ``places`` has the place of each step, by its number."""

    def __init__(self, policy: CarryPolicy, summary: str) -> None:
        self._policy = policy
        self.measure, self._total, limits = limits_of(policy)
        self._paper = Paper(self.measure, limits)
        self._framing = FRAMING if policy.framing else ""
        self._left = self._total - sum(
            map(self.measure.size, (f"{OPEN_MARKER}\n\n", self._framing, CLOSE_MARKER))
        )
        self.summary_cut = self.has_no_room = False
        self._summary = ""
        if policy.include_summary:
            room = min(self._total // 2, self._left)
            fitted = fit_summary(summary, room, self.measure)
            self._summary, self.summary_cut, self.has_no_room = fitted
            self._left -= self.measure.size(self._summary)
        self.places: dict[int, CallPlace] = {}
        self.cut: set[int] = set()
        """The numbers of the steps that are shown in part."""
        self.sizes: dict[int, int] = {}
        """The sizes of the steps that are shown with their results, by their numbers."""

    def write(
        self,
        steps: Sequence[Step],
        requests: Sequence[SpokenText],
        answer: SpokenText | None,
        directory: Directory,
    ) -> str:
        """Return the context; empty if nothing of the steps fits. ``answer`` is what the assistant said in the end."""
        tokens = self._paper.token
        named = requests[-1].text if requests else ""
        requests = [self._quoted(request) for request in requests]
        lines = Lines(directory.path)
        at = self._pay(self._directory(directory), self._left // 8)
        plan = find_plan(steps)
        resolved = failing.find_resolved(steps)
        failures = failing.open_failures(steps, resolved)
        asked = self._request(requests)
        answered = NOTHING
        if requests:
            answered = self._pay(self._answer(answer), self._left // 8)
        plan_text = self._pay(self._plan(plan, steps, failures, self._left // 5), self._left)
        failed = self._pay(self._failures(failures, lines, self._left // 7), self._left)
        files = find_files(steps)
        writer = StepWriter(self._policy, self._paper, lines, files, resolved, steps)
        open_items = [item.text for item in plan.items if item.mark != "x"] if plan else []
        words = "\n".join([*open_items, named])
        rest = self._left
        ranked = files_in_work(files, steps, words, self._by_total(12, 20, 30))
        ledger_writer = LedgerWriter(
            steps, requests, resolved, files, lines, self._paper, self._by_total(100, 140, 180)
        )
        heading = self.measure.size(last_steps.HEADING)
        reserve = min(rest * self._by_total(16, 15, 15) // 100, 1_500 * tokens)
        for_files = rest * self._by_total(8, 12, 25) // 100 if ranked else 0
        room = self._left - reserve - for_files - heading
        latest = last_steps.take_latest(
            steps, requests, asked, writer, self._paper, room, for_files
        )
        for_files = min(for_files, room + for_files - latest.size)
        shown = self._show_files(ranked, latest, lines, for_files)
        ledger, unspent = EMPTY, 0
        for is_second in (False, True):
            if is_second:
                room = latest.size + unspent
                latest = last_steps.take_latest(steps, requests, asked, writer, self._paper, room)
            hidden = {*latest.numbers, *latest.merged}
            left = self._left - heading - latest.size
            is_older = latest.begins_after(len(requests), steps)
            ledger = ledger_writer.write(hidden, latest.turns, left, asked if is_older else NOTHING)
            unspent = left - ledger.piece.size
            if unspent < self._total // 16 or not self._is_short(latest, steps, plan):
                break
        if ledger.has_request:
            latest.drop_request(requests[-1].position)
        latest.grow(steps, writer, left - ledger.piece.size, self._total // 50)
        self._place(steps, latest, ledger, plan if plan_text.text else None, shown)
        changed = [each.piece.text for each in shown if each.is_changed]
        read = [each.piece.text for each in shown if not each.is_changed]
        is_empty = not (latest.numbers or ledger.listed or shown or plan_text.text or failed.text)
        if is_empty and not self._summary:
            return ""
        body = [
            at.text,
            plan_text.text,
            failed.text,
            ledger.piece.text,
            *([_FILES_READ, *read] if read else []),
            *([_FILES_CHANGED, *changed] if changed else []),
            *(
                [last_steps.HEADING, latest.text(), answered.text]
                if latest.pieces
                else [answered.text]
            ),
        ]
        framing = "" if is_empty else self._framing
        return "".join([f"{OPEN_MARKER}\n\n", self._summary, *body, framing, CLOSE_MARKER])

    def _by_total(self, small: int, middle: int, large: int) -> int:
        """Return a number for a total of less than 3,000 tokens, of less than 8,000, or of more."""
        total = self._total // self._paper.token
        return small if total < _SMALL else middle if total < _MIDDLE else large

    def _pay(self, piece: Piece | None, most: int) -> Piece:
        """Return a piece that takes at most ``most`` of the rest, and subtract it; else nothing."""
        if piece is None or piece.size > min(most, self._left):
            return NOTHING
        self._left -= piece.size
        return piece

    def _directory(self, found: Directory) -> Piece | None:
        """Return the line about the directory that the paths and commands below it leave out."""
        if not found.path:
            return None
        return self._paper.piece(f"{found.label}: {inert_line(found.path, 300)}\n\n")

    def _quoted(self, request: SpokenText) -> SpokenText:
        """Return a request without its text if the summary has all of it."""
        text = request.text.strip("\n \t")
        is_short = "\n" not in text and len(text) <= LONGEST_INLINE
        return request if is_short or text not in self._summary else request._replace(text=_QUOTED)

    def _request(self, requests: Sequence[SpokenText]) -> Piece:
        """Return the last request of the user, in full up to a share of the total."""
        if not requests:
            return NOTHING
        most = min(max(self._left // 5, 0), 1_500 * self._paper.token)
        return self._pay(self._paper.spoken("User", requests[-1].text, most), most)

    def _answer(self, answer: SpokenText | None) -> Piece | None:
        if answer is None:
            return self._paper.piece(_UNANSWERED)
        room = min(self._left // 8, 300 * self._paper.token)
        return self._paper.spoken("Assistant, last", answer.text, room)

    def _plan(
        self, plan: Plan | None, steps: Sequence[Step], failures: Sequence[Step], room: int
    ) -> Piece | None:
        """Return the plan; what is done is counted if not all items fit. A failure since then is named.

        Nothing is said of one that is done, and was for an earlier request.
        """
        if plan is None:
            return None
        after = len(steps) - plan.number
        is_earlier = steps[plan.number - 1].turn < steps[-1].turn
        later = [f"#{step.number}" for step in failures if step.number > plan.number]
        note = f"(written by #{plan.number}"
        note += f", {after:,} calls before the end" if after >= _OLD_PLAN else ""
        note += ", for an earlier request" if is_earlier else ""
        note += f"; failed since then, and open: {', '.join(later)})\n\n" if later else ")\n\n"
        if not plan.items:
            head = self._paper.piece(f"{HEADING}{note}")
            limits = self._paper.limits
            body = self._paper.fence(
                Source(without_keys(plan.text), "text", "head", ""),
                limits,
                room // 2 - head.size,
                "\n",
            )
            if body is None:
                return None
            return Piece(head.text + body.text, head.size + body.size, body.is_cut)
        if is_earlier and all(item.mark == "x" for item in plan.items):
            return None
        lines = plan.lines()
        text = "".join([HEADING, *lines, note])
        found = self._paper.piece(text)
        if found.size <= room:
            return found
        open_lines = [
            line for line, item in zip(lines, plan.items, strict=True) if item.mark != "x"
        ]
        done = len(lines) - len(open_lines)
        first = [f"- [x] {done} items that are done\n"] if done else []
        while True:
            rest = len(plan.items) - done - len(open_lines)
            more = [f"- … {rest} more open items\n"] if rest else []
            found = self._paper.piece("".join([HEADING, *first, *open_lines, *more, note]))
            if found.size <= room:
                return found._replace(is_cut=True)
            if not open_lines:
                return None
            del open_lines[len(open_lines) // 2 :]

    def _failures(self, failures: Sequence[Step], lines: Lines, room: int) -> Piece | None:
        """Return a line for each open failure, the newest ones if not all fit."""
        listed = []
        for step in failures[-_MOST_FAILURES:]:
            outcome = failing.failed_tests(step) or lines.outcome(step, 240)
            said = inert_line(": ".join(filter(None, ("; ".join(lines.notes(step)), outcome))), 400)
            listed.append(f"- #{step.number} {inert_line(lines.title(step, 100), 160)} → {said}\n")
        while listed:
            found = self._paper.piece("".join([_FAILURES, *listed, "\n"]))
            if found.size <= room:
                return found
            del listed[0]
        return None

    def _show_files(
        self,
        ranked: Sequence[tuple[File, bool]],
        latest: last_steps.Latest,
        lines: Lines,
        room: int,
    ) -> list[Shown]:
        """Return the passages of the files in work that the latest steps do not show, and pay for them."""
        tokens = self._paper.token
        headings = {True: _FILES_CHANGED, False: _FILES_READ}
        found: list[Shown] = []
        misses = 0
        for file, is_first in ranked:
            if self._is_at_step(file, latest):
                continue
            is_changed = bool(file.edits)
            heading = (
                self.measure.size(headings.get(is_changed, "")) if is_changed in headings else 0
            )
            most = room * 9 // 10 if is_first else room // 2
            if most < 60 * tokens:
                break
            shown = show_file(file, most - heading, self._paper, lines)
            if shown is None:
                misses += 1
                if misses == _MOST_MISSES:
                    break
                continue
            headings.pop(is_changed, None)
            found.append(shown)
            room -= shown.piece.size + heading
            self._left -= shown.piece.size + heading
        found.sort(key=_by_last)
        return found

    def _is_at_step(self, file: File, latest: last_steps.Latest) -> bool:
        """Return true if a step shows the text of a file, or in a small total its last change."""
        if file.last.number not in latest.numbers:
            return False
        return not file.edits or file.was_written() or self._total < _SMALL * self._paper.token

    def _is_short(
        self, latest: last_steps.Latest, steps: Sequence[Step], plan: Plan | None
    ) -> bool:
        """Return true if more room would show more steps."""
        plans = len(plan.numbers) if plan else 0
        return len(latest.numbers) + len(latest.merged) + plans < len(steps)

    def _place(
        self,
        steps: Sequence[Step],
        latest: last_steps.Latest,
        ledger: Ledger,
        plan: Plan | None,
        shown: Sequence[Shown],
    ) -> None:
        in_files = {step.number for each in shown for step, _ in each.file.events}
        for step in steps:
            number = step.number
            if number in latest.numbers:
                self.places[number] = "step"
                self.sizes[number] = latest.numbers[number].size
                if latest.numbers[number].is_cut:
                    self.cut.add(number)
            elif number in ledger.listed:
                self.places[number] = "ledger"
                self.cut.add(number)
            elif (
                number in latest.merged
                or number in ledger.merged
                or (plan is not None and number in plan.numbers)
            ):
                self.places[number] = "merged"
            elif number in in_files:
                self.places[number] = "file"
                self.cut.add(number)
            else:
                self.places[number] = "left_out"


def _by_last(shown: Shown) -> int:
    return shown.file.last.number
