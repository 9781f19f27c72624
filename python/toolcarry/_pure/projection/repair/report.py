"""The corrections of a request, for the report."""

from __future__ import annotations

from toolcarry._pure.projection.edits import Path
from toolcarry.types.values import Mend


class Mends:
    """The corrections of a request, in the order in which they were made."""

    def __init__(self) -> None:
        self.made: list[Mend] = []
        self.left_out: set[Path] = set()
        """The paths of the results that were left out."""
        self.gone_calls: set[int] = set()
        """The calls that were left out, by the order of the entry."""
        self.texts: dict[int, str] = {}
        """The new texts of results that were missing or empty, by the order of the entry."""
        self.moved: list[int] = []
        """The positions of the messages that are in the system prompt now."""
        self.names: dict[str, str] = {}
        """The names of tools before their correction, by the new ones."""
        self.open_kinds: set[str] = set()
        """The unrepaired rest: kinds of calls without a possible result, and unpaired parts of server tools.
        """

    def add(self, kind: str, position: int | None, call_id: str = "", detail: str = "") -> None:
        """Add a correction: one of ``MENDS``, with its message and its call."""
        self.made.append(Mend(kind, position, call_id, detail))
