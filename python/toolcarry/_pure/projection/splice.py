"""Write a projection of bytes: changed parts are written, and everything else is copied byte by byte.

The comma and the white space between two parts are kept if the same parts still follow one another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from toolcarry._input.json import compact_json
from toolcarry._input.spans import Span, Values
from toolcarry._pure.projection.edits import Draft, Members, NewValue, Original, Parts, Path

_CHARACTER = re.compile(
    rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]+"
)
"""A character in a JSON string. Two escapes may be one character."""


class Spans(Values):
    """The offsets of the values in the body of a request."""

    def __init__(self, data: bytes, key: str | None) -> None:
        """``key`` is the member that holds the messages; ``None`` if the document is the list of messages."""
        super().__init__(data)
        self.key = key
        self.messages = self.root if key is None else self.member(self.root, key).value

    def at(self, path: Path) -> Span:
        """Return the offsets of the value at a path: from the messages, or from the document if it begins with a key."""
        span = self.root if path and isinstance(path[0], str) else self.messages
        for step in path:
            span = (
                self.items(span)[step] if isinstance(step, int) else self.member(span, step).value
            )
        return span

    def write(self, drafts: Sequence[Draft] | None, frame: Members) -> bytes:
        """Return the document with these messages (``None``: its own) and these changes of its other members."""
        members = dict(frame)
        if drafts is not None:
            messages = Parts((), [*drafts])
            if self.key is None:
                return self._around(self.messages, self._write(messages))
            members[self.key] = messages
        return self._around(self.root, self._object(self.root, members))

    def _around(self, span: Span, new: bytes) -> bytes:
        """Return the document with another value at a span."""
        return self.data[: span.start] + new + self.data[span.end :]

    def _write(self, draft: Draft | Parts) -> bytes:
        if isinstance(draft, NewValue):
            return self._made(draft)
        if isinstance(draft, Original):
            return self.copy(self.at(draft.path))
        if isinstance(draft, Parts):
            span = None if draft.path is None else self.at(draft.path)
            return self._list(span, draft.items, draft.path)
        return self._object(None if draft.path is None else self.at(draft.path), draft.members)

    def _made(self, draft: NewValue) -> bytes:
        """Return a new value. The ends that it shares with an old text are copied as they are written."""
        if draft.ends is None:
            return _dumps(draft.value)
        path, first, last = draft.ends
        old = self.copy(self.at(path))[1:-1]
        ends = [0, *(found.end() for found in _CHARACTER.finditer(old))]
        middle = _dumps(draft.value[first : len(draft.value) - last])[1:-1]
        return b'"%b%b%b"' % (old[: ends[first]], middle, old[ends[len(ends) - 1 - last] :])

    def _list(self, span: Span | None, drafts: Sequence[Draft], path: Path | None) -> bytes:
        """Return an array of drafts. ``path`` is the path of the array that kept items come from."""
        spans = [] if span is None else self.items(span)
        written: list[tuple[int | None, bytes]] = []
        for draft in drafts:
            own = None if isinstance(draft, NewValue) or draft.path is None else draft.path
            is_here = path is not None and own is not None and own[:-1] == path
            index = own[-1] if is_here and own is not None else None
            written.append((index if isinstance(index, int) else None, self._write(draft)))
        return b"[" + self._join(span, spans, written) + b"]"

    def _object(self, span: Span | None, changes: Members) -> bytes:
        """Return the object at a span, or a new one, with some members replaced, removed or added."""
        members = [] if span is None else self.members(span)
        last = {member.name: index for index, member in enumerate(members)}
        written: list[tuple[int | None, bytes]] = []
        for index, member in enumerate(members):
            change = changes.get(member.name)
            if member.name not in changes or (change is not None and last[member.name] != index):
                written.append((index, self.copy(Span(member.start, member.value.end))))
            elif change is not None:
                name = self.copy(Span(member.start, member.value.start))
                written.append((index, name + self._write(change)))
        for key, change in changes.items():
            if key not in last and change is not None:
                written.append((None, _dumps(key) + b":" + self._write(change)))
        spans = [Span(member.start, member.value.end) for member in members]
        return b"{" + self._join(span, spans, written) + b"}"

    def _join(
        self, outer: Span | None, spans: Sequence[Span], written: Iterable[tuple[int | None, bytes]]
    ) -> bytes:
        """Return the inside of an array or object. Parts that still follow one another keep the bytes between them."""
        found: list[bytes] = []
        before: int | None = -1
        for index, text in written:
            follows = index is not None and before is not None and index == before + 1
            if follows and index is not None and outer is not None:
                start = spans[index - 1].end if index else outer.start + 1
                found.append(self.copy(Span(start, spans[index].start)))
            elif found:
                found.append(b",")
            found.append(text)
            before = index
        if outer is not None and spans and before == len(spans) - 1:
            found.append(self.copy(Span(spans[-1].end, outer.end - 1)))
        return b"".join(found)


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
