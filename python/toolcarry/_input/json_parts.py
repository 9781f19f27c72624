"""Large JSON documents: msgspec finds the values, and orjson decodes them one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Self, SupportsIndex, overload

import msgspec
import orjson

from toolcarry._input.json_slowly import loads_slowly
from toolcarry.errors import InputError

__all__ = ["ITEMS", "LARGE", "MEMBERS", "Items", "loads_in_parts", "loads_lazily", "split_array"]

MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])
"""Decoders that only find where the values are. Of two members of one name, only the last is looked at."""
LARGE: Final = 1 << 20
"""The bytes from which a document is decoded in parts."""
START: Final = 256
"""The bytes in which the first bracket of a large document is looked for."""


class Items(tuple[Any, ...]):  # noqa: SLOT001 - a tuple has room for no other slots
    """The items of a large array. Each is decoded whenever it is asked for, and is not kept.

    It counts as a tuple, so that it may stand in a document in the place of the array.
    """

    _items: list[msgspec.Raw]

    def __new__(cls, array: bytes | memoryview) -> Self:
        self = super().__new__(cls)
        self._items = ITEMS.decode(array)
        return self

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return (loads_lazily(memoryview(item)) for item in self._items)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            return tuple(loads_lazily(memoryview(item)) for item in self._items[index])
        return loads_lazily(memoryview(self._items[index]))


def loads_lazily(data: bytes | memoryview) -> Any:
    """Decode JSON, but not the items of large arrays: of the document, of its members, or of members of such items.

    >>> items = loads_lazily(b'[{"n": [%s]}]' % b", ".join([b"7"] * 400_000))
    >>> type(items).__name__, type(items[0]["n"]).__name__, items[0]["n"][-1]
    ('Items', 'Items', 7)
    """
    start = bytes(data[:START]).lstrip()[:1] if len(data) >= LARGE else b""
    try:
        if start == b"[":
            return Items(data)
        if start == b"{":
            members = MEMBERS.decode(data).items()
            return {name: loads_lazily(memoryview(value)) for name, value in members}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass  # the decoder of the whole value says what is wrong
    return loads_whole(data)


def loads_whole(data: bytes | memoryview) -> Any:
    """Decode JSON at once."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return loads_slowly(bytes(data))


def loads_in_parts(data: bytes) -> Any:
    """Decode a large array, or an object with one, item by item.

    orjson needs as much memory again as the text that it decodes, and no other thread runs until it is done.
    """
    found = split_array(data)
    if found is None:
        return orjson.loads(data)
    document, place, items = found
    try:
        place.extend(items)
    except InputError:
        return orjson.loads(data)
    return document


def split_array(data: bytes) -> tuple[Any, list[Any], Items] | None:
    """Return a large document without the items of its largest array, their empty place in it, and the items.

    ``None`` if there is no large array that is the document, or a member of it.
    """
    place: list[Any] = []
    try:
        if data[:START].lstrip().startswith(b"["):
            return place, place, Items(data)
        members = {name: memoryview(value) for name, value in MEMBERS.decode(data).items()}
        name = max(members, key=lambda name: len(members[name]), default="")
        value = members.get(name, memoryview(b""))
        size = len(value)
        if size >= LARGE and value[0] == ord("["):
            start = data.find(value)
            document = loads_whole(b"".join((data[:start], b"null", data[start + size :])))
            if document.get(name, name) is None:  # else the same text stands in a string, too
                document[name] = place
                return document, place, Items(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InputError):
        pass  # the decoder of the whole document says what is wrong
    return None
