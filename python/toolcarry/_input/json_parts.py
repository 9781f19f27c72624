"""Large JSON documents: msgspec finds the values, and orjson decodes them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, overload

import msgspec
import orjson

from toolcarry._input.json import LARGE, loads_any_depth, loads_slowly
from toolcarry.errors import InputError

__all__ = ["ITEMS", "MEMBERS", "Items", "loads_in_parts", "split_array"]

MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])
"""Decoders that only find where the values are. Of two members of one name, only the last is looked at."""
START: Final = 256
"""The bytes in which the first bracket of a large document is looked for."""


class Items(Sequence[Any]):
    """The items of an array. Each is decoded whenever it is asked for, and is not kept."""

    def __init__(self, array: bytes | memoryview) -> None:
        self._items = ITEMS.decode(array)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        item = memoryview(self._items[index])
        try:
            return orjson.loads(item)
        except orjson.JSONDecodeError:
            return loads_slowly(bytes(item))


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
            document = loads_any_depth(b"".join((data[:start], b"null", data[start + size :])))
            if document.get(name, name) is None:  # else the same text stands in a string, too
                document[name] = place
                return document, place, Items(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InputError):
        pass  # the decoder of the whole document says what is wrong
    return None
