"""What was mended, as the report tells it."""

from __future__ import annotations

from toolcarry._pure.projection.edits import Path
from toolcarry.types import MendFields


class Mends:
    """The mends of a request, in the order in which they were made."""

    def __init__(self) -> None:
        self.made: list[MendFields] = []
        self.left_out: set[Path] = set()
        """Where the results stood that were left out."""
        self.open_kinds: set[str] = set()
        """What stays as it is: kinds of calls for which no result can be made, and what stands alone of a provider's own."""

    def add(self, kind: str, position: int | None, call_id: str = "", detail: str = "") -> None:
        """Note a mend: one of ``MENDS``, in which message, of which call."""
        self.made.append((kind, position, call_id, detail))
