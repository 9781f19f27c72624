"""The guard of the history: counts, logs or refuses results that were cut before they were written.

Invariant ``transport_truncation_must_not_mutate_canonical_history``: what a host, a stream or a projection cut on its
way must not pass for the result itself. The guard never changes text. It sees the drafts that ``canonical`` flagged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from toolcarry import metrics
from toolcarry._util.plural import counted
from toolcarry.errors import InputError
from toolcarry.redact.logs import get_logger
from toolcarry.tract.canonical import FLAG
from toolcarry.tract.store.log import Draft
from toolcarry.tract.store.types import CommitInfo

__all__ = ["ON_TRUNCATED_WRITE", "Guard", "OnTruncatedWrite", "is_flagged"]

logger = get_logger("toolcarry.tract")

OnTruncatedWrite: TypeAlias = Literal["count", "warn", "raise"]
ON_TRUNCATED_WRITE: Final = ("count", "warn", "raise")
MOST_NAMED: Final = 5
"""The maximum number of results that one line of the log names."""


def is_flagged(found: Draft | CommitInfo) -> bool:
    """Return true if it is a result that is flagged as cut."""
    return FLAG in found.metadata


class Guard:
    """Acts on flagged results: ``count`` counts them, ``warn`` also logs them, ``raise`` refuses them.

    ``counts["legacy_truncated"]`` is the number of those that were written.
    """

    def __init__(self, mode: OnTruncatedWrite, counts: Counter[str]) -> None:
        self.mode: Final = mode
        self._counts = counts

    def check(self, drafts: Iterable[Draft]) -> None:
        """Raise ``InputError`` if a draft is flagged and the mode is ``raise``."""
        if self.mode != "raise":
            return
        for draft in drafts:
            if is_flagged(draft):
                name = draft.metadata.get("name")
                raise InputError(
                    f"content: the result of {name!r} was already cut when it arrived", None
                )

    def tell(self, written: Iterable[Draft | CommitInfo]) -> int:
        """Count and log the flagged results among those that were written, and return their number.

        The log names their calls and tools, and nothing of their text.
        """
        flagged = list(filter(is_flagged, written))
        if not flagged:
            return 0
        self._counts[FLAG] += len(flagged)
        metrics.count("canonical_writes_with_truncation_marker", len(flagged))
        if self.mode == "warn":
            names = ", ".join(map(call_name, flagged[:MOST_NAMED]))
            more = f" and {len(flagged) - MOST_NAMED:,} more" if len(flagged) > MOST_NAMED else ""
            logger.warning(
                "cut before they arrived here, and stored unchanged: %s: %s%s",
                counted(len(flagged), "tool result"), names, more,
            )  # fmt: skip
        return len(flagged)


def call_name(found: Draft | CommitInfo) -> str:
    """Return the id and the tool of a result's call."""
    call_id, name = found.metadata.get("tool_call_id"), found.metadata.get("name")
    return f"call {call_id!r:.80} of {name!r:.80}"
