"""The words of a message or a result, whose content is a text or a list of parts."""

from __future__ import annotations

from typing import Any

__all__ = ["words_of"]


def words_of(content: Any) -> str:
    """Return the text of a content, its parts joined by line breaks; empty without one.

    >>> words_of([{"type": "text", "text": "forty"}, {"type": "image"}]), words_of(None)
    ('forty', '')
    """
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if part.get("type") == "text")
