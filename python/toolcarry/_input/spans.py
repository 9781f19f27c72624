"""The offsets of the values in a JSON document, so that they can be copied as they are spelled."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
SCALAR = re.compile(rb"[^,\]}\s]+")
SPACE = re.compile(rb"[ \t\r\n]*")
OPENING = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*\[[ \t\r\n]*(?=[\[{])")


class Span(NamedTuple):
    """The offsets of a value."""

    start: int
    end: int


class Member(NamedTuple):
    """A member of an object: its name, the offset of the name, and its value."""

    name: str
    start: int
    value: Span


def value_at(data: bytes, start: int) -> Span:
    """Return the value that begins at an offset of a document; up to the end of it if it is not well-formed."""
    if data[start] == 0x22:
        found = STRING.match(data, start)
    elif data[start] in b"[{":
        depth = 0
        for token in TOKEN.finditer(data, start):
            byte = data[token.start()]
            depth += (byte in b"[{") - (byte in b"]}")
            if not depth:
                return Span(start, token.end())
        found = None
    else:
        found = SCALAR.match(data, start)
    return Span(start, len(data) if found is None else found.end())


def first_item(data: bytes) -> Span | None:
    """Return the first item of a document that is an array of objects or arrays; ``None`` for any other.

    >>> first_item(b'[{"a": 1}, 2]')
    Span(start=1, end=9)
    """
    found = OPENING.match(data)
    return None if found is None else value_at(data, found.end())


class Values:
    """The offsets of the values in a well-formed document. Results are cached."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._items: dict[int, list[Span]] = {}
        self._members: dict[int, list[Member]] = {}
        start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        self.root = value_at(data, self._skip(start))
        """The document, without a byte-order mark and white space."""

    def _skip(self, at: int) -> int:
        found = SPACE.match(self.data, at)
        return at if found is None else found.end()

    def items(self, span: Span) -> list[Span]:
        """Return the items of an array."""
        if span.start not in self._items:
            found: list[Span] = []
            at = self._skip(span.start + 1)
            while self.data[at] != 0x5D:
                found.append(value_at(self.data, at))
                at = self._skip(found[-1].end)
                if self.data[at] == 0x2C:
                    at = self._skip(at + 1)
            self._items[span.start] = found
        return self._items[span.start]

    def members(self, span: Span) -> list[Member]:
        """Return the members of an object, in their written order."""
        if span.start not in self._members:
            found: list[Member] = []
            at = self._skip(span.start + 1)
            while self.data[at] != 0x7D:
                name = value_at(self.data, at)
                colon = self._skip(name.end)
                value = value_at(self.data, self._skip(colon + 1))
                found.append(Member(json.loads(self.data[at : name.end]), at, value))
                at = self._skip(value.end)
                if self.data[at] == 0x2C:
                    at = self._skip(at + 1)
            self._members[span.start] = found
        return self._members[span.start]

    def member(self, span: Span, key: str) -> Member:
        """Return the member with a name. If there are several, the last one counts."""
        return next(member for member in reversed(self.members(span)) if member.name == key)

    def copy(self, span: Span) -> bytes:
        """Return a value as it is spelled."""
        return self.data[span.start : span.end]
