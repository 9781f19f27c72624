"""The ways to read a text in which a secret may hide: as it is, without its escapes, and decoded from Base64.

A log line quotes JSON, JSON holds JSON, an address escapes its query. There ``\\\\n`` stands for a line break, and ``n`` is no
letter before a secret. A view is what such a text says, with the places of its characters in the original.
"""

from __future__ import annotations

import re
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

__all__ = ["View", "views"]

MAX_LAYERS: Final = 4
"""The maximum number of times that escapes are removed: ``%5Cn`` has two layers."""
# Any number of backslashes is one: JSON in JSON doubles them. https://www.rfc-editor.org/rfc/rfc8259#section-7, the repr of
# Python's strings and bytes, and https://www.rfc-editor.org/rfc/rfc3986#section-2.1.
# It begins with a set of two characters, which the engine looks for quickly: the interpreter waits for it.
ESCAPE: Final = re.compile(
    rb"""[\\%](?<!\\\\)(?:(?<=\\)\\*+(?:(?P<letter>["'/abfnrtv0])|u(?P<code>[0-9A-Fa-f]{4})|x(?P<byte>[0-7][0-9A-Fa-f]))"""
    rb"""|(?<=%)(?P<percent>[2-7][0-9A-Fa-f]|0[9AaDd])"""
    rb"""|(?P<utf8>(?:(?<=\\)\\*+x|(?<=%))[C-Fc-f][0-9A-Fa-f](?:(?:\\++x|%)[89ABab][0-9A-Fa-f]){1,3}))"""
)
SIGN: Final = re.compile(rb"\\+x|%")
LETTERS: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", **{bytes([it]): b" " for it in b"abfv0"}}
BASE64: Final = re.compile(
    rb"(?:[A-Za-z0-9+/_-]{40,}+\r?\n)++[A-Za-z0-9+/_-]*+={0,2}|[A-Za-z0-9+/_-]{24,}+={0,2}"
)
"""Lines of Base64, or one of at least 18 bytes, as long as the shortest secrets."""
SHORTEST: Final = 24
WINDOW: Final = 1 << 17
"""The bytes that are searched at once: other threads wait for the search, which finds nothing in most texts."""
UNSAFE_ALPHABET: Final = bytes.maketrans(b"-_", b"+/")
PRINTABLE: Final = bytes([*range(32, 127), 9, 10, 13])


class View:
    """A reading of ``original``: ``text``, whose parts begin at ``starts``, and in the original at ``origins``."""

    def __init__(self, text: bytes, starts: list[int], origins: list[int], end: int) -> None:
        self.text = text
        self._starts = starts
        self._origins = origins
        self._end = end

    def origin(self, position: int) -> int:
        """Return the place in the original of a character, or of the end of the one before it."""
        if position >= len(self.text):
            return self._end
        part = bisect_right(self._starts, position) - 1
        return self._origins[part] + position - self._starts[part]


def views(raw: bytes) -> Iterator[View]:
    """Yield the text as it is, and then without its escapes, if it has any."""
    view = View(raw, [0], [0], len(raw))
    yield view
    for _ in range(MAX_LAYERS):
        if b"\\" not in view.text and b"%" not in view.text:
            return
        inner = unescaped(view)
        if inner is None:
            return
        view = inner
        yield view


def unescaped(outer: View) -> View | None:
    """Return a view without the escapes of another one; ``None`` if it has none."""
    pieces: list[bytes] = []
    starts, origins = [0], [outer.origin(0)]
    position = size = 0
    for match in ESCAPE.finditer(outer.text):
        before = outer.text[position : match.start()]
        for piece, origin in ((before, match.start()), (said(match), match.end())):
            pieces.append(piece)
            size += len(piece)
            starts.append(size)
            origins.append(outer.origin(origin))
        position = match.end()
    if not pieces:
        return None
    pieces.append(outer.text[position:])
    return View(b"".join(pieces), starts, origins, outer.origin(len(outer.text)))


def said(escape: re.Match[bytes]) -> bytes:
    """Return what an escape stands for, as UTF-8."""
    kind, text = escape.lastgroup, escape[escape.lastgroup or 0]
    if kind == "letter":
        return LETTERS.get(text, text)
    if kind == "code":
        return chr(int(text, 16)).encode("utf-8", "replace")
    text = escape[0] if kind == "utf8" else text
    return bytes.fromhex(SIGN.sub(b"", text).decode()).decode("utf-8", "replace").encode()


def base64_texts(raw: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the start and the end of each text that is written in Base64, and what it says.

    Letters may stand before it, so that it may begin at any of four characters.
    """
    for match in written_in(raw):
        written = match[0].translate(UNSAFE_ALPHABET, b"\r\n=")
        for skipped in range(4):
            part = written[skipped:]
            text = b64decode(part[: len(part) - (len(part) % 4 == 1)] + b"==")
            if len(text.translate(None, PRINTABLE)) * 4 <= len(text):
                yield match.start(), match.end(), text.decode("utf-8", "replace").encode()


def written_in(raw: bytes) -> Iterator[re.Match[bytes]]:
    """Yield what ``BASE64.finditer`` does, and let other threads work between the windows."""
    at = 0
    while at < len(raw):
        end = min(at + WINDOW, len(raw))
        match = BASE64.search(raw, at, end)
        if match is None:
            at = end if end == len(raw) else end - SHORTEST
            continue
        if match.end() + 2 >= end:  # it may go on
            match = BASE64.match(raw, match.start()) or match
        yield match
        at = match.end()
