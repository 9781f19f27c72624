"""Large JSON documents: msgspec finds the values, and orjson decodes them one by one."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import orjson

from toolcarry._input.json import LARGE

__all__ = ["ITEMS", "MEMBERS", "loads_in_parts"]

MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])
"""Decoders that only find where the values are. Of two members of one name, only the last is looked at."""
START: Final = 256
"""The bytes in which the first bracket of a large document is looked for."""


def loads_in_parts(data: bytes) -> Any:
    """Decode a large array, or an object with one, item by item.

    orjson needs as much memory again as the text that it decodes, and no other thread runs until it is done.
    """
    try:
        if data[:START].lstrip().startswith(b"["):
            return loads_items(data)
        members = {name: memoryview(value) for name, value in MEMBERS.decode(data).items()}
        name = max(members, key=lambda name: len(members[name]), default="")
        value = members.get(name, memoryview(b""))
        size = len(value)
        if size >= LARGE and value[0] == ord("["):
            start = data.find(value)
            document = orjson.loads(b"".join((data[:start], b"null", data[start + size :])))
            if document.get(name, name) is None:  # else the same text stands in a string, too
                document[name] = loads_items(value)
                return document
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass  # orjson says what is wrong
    return orjson.loads(data)


def loads_items(array: bytes | memoryview) -> list[Any]:
    """Decode the items of an array one by one."""
    return [orjson.loads(memoryview(item)) for item in ITEMS.decode(array)]
