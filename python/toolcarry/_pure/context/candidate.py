"""A block that is offered to a context."""

from __future__ import annotations

from toolcarry._pure.context.block import count_note, notes, section_of, sources, title, with_count
from toolcarry._pure.context.fence import Fenced, Source
from toolcarry._pure.context.limits import Measure
from toolcarry._pure.pairing.block import Entry
from toolcarry.types import KeepText


class Candidate:
    """A block that is offered: its heading's parts, and once it is shown, its texts and what its heading counts."""

    __slots__ = (
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
        "sources",
    )

    def __init__(self, entry: Entry, keep: KeepText, measure: Measure) -> None:
        self.entry = entry
        self.section = section_of(entry)
        self.sources: list[Source] = sources(entry, keep)
        self.fenced: list[Fenced] = []
        self.size = 0
        """What these take."""
        self.earlier = 0
        """How many older blocks its heading counts."""
        self.late = 0
        """How many came after the total was spent."""
        self._measure = measure
        self._title = title(entry)
        self._notes = notes(entry)
        self.line_size = measure.size(self._line(""))
        """What the heading takes."""

    def _line(self, count: str) -> str:
        """The heading; an empty line ends a block that has nothing else."""
        end = "\n" if self.sources else "\n\n"
        return f"### {self._title}{with_count(self._notes, count)}{end}"

    def growth(self) -> int:
        """How much more the heading takes that counts one older block more."""
        line = self._line(count_note(self.entry, self.earlier + 1, True))
        return self._measure.size(line) - self.line_size

    def heading(self, walked_all: bool) -> str:
        """The heading. What came after the total was spent is counted where its number has room."""
        measured = self._line(count_note(self.entry, self.earlier, True))
        if not walked_all or not self.late + self.earlier:
            return measured
        exact = self._line(count_note(self.entry, self.earlier + self.late, False))
        size = self._measure.size(exact)
        if size > self.line_size:
            return measured
        self.line_size = size
        return exact
