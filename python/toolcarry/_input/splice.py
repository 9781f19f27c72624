"""Write a changed JSON document: what is the same object as before is copied byte by byte.

A changed document shares its unchanged values with the decoded one, as copies of lists and dicts do. So their bytes are
found by identity, at any depth, with the comma and the white space between two parts that still follow one another.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry._input.json import compact_json
from toolcarry._input.spans import Span, Values

__all__ = ["spliced"]


def spliced(data: bytes, old: Any, new: Any) -> bytes:
    """Return the bytes of ``new``, which was made from ``old``, the decoded ``data``.

    >>> data = b'{"a" : 1.50, "b":[ {"c":1} , 2 ]}'
    >>> old = {"a": 1.5, "b": [{"c": 1}, 2]}
    >>> spliced(data, old, {**old, "b": [*old["b"], 3]})
    b'{"a" : 1.50, "b":[ {"c":1} , 2,3]}'
    """
    spans = _Splice(data)
    root = spans.root
    return data[: root.start] + spans.written(root, old, new) + data[root.end :]


class _Splice(Values):
    """The spans of a document, from which a changed one is written."""

    def written(self, span: Span, old: Any, new: Any) -> bytes:
        """Return a value that takes the place of ``old`` at a span."""
        if new is old:
            return self.copy(span)
        if isinstance(new, dict) and isinstance(old, dict):
            return b"{" + self._object(span, old, new) + b"}"
        if isinstance(new, list) and isinstance(old, list):
            return b"[" + self._list(span, old, new) + b"]"
        return _dumps(new)

    def _list(self, span: Span, old: Sequence[Any], new: Sequence[Any]) -> bytes:
        spans = self.items(span)
        written: list[tuple[int | None, bytes]] = []
        for index, item in zip(origins_of(old, new), new, strict=True):
            made = _dumps(item) if index is None else self.written(spans[index], old[index], item)
            written.append((index, made))
        return self._join(span, spans, written)

    def _object(self, span: Span, old: dict[str, Any], new: dict[str, Any]) -> bytes:
        members = self.members(span)
        last = {member.name: index for index, member in enumerate(members)}
        written: list[tuple[int | None, bytes]] = []
        for index, member in enumerate(members):
            if member.name not in new:
                continue
            value, before = new[member.name], old[member.name]
            if value is before or last[member.name] != index:
                written.append((index, self.copy(Span(member.start, member.value.end))))
            else:
                name = self.copy(Span(member.start, member.value.start))
                written.append((index, name + self.written(member.value, before, value)))
        added = (key for key in new if key not in last)
        written += [(None, _dumps(key) + b":" + _dumps(new[key])) for key in added]
        return self._join(span, [Span(each.start, each.value.end) for each in members], written)

    def _join(
        self, outer: Span, spans: Sequence[Span], written: Iterable[tuple[int | None, bytes]]
    ) -> bytes:
        """Return the inside of an array or object. Parts that still follow one another keep the bytes between them."""
        found: list[bytes] = []
        before: int | None = -1
        for index, text in written:
            if index is not None and before is not None and index == before + 1:
                start = spans[index - 1].end if index else outer.start + 1
                found.append(self.copy(Span(start, spans[index].start)))
            elif found:
                found.append(b",")
            found.append(text)
            before = index
        if spans and before == len(spans) - 1:
            found.append(self.copy(Span(spans[-1].end, outer.end - 1)))
        return b"".join(found)


def origins_of(old: Sequence[Any], new: Sequence[Any]) -> list[int | None]:
    """Return the index of the old item that each new item was made from; ``None`` for one that has none.

    An item that is the same object was made from that, and an object from the one with which it shares a value. The
    others were made from those that are gone, in their order.

    >>> a, b, c = {"a": ["x"]}, {"b": ["y"], "n": 1}, {"c": ["z"]}
    >>> origins_of([a, b, c], [c, {**b, "n": 2}, {"a": ["w"]}, {"d": []}])
    [2, 1, 0, None]
    """
    places: defaultdict[int, list[int]] = defaultdict(list)
    owners: dict[int, int] = {}
    for index in range(len(old) - 1, -1, -1):
        item = old[index]
        places[id(item)].append(index)
        if isinstance(item, dict):
            owners |= {id(value): index for value in item.values() if _is_telling(value)}

    def origin_of(item: Any) -> int | None:
        if places.get(id(item)):
            return places[id(item)].pop()
        values = item.values() if isinstance(item, dict) else ()
        return next((owners[id(value)] for value in values if id(value) in owners), None)

    found = [origin_of(item) for item in new]
    taken = set(found)
    gone = iter([index for index in range(len(old)) if index not in taken])
    return [next(gone, None) if index is None else index for index in found]


def _is_telling(value: object) -> bool:
    """Return true if no other value is likely to be the same object: Python has each short text and number once."""
    return isinstance(value, (dict, list)) or (isinstance(value, str) and len(value) > 1)


def _dumps(value: object) -> bytes:
    """Return a new value as JSON, with lone surrogates as escapes."""
    text = compact_json(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _LONE.sub(_escape, text).encode()


_LONE = re.compile("[\ud800-\udfff]")


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
