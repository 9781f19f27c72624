"""The offsets of the members of a request body, and of its messages."""

from __future__ import annotations

from typing import Final, TypeAlias

from toolcarry._data import read_table
from toolcarry._input.json import loads
from toolcarry._input.spans import Values
from toolcarry.errors import InputError

__all__ = ["BodySpans", "split_body"]

LISTS: Final[tuple[str, ...]] = tuple(read_table("documents")["request_lists"])
"""The members of a request that may hold its messages."""

BodySpans: TypeAlias = tuple[dict[str, tuple[int, int]], str, list[tuple[int, int]]]
"""The offsets of each member's value; the name of the member that is the list of the messages, or an empty name; and the
offsets of the messages."""


def split_body(body: bytes) -> BodySpans | None:
    """Return the offsets of the members and messages of a body; ``None`` if it is not an object in JSON.

    Of two members with one name the last one counts.

    >>> split_body(b'{"model": "m", "messages": [{}, 1]}')
    ({'model': (10, 13), 'messages': (27, 34)}, 'messages', [(28, 30), (32, 33)])
    """
    try:
        document = loads(body)
    except InputError:
        return None
    if not isinstance(document, dict):
        return None
    values = Values(body)
    members = {member.name: member.value for member in values.members(values.root)}
    key = next((key for key in LISTS if isinstance(document.get(key), list)), "")
    items = values.items(members[key]) if key else []
    spans = {name: (span.start, span.end) for name, span in members.items()}
    return spans, key, [(span.start, span.end) for span in items]
