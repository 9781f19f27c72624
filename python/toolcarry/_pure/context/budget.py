"""The budget: which blocks a context shows, newest first, and how it is put together.

Each block is shown in full up to the limit on one result. The first that does not fit into what is left of the
total is cut, or left out; the blocks before it are left out, and the newest of them listed. The walk stops there.
No context is ever longer than the total.
"""

from __future__ import annotations

from toolcarry._data import read_table
from toolcarry._pure.context.block import SECTIONS, Section, section_of
from toolcarry._pure.context.candidate import Candidate
from toolcarry._pure.context.fence import Fenced
from toolcarry._pure.context.fit import fit_part, fit_summary, fit_whole
from toolcarry._pure.context.left_out import MOST_LISTED, list_left_out
from toolcarry._pure.context.limits import limits_of
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text.sanitize import CLOSE_MARKER, OPEN_MARKER
from toolcarry.policy import Policy

FRAMING: str = read_table("texts")["framing"]

INCLUDE: dict[Section, str] = {
    "files": "include_files",
    "changes": "include_changes",
    "commands": "include_commands",
    "others": "include_others",
}

Trace = list[tuple[int, str, str]]


class Fill:
    """A context in the making. Blocks are offered newest first, until ``is_done``."""

    def __init__(self, policy: Policy, summary: str, trace: Trace | None = None) -> None:
        self._policy = policy
        self._trace = trace
        self._measure, self._total, self._limits = limits_of(policy)
        self.encoding = self._measure.encoding
        """Whose tokens the total counts; ``None`` for characters."""
        self._left = (
            self._total
            - self._measure.size(f"{OPEN_MARKER}\n\n")
            - self._measure.size(CLOSE_MARKER)
        )
        self._sections: dict[Section, list[Candidate]] = {name: [] for name in SECTIONS}
        self._counted: dict[int, Candidate] = {}
        self._is_spent = False
        self._stopped_at: Candidate | None = None
        self._listed: list[Entry] = []
        self.is_done = False
        self.shown = self.cut = self.left_out = 0
        self.excluded: dict[str, int] = {}
        self.superseded: dict[str, int] = {}
        self.summary_cut = self.budget_too_small = False
        self.block_tokens: list[tuple[int, int]] = []
        """What each shown block takes of a total in tokens, with its position, as they stand in the context."""
        self._summary = ""
        if policy.include_summary:
            room = min(self._total // 2, self._left)
            fitted = fit_summary(summary, room, self._measure)
            self._summary, self.summary_cut, self.budget_too_small = fitted
            self._left -= self._measure.size(self._summary)

    def exclude(self, entry: Entry, reason: str) -> None:
        """A block that a setting, its branch or its scope keeps out."""
        self.excluded[reason] = self.excluded.get(reason, 0) + 1
        if self._trace is not None:
            self._trace.append((entry.age, "excluded", reason))

    def supersede(self, entry: Entry, reason: str) -> None:
        """A block that another one says better."""
        if reason == "rule":
            self.exclude(entry, reason)
            return
        self.superseded[reason] = self.superseded.get(reason, 0) + 1
        if self._trace is not None:
            self._trace.append((entry.age, "superseded", reason))

    def count(self, newest: Entry) -> None:
        """Let the heading of ``newest``, where it is shown, count one more older block."""
        shown = self._counted.get(newest.order)
        if shown is None:
            return
        if self._is_spent:
            shown.late += 1
            return
        growth = shown.growth()
        if growth > self._left:
            self._is_spent = True
            shown.late += 1
            return
        shown.earlier += 1
        shown.line_size += growth
        self._left -= growth

    def offer(self, entry: Entry) -> None:
        """Show a block, or what fits of it, or leave it out."""
        reason = self._excluding_setting(entry)
        if reason:
            self.exclude(entry, reason)
        elif not self._is_spent:
            self._try(Candidate(entry, self._policy.keep, self._measure))
        elif len(self._listed) < MOST_LISTED:
            self._listed.append(entry)
            self._leave_out(entry)
        else:
            self._leave_out(entry)
            self.is_done = True

    def _try(self, candidate: Candidate) -> None:
        """Show a block whole, or stop at it."""
        room = self._left - self._heading_size(candidate)
        limits = self._limits.by_rule(candidate.entry.max_chars)
        fitted = fit_whole(candidate.sources, limits, room, self._measure)
        if fitted is not None:
            self._show(candidate, fitted, "limit")
        else:
            self._is_spent = True
            self._stopped_at = candidate

    def _excluding_setting(self, entry: Entry) -> str:
        policy = self._policy
        if entry.result is None and not policy.include_interrupted:
            return "include_interrupted"
        if entry.is_error and not policy.include_failed:
            return "include_failed"
        name = INCLUDE[section_of(entry)]
        return "" if getattr(policy, name) else name

    def _heading_size(self, candidate: Candidate) -> int:
        """What a block takes beside its texts: its heading, and what it is the first to need."""
        size = candidate.line_size
        if not self._sections[candidate.section]:
            size += self._measure.size(SECTIONS[candidate.section])
        if not self.shown and self._policy.framing:
            size += self._measure.size(FRAMING)
        return size

    def _show(self, candidate: Candidate, fitted: list[Fenced], by: str) -> None:
        entry = candidate.entry
        candidate.fenced = fitted
        candidate.size = sum([self._measure.size(part.text) for part in fitted])
        is_cut = any([part.is_cut for part in fitted])
        self._left -= self._heading_size(candidate) + candidate.size
        self._sections[candidate.section].append(candidate)
        self._counted[entry.order] = candidate
        self.shown += 1
        if is_cut:
            self.cut += 1
        if self._trace is not None:
            self._trace.append((entry.age, "cut" if is_cut else "shown", by if is_cut else ""))

    def _leave_out(self, entry: Entry) -> None:
        self.left_out += 1
        if self._trace is not None:
            self._trace.append((entry.age, "left_out", "budget"))

    def text(self) -> str:
        """The finished context; empty where there is nothing to carry or no room to carry it in."""
        left_out = self._settle_stop()
        if not self.shown and not self._summary:
            self.budget_too_small = self.budget_too_small or self._is_spent
            return ""
        pieces = [OPEN_MARKER, "\n\n", self._summary]
        for name, heading in SECTIONS.items():
            blocks = self._sections[name]
            if blocks:
                pieces.append(heading)
            for shown in reversed(blocks):
                pieces.append(shown.heading(not self.is_done))
                pieces.extend([part.text for part in shown.fenced])
                if self.encoding is not None:
                    self.block_tokens.append((shown.entry.position, shown.line_size + shown.size))
        pieces.append(left_out)
        if self.shown and self._policy.framing:
            pieces.append(FRAMING)
        pieces.append(CLOSE_MARKER)
        return "".join(pieces)

    def _settle_stop(self) -> str:
        """Show what fits of the block at which the total was spent, beside the list of those before it."""
        candidate = self._stopped_at
        room = min(self._total // 16, self._left // 2)
        listing = list_left_out(self._listed, room, self._measure, self.is_done)
        if candidate is None:
            return listing
        left = self._left - self._measure.size(listing) - self._heading_size(candidate)
        limits = self._limits.by_rule(candidate.entry.max_chars)
        fitted = fit_part(candidate.sources, limits, left, self._measure)
        if fitted is not None:
            self._show(candidate, fitted, "total")
            return listing
        self._leave_out(candidate.entry)
        return list_left_out([candidate.entry, *self._listed], room, self._measure, self.is_done)
