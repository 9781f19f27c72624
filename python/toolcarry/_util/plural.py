"""Numbers with their nouns: one call, but two calls."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> counted(1, "call"), counted(2_000, "call")
    ('1 call', '2,000 calls')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
