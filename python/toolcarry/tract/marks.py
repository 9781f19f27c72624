"""Results that were cut before they came here: they are kept, and said to be what they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from toolcarry import _backend
from toolcarry._pure.projection.marker import is_marker
from toolcarry.errors import InputError
from toolcarry.tract.store.log import Draft
from toolcarry.tract.values import CommitInfo

__all__ = ["count_truncated", "flag_truncated", "is_flagged", "is_truncated", "refuse_truncated"]

FLAG: Final = "legacy_truncated"

# Ours at the end of a cut text, or on the line between its two ends; and what other tools write there.
MARK: Final = re.compile(
    r"\.\.\. ?\[truncated(?:\]|: )"
    r"|^\[toolcarry: [0-9,]+ of [0-9,]+ characters; whole: [^\]\n]+\]$"
    r"|\[(?:output |content |response |result )?truncated\]\s*\Z"
    r"|<(?:response|output) clipped>",
    re.MULTILINE | re.IGNORECASE,
)
ENDS: Final = 2_000
"""Characters of either end in which a mark is looked for, beside the middle of a text that is not longer than both."""


def is_truncated(text: str) -> bool:
    """Whether a text says that it was cut, or is a marker that stands for a result.

    A mark is looked for where cutting leaves one: near the ends, not in the midst of a long text that may be about such marks.

    >>> is_truncated("line 1\\n... [truncated]"), is_truncated("3 passed")
    (True, False)
    """
    if not _backend.kernels.has_cut_word(
        text, ENDS
    ):  # which takes next to no time, and a marker has one, too
        return False
    return (
        is_marker(text)
        or MARK.search(text[-ENDS:]) is not None
        or MARK.search(text[:ENDS]) is not None
    )


def flag_truncated(metadata: dict[str, Any], text: str) -> None:
    """Note in the metadata of a result that its text was cut."""
    if is_truncated(text):
        metadata[FLAG] = True


def count_truncated(found: Iterable[Draft | CommitInfo]) -> int:
    """How many of them are flagged."""
    return sum(map(is_flagged, found))


def is_flagged(found: Draft | CommitInfo) -> bool:
    """Whether it is a result whose text says that it was cut."""
    return FLAG in found.metadata


def refuse_truncated(drafts: Iterable[Draft]) -> None:
    """Raise ``InputError`` where one is flagged."""
    for draft in drafts:
        if FLAG in draft.metadata:
            name = draft.metadata.get("name")
            raise InputError(f"content: the result of {name!r} was cut before it came here", None)
