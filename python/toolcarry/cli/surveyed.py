"""A file with its survey, as ``inspect`` sorts and shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcarry.types.results import ContextSurvey, Inspection


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A file with its survey. Of one file among several, ``context`` has no details."""

    name: str
    inspection: Inspection
    context: ContextSurvey
    is_detailed: bool

    def value(self, column: str) -> int:
        """Return a number by the name of its column."""
        if column == "tokens":
            return self.context.tokens
        if column == "bad_lines":
            return len(self.inspection.skipped_lines)
        value: int = getattr(self.inspection, column)
        return value

    def key(self, column: str) -> Any:
        """Return the key by which files are sorted."""
        if column == "file":
            return self.name
        if column == "last":
            last = self.context.session.last
            return 0.0 if last is None else -last.timestamp()
        return -self.value(column)

    def to_dict(self) -> dict[str, Any]:
        """Return the survey as plain values."""
        context = self.context.to_dict()
        if not self.is_detailed:
            context = {name: context[name] for name in ("tokens", "exact", "model", "session")}
        return {"file": self.name, **self.inspection.to_dict(), "context": context}
