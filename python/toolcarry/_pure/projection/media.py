"""The images, documents and sounds in a result: they stay whole, or are cleared with the result.

A limit on a result counts the line that stands for a medium in a context. Part of such a line, or of a URL, would be of
no use to anybody, so that only the text next to media is cut. A data URL that a tool returned as text is a medium, too,
but its provider receives all of its characters: a limit counts those, and for tokens an image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from toolcarry._input.objects import as_list, as_object
from toolcarry._pure.content import is_media, part_text
from toolcarry._pure.projection.result_slot import ResultSlot, data_url_of, words_of
from toolcarry._pure.tokens.messages import MEDIA_TOKENS


class Media(NamedTuple):
    """The media of a result."""

    labels: str = ""
    """Their kinds, such as ``image, document``; empty without media."""
    beside: str = ""
    """The lines of those that stay if the text is cut."""
    is_whole: bool = False
    """True if the text consists of such lines, and can't be cut."""
    url_chars: int = 0
    """The characters by which data URLs are longer than their lines."""
    url_tokens: int = 0
    """The tokens of the images that data URLs are."""

    def cleared(self, chars: int) -> str:
        """Return what a marker says of a cleared result; empty without media."""
        if not self.labels or self.is_whole:
            return self.labels
        return f"{chars:,} characters and {self.labels}"


def media_of(slot: ResultSlot | None) -> Media:
    """Return the media in the content of a result."""
    if slot is None or slot.is_json():
        return Media()
    content = slot.answer()
    blocks = slot.blocks()
    parts = as_list(content) if blocks is None else blocks
    inner = [content] if parts is None else parts
    own, rest = lines_of(inner), lines_of(slot.response_parts())
    lines = own + rest
    if not lines:
        return Media()
    is_whole = bool(own) and all(words_of(part) is None for part in inner)
    labels = ", ".join(dict.fromkeys(map(label_of, lines)))
    urls = [url for url in map(data_url_of, inner) if url is not None]
    url_chars = sum([len(url) - len(part_text(url, 0)) for url in urls])
    return Media(
        labels,
        "\n".join(rest if is_whole else lines),
        is_whole,
        max(url_chars, 0),
        MEDIA_TOKENS * len(urls),
    )


def lines_of(parts: Sequence[object]) -> list[str]:
    """Return the lines of the media among the parts of a result."""
    return [part_text(part, 0) for part in parts if _is_medium(part)]


def _is_medium(part: object) -> bool:
    """Return true if a part is a medium, or a data URL."""
    if data_url_of(part) is not None:
        return True
    found = as_object(part)
    return found is not None and is_media(found)


def label_of(line: str) -> str:
    """Return the kind of a medium.

    >>> label_of("[image: image/png, 2 bytes]"), label_of("[document]")
    ('image', 'document')
    """
    end = line.find(":")
    return line[1 : line.find("]") if end < 0 else end]
