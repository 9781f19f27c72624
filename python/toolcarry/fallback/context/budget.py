"""The budget: choose the blocks that a context shows, newest first, and assemble it.

Each block is shown in full up to the limit on one result. The first one that does not fit into the rest of the
total is cut, or left out; the blocks before it are left out, and the newest of them are listed. The walk stops there.
No context is ever longer than the total.
"""

from __future__ import annotations

from toolcarry._data import read_table
from toolcarry.fallback.context.block import count_note, sources, with_count
from toolcarry.fallback.context.fence import Fenced, Source, fit_part, fit_whole
from toolcarry.fallback.context.inline import inert, inert_item
from toolcarry.fallback.context.limits import Measure, limits_of
from toolcarry.fallback.context.summary import fit_summary
from toolcarry.model.pairing.block import Entry
from toolcarry.model.text.sanitize import CLOSE_MARKER, OPEN_MARKER, clean_line, shorten
from toolcarry.model.titles import SECTIONS, Section, notes, section_of, title
from toolcarry.types.policy import CarryPolicy


class Candidate:
    """A block that is offered: the parts of its heading, and if it is shown, its texts and the count in its heading."""

    __slots__ = (
        "_has_texts",
        "_measure",
        "_notes",
        "_title",
        "earlier",
        "entry",
        "fenced",
        "late",
        "line_size",
        "section",
        "size",
    )

    def __init__(self, entry: Entry, has_texts: bool, measure: Measure) -> None:
        self.entry = entry
        self.section = section_of(entry)
        self._has_texts = has_texts
        self.fenced: list[Fenced] = []
        self.size = 0
        """The size of the texts."""
        self.earlier = 0
        """The number of older blocks that its heading counts."""
        self.late = 0
        """The number of older blocks that came after the total was spent."""
        self._measure = measure
        self._title = inert(title(entry))
        self._notes = notes(entry)
        self.line_size = measure.size(self._line(""))
        """The size of the heading."""

    def _line(self, count: str) -> str:
        """Return the heading. An empty line ends a block that has no texts."""
        end = "\n" if self._has_texts else "\n\n"
        return f"### {self._title}{with_count(self._notes, count)}{end}"

    def growth(self) -> int:
        """Return how much the heading grows if it counts one more older block."""
        line = self._line(count_note(self.entry, self.earlier + 1, True))
        return self._measure.size(line) - self.line_size

    def _heading(self, walked_all: bool) -> str:
        """Return the heading. Blocks that came after the total was spent are counted if the number fits."""
        measured = self._line(count_note(self.entry, self.earlier, True))
        if not walked_all or not self.late + self.earlier:
            return measured
        exact = self._line(count_note(self.entry, self.earlier + self.late, False))
        size = self._measure.size(exact)
        if size > self.line_size:
            return measured
        self.line_size = size
        return exact


LEFT_OUT_HEADING: str = read_table("texts")["left_out_heading"]
EARLIER_RESULTS: str = read_table("texts")["earlier_results"]
MOST_LISTED = 20
LONGEST_LISTED = 100


def list_left_out(entries: list[Entry], room: int, measure: Measure, has_more: bool) -> str:
    """Return the section that names the newest blocks that were left out, as many as fit."""
    has_more = has_more or len(entries) > MOST_LISTED
    entries = entries[:MOST_LISTED]
    lines: list[str] = []
    room -= measure.size(LEFT_OUT_HEADING)
    end = EARLIER_RESULTS
    for number, entry in enumerate(entries, 1):
        line = f"- {inert_item(shorten(listed_title(entry), LONGEST_LISTED))}\n"
        is_last = number == len(entries) and not has_more
        size = measure.size(f"{line}\n") if is_last else measure.size(line) + measure.size(end)
        if size > room:
            has_more = True
            break
        room -= measure.size(line)
        lines.append(line)
    if not lines and (not entries or measure.size(end) > room):
        return ""
    return "".join((LEFT_OUT_HEADING, *lines, end if has_more else "\n"))


def listed_title(entry: Entry) -> str:
    """Return the title of a block in the list: the tool with its path or command, or the call."""
    name = title(entry)
    return name if section_of(entry) == "others" else f"{clean_line(entry.name, 40)}: {name}"


FRAMING: str = read_table("texts")["framing"]

_INCLUDE: dict[Section, str] = {
    "files": "include_files",
    "changes": "include_changes",
    "commands": "include_commands",
    "others": "include_others",
}

Trace = list[tuple[int, str, str]]


def excluding_setting(policy: CarryPolicy, entry: Entry) -> str:
    """Return the setting that excludes a block; empty if none does."""
    if entry.result is None and not policy.include_interrupted:
        return "include_interrupted"
    if entry.is_error and not policy.include_failed:
        return "include_failed"
    name = _INCLUDE[section_of(entry)]
    return "" if getattr(policy, name) else name


class Fill:
    """A context that is being filled. Blocks are offered newest first, until ``is_done``."""

    def __init__(self, policy: CarryPolicy, summary: str, trace: Trace | None = None) -> None:
        self._policy = policy
        self._trace = trace
        self._measure, self._total, self._limits = limits_of(policy)
        self.encoding = self._measure.encoding
        """The encoding whose tokens the total counts; ``None`` for characters."""
        self._left = (
            self._total
            - self._measure.size(f"{OPEN_MARKER}\n\n")
            - self._measure.size(CLOSE_MARKER)
        )
        self._sections: dict[Section, list[Candidate]] = {name: [] for name in SECTIONS}
        self._counted: dict[int, Candidate] = {}
        self._is_spent = False
        self._stopped_at: tuple[Candidate, list[Source]] | None = None
        self._listed: list[Entry] = []
        self.is_done = False
        self.shown = self.cut = self.left_out = 0
        self.excluded: dict[str, int] = {}
        self.superseded: dict[str, int] = {}
        self.summary_cut = self.budget_too_small = False
        self.block_tokens: list[tuple[int, int]] = []
        """The position and the tokens of each shown block, in the order of the context, if the total counts tokens."""
        self._plan = ""
        self._summary = ""
        if policy.include_summary:
            room = min(self._total // 2, self._left)
            fitted = fit_summary(summary, room, self._measure)
            self._summary, self.summary_cut, self.budget_too_small = fitted
            self._left -= self._measure.size(self._summary)

    def add_plan(self, section: str) -> None:
        """Show the section of the plan; without room for it, not everything fits."""
        size = self._measure.size(section)
        if size > self._left:
            self._is_spent = True
        else:
            self._plan = section
            self._left -= size

    def exclude(self, entry: Entry, reason: str) -> None:
        """Record a block that a setting, its branch or its scope excludes."""
        self.excluded[reason] = self.excluded.get(reason, 0) + 1
        if self._trace is not None:
            self._trace.append((entry.age, "excluded", reason))

    def supersede(self, entry: Entry, reason: str) -> None:
        """Record a block that another one supersedes."""
        if reason == "rule":
            self.exclude(entry, reason)
            return
        self.superseded[reason] = self.superseded.get(reason, 0) + 1
        if self._trace is not None:
            self._trace.append((entry.age, "superseded", reason))

    def count(self, newest: Entry) -> None:
        """Count one more older block in the heading of ``newest``, if that is shown."""
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
        """Show a block, or the part of it that fits, or leave it out."""
        reason = excluding_setting(self._policy, entry)
        if reason:
            self.exclude(entry, reason)
        elif not self._is_spent:
            self._try(entry)
        elif len(self._listed) < MOST_LISTED:
            self._listed.append(entry)
            self._leave_out(entry)
        else:
            self._leave_out(entry)
            self.is_done = True

    def _try(self, entry: Entry) -> None:
        """Show a block in full, or stop at it."""
        texts = sources(entry, self._policy.keep, references=self._policy.references)
        candidate = Candidate(entry, bool(texts), self._measure)
        room = self._left - self._heading_size(candidate)
        limits = self._limits.by_rule(entry.max_chars)
        fitted = fit_whole(texts, limits, room, self._measure)
        if fitted is not None:
            self._show(candidate, fitted, "limit")
        else:
            self._is_spent = True
            self._stopped_at = candidate, texts

    def _heading_size(self, candidate: Candidate) -> int:
        """Return the size of a block's heading, and of the section heading and the framing if it is the first block."""
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

    @property
    def fits_all(self) -> bool:
        """True if nothing that was offered had to be left out or cut for the total."""
        return not self._is_spent

    def text(self) -> str:
        """Return the finished context; empty if there is nothing to carry, or no room for it."""
        left_out = self._settle_stop()
        if not self.shown and not self._summary:
            self.budget_too_small = self.budget_too_small or self._is_spent
            return ""
        pieces = [OPEN_MARKER, "\n\n", self._summary, self._plan]
        for name, heading in SECTIONS.items():
            blocks = self._sections[name]
            if blocks:
                pieces.append(heading)
            for shown in reversed(blocks):
                pieces.append(shown._heading(not self.is_done))
                pieces.extend([part.text for part in shown.fenced])
                if self.encoding is not None:
                    self.block_tokens.append((shown.entry.position, shown.line_size + shown.size))
        pieces.append(left_out)
        if self.shown and self._policy.framing:
            pieces.append(FRAMING)
        pieces.append(CLOSE_MARKER)
        return "".join(pieces)

    def _settle_stop(self) -> str:
        """Show the part that fits of the block that spent the total, and return the list of the blocks before it."""
        room = min(self._total // 16, self._left // 2)
        listing = list_left_out(self._listed, room, self._measure, self.is_done)
        if self._stopped_at is None:
            return listing
        candidate, texts = self._stopped_at
        left = self._left - self._measure.size(listing) - self._heading_size(candidate)
        limits = self._limits.by_rule(candidate.entry.max_chars)
        fitted = fit_part(texts, limits, left, self._measure)
        if fitted is not None:
            self._show(candidate, fitted, "total")
            return listing
        self._leave_out(candidate.entry)
        return list_left_out([candidate.entry, *self._listed], room, self._measure, self.is_done)
