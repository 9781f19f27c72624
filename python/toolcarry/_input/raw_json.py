"""Bodies that are written again: what does not change is copied as it is spelled.

A decoder makes floats of long integers, and infinity of ``1e400``. So the values of a body that stay are never encoded
from what was decoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from toolcarry._input.json import dump, loads_any_depth
from toolcarry._input.json_parts import ITEMS, MEMBERS
from toolcarry._input.spans import Values
from toolcarry.errors import InputError

__all__ = ["split_object", "write_array", "write_object", "written_items", "written_members"]


def written_members(body: bytes) -> dict[str, bytes]:
    """Return the members of an object as they are spelled. Raises ``InputError`` for anything else.

    >>> written_members(b'{"a": 1e400, "b": [1.10]}')
    {'a': b'1e400', 'b': b'[1.10]'}
    """
    if not isinstance(
        loads_any_depth(body), dict
    ):  # to split it, msgspec does not check everything
        raise InputError("not an object", None)
    return split_object(body)


def split_object(body: bytes) -> dict[str, bytes]:
    """Return the members of an object as they are spelled; the caller has decoded it, so it is well-formed."""
    try:
        return {name: bytes(value) for name, value in MEMBERS.decode(body).items()}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # half of a surrogate pair
        values = Values(body)
        return {member.name: values.copy(member.value) for member in values.members(values.root)}


def written_items(array: bytes) -> list[bytes]:
    """Return the items of a well-formed array as they are spelled.

    >>> written_items(b'[1.10, {"a": 2}]')
    [b'1.10', b'{"a": 2}']
    """
    try:
        return [bytes(item) for item in ITEMS.decode(array)]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        values = Values(array)
        return [values.copy(item) for item in values.items(values.root)]


def write_object(members: Mapping[str, bytes]) -> bytes:
    """Return an object of members that are written already.

    >>> write_object({"a": b"1e400"})
    b'{"a":1e400}'
    """
    return b"{%b}" % b",".join([b"%b:%b" % (dump(name), value) for name, value in members.items()])


def write_array(items: Sequence[bytes]) -> bytes:
    """Return an array of items that are written already."""
    return b"[%b]" % b",".join(items)
