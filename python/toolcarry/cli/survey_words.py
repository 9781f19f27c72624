"""The wording of a survey: its parts and states, shares, token counts and times. Nothing here imports rich."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from toolcarry.types.models import scale_of

PARTS: Final = {
    "results": "tool results",
    "inputs": "tool inputs",
    "text": "text",
    "thinking": "thinking",
    "media": "media",
    "frame": "system, tools, protocol",
}
"""The wording of each part of a context."""
STATES: Final = {
    "needed": ("still needed", "green"),
    "superseded": ("superseded", "yellow"),
    "stale": ("stale", "yellow"),
    "repeated": ("repeated", "yellow"),
    "failed": ("failed", "red"),
}
"""The wording and the style of each state of a result."""


def share(part: int, total: int) -> str:
    """Return a share in percent. One that is not 0 is not shown as 0.

    >>> share(1, 3), share(1, 1_000), share(0, 3)
    ('33%', '<1%', '0%')
    """
    if not total:
        return ""
    return "<1%" if 0 < part / total < 0.005 else f"{part / total:.0%}"


def count_of(tokens: int, model: str, *, exact: bool) -> str:
    """Return a number of tokens, with the way in which they were counted.

    >>> count_of(1_234, "gpt-4o", exact=True), count_of(1_234, "claude-sonnet-4-5", exact=False)
    ('1,234 (exact)', 'about 1,234 (estimated for claude-sonnet-4-5)')
    """
    if exact:
        return f"{tokens:,} (exact)"
    if model and scale_of(model).factor != 1:
        return f"about {tokens:,} (estimated for {model})"
    return f"about {tokens:,} (as {scale_of(model).encoding}; the model's own count is not known)"


def times(first: datetime | None, last: datetime | None) -> str:
    """Return two times in UTC, to the minute; without what both have in common.

    >>> from datetime import UTC
    >>> times(datetime(2026, 3, 14, 9, 12, tzinfo=UTC), datetime(2026, 3, 14, 10, 2, tzinfo=UTC))
    '2026-03-14 09:12 to 10:02 UTC'
    """
    if first is None or last is None:
        return ""
    same_day = first.date() == last.date()
    end = f"{last:%H:%M}" if same_day else f"{last:%Y-%m-%d %H:%M}"
    begin = f"{first:%Y-%m-%d %H:%M}"
    return f"{begin} UTC" if begin.endswith(end) and same_day else f"{begin} to {end} UTC"
