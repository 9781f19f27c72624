"""The interface of an importer, and the value that it reads from one message."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from toolcarry._input.objects import JsonObject, as_list, as_object, each_object, text_or_empty
from toolcarry.errors import InputError
from toolcarry.importers.account import texts_of
from toolcarry.model.formats.foreign import Signs
from toolcarry.model.formats.message import ToolCall, ToolResult

__all__ = [
    "STEP",
    "About",
    "Accounting",
    "ConversationImporter",
    "Folding",
    "Imported",
    "Importer",
    "Signs",
    "ToolCall",
    "ToolResult",
    "as_text",
    "between",
    "each_object",
    "kind_of",
    "many",
    "marked",
    "medium",
    "nothing",
    "objects",
    "records",
    "shown_parts",
    "texts_of",
    "without",
]

MEDIA: Final = ("image", "audio", "video")
STEP: Final = "step-start"
"""The type of a part between the steps of a message: what follows was said after the results of the calls before it."""
SUMMARY: Final = "summary"
"""The speaker of a summary of earlier messages that the client wrote. It is distinguished from the user's own text."""
COVERING: Final = "covering summary"
"""The speaker of a summary whose earlier messages are present but inactive, so that nothing before it is repeated."""
CLIENT: Final = "client"
"""The speaker of any other text that the client wrote as the user's, such as a reminder of the format."""


class About(NamedTuple):
    """The facts about a producer that ``toolcarry formats`` lists."""

    producer: str
    recognised_by: str
    """The certain keys that only this producer writes."""
    tested_with: str
    """The version, or the public source, that the structure was read from."""
    is_documented: bool = True
    """False if the producer publishes neither its code nor the structure, so that it is known only from files."""


class Imported(NamedTuple):
    """The content of one message.

    Calls and results keep the producer's own objects (``wire``), which the blocks return to users.
    """

    name: str
    """The producer's format, for reports; empty if the message fits any format."""
    speaker: str = ""
    """The speaker, as the producer names it; empty if there is none."""
    content: object = None
    """The content: a string, or a list of parts. Calls and results in the list stay in place; others come after it. If
    a part is both a call and its result, the result goes before the next part that is not a call."""
    calls: Sequence[ToolCall] = ()
    results: Sequence[ToolResult] = ()
    rewritten: JsonObject | None = None
    """The message in a format that both backends read, for messages that differ from it in only one or two members. The
    fields above are then empty."""
    scope: str = ""
    """The sub-agent that the message belongs to; empty for the main conversation."""
    is_active: bool = True
    """False for a message that was taken back, or is on another branch."""
    sources: Sequence[str] = ()
    """The texts that the importer joined, split, or left out because they are repeated. Other texts that are in no
    imported message are reported as unread."""


class Importer(Protocol):
    """A module of this folder. Each function returns ``None`` for objects of other producers."""

    NAME: str
    ABOUT: About
    SIGNS: Signs

    def read(self, message: JsonObject) -> Imported | None:
        """Read a message."""

    def call(self, wire: JsonObject) -> ToolCall | None:
        """Read a call by itself, as in a ``ToolBlock``."""

    def result(self, wire: JsonObject) -> ToolResult | None:
        """Read a result by itself, as in a ``ToolBlock``."""


class ConversationImporter(Importer, Protocol):
    """An importer of whole conversations, for formats whose single messages can't all be recognised.

    If ``claims`` is true for one object, ``read`` is called for every message of the conversation before the backends
    see it.
    """

    def claims(self, message: JsonObject) -> bool:
        """Return true for a message, a record or a document that only this producer writes."""


@runtime_checkable
class Accounting(Protocol):
    """An importer of items that hold more than the conversation, or that repeat earlier states of it."""

    def accounted(self, items: Sequence[Any]) -> Iterable[Any]:
        """Return the values whose texts must be in the messages; missing ones are reported."""


@runtime_checkable
class Folding(Protocol):
    """An importer that must see all items at once: for events that form messages, branches, or messages in a
    document."""

    def fold(self, items: Sequence[Any]) -> Iterable[Any]:
        """Return one item for each given item if possible, so that positions stay the same.

        An item is an ``Imported``, an object for ``read``, or an empty object for what is merged into another one.
        Raises ``InputError`` for several conversations.
        """


class FoldingImporter(Importer, Folding, Protocol):
    """An importer of single messages that must see all of them if one of them covers others."""

    def folds(self, message: JsonObject) -> bool:
        """Return true for a message that requires ``fold`` to see all messages."""


def nothing(_wire: JsonObject) -> None:
    """Stand in for ``read``, ``call`` or ``result`` of an importer that has nothing to read there."""


def records(items: Iterable[Any]) -> Iterator[JsonObject]:
    """Yield an object for each item; an empty one for anything else.

    The items of a large file are decoded on each access, so an importer should read them twice rather than keep them.
    """
    return (as_object(item) or {} for item in items)


def objects(value: object) -> list[JsonObject]:
    """Return the objects of a list; none for anything else."""
    return list(each_object(value))


def kind_of(wire: JsonObject, key: str = "type") -> str:
    return text_or_empty(wire.get(key))


def shown_parts(
    value: object, silent: Iterable[str] = (), *, kind: str = "type", text: str = "text"
) -> object:
    """Return a content as parts that both backends read: texts, and what is unknown, which is then reported.

    ``silent`` are the types of parts that say nothing. A text stays what it is.
    """
    items = as_list(value)
    if items is None:
        return value if isinstance(value, str) or value is None else [value]
    found: list[object] = []
    for item in items:
        part = as_object(item)
        if part is None:
            found.append({"type": "text", "text": item} if isinstance(item, str) else item)
        elif isinstance(part.get(text), str) and kind_of(part, kind) in ("", "text", text):
            found.append({"type": "text", "text": part[text]})
        elif kind_of(part, kind) not in silent:
            found.append(part)
    return found


def medium(
    media_type: object, data: object = None, url: object = None, name: object = None
) -> JsonObject:
    """Return a part with an image, a document, audio or a video, by its data (base64, or bytes) or its URL.

    A data URL in base64 is data, and names the type if ``media_type`` is not a whole one.

    >>> medium("image/png", b"hi")
    {'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png', 'data': 'aGk='}}
    >>> medium("image/*", url="data:image/png;base64,aGk=") == medium("image/png", b"hi")
    True
    """
    named = text_or_empty(media_type).removesuffix("*")
    header, comma, encoded = url.partition(",") if isinstance(url, str) else ("", "", "")
    if comma and header.startswith("data:") and header.endswith(";base64"):
        named = named if "/" in named[:-1] else header[5:].partition(";")[0] or named
        data, url = encoded, None
    kind = named.partition("/")[0]
    if isinstance(data, bytes):
        data = base64.b64encode(data).decode()
    known = {} if named.endswith("/") else {"media_type": named}
    source = {"type": "url", "url": url} if data is None else {"type": "base64", **known, "data": data}  # fmt: skip
    if kind in MEDIA:
        return {"type": kind, "source": source}
    return {"type": "document", "source": source, **({"title": name} if name else {})}


def marked(
    items: Sequence[Any], read: Callable[[JsonObject], Imported | None], active: Container[int]
) -> Iterator[Any]:
    """Yield the result of ``read`` for each item, active only at these positions. Items that ``read`` doesn't know stay
    unchanged."""
    for position, item in enumerate(items):
        found = read(as_object(item) or {})
        yield item if found is None else found._replace(is_active=position in active)


class Folded:
    """The items of a session, some of which summaries cover. A summary takes the place of the last item that it covers:
    others that it does not cover may stand before it.
    """

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items
        self._places = list(range(len(items)))
        self._summaries: set[int] = set()
        self.active = set(self._places)

    def cover(self, covered: Sequence[int], position: int, *, is_moved: bool = True) -> None:
        """Note that the summary at ``position`` covers these items, in their order."""
        self.active.difference_update(covered)
        self._summaries.add(position)
        if covered and is_moved:
            at, places = covered[-1], self._places
            places[at], places[position] = places[position], places[at]

    def marked(self, read: Callable[[JsonObject], Imported | None]) -> Iterator[Any]:
        """Yield the result of ``read`` for each item, active if no summary covers it."""
        items: Sequence[Any] = self._items
        if self._places != list(range(len(items))):
            items = [items[place] for place in self._places]
        for found, place in zip(marked(items, read, range(len(items))), self._places, strict=True):
            if isinstance(found, Imported):
                is_active = place in self.active
                speaker = COVERING if place in self._summaries and found.speaker else found.speaker
                yield found._replace(is_active=is_active, speaker=speaker)
            else:
                yield found


def between(text: str, opening: re.Pattern[str], closing: str) -> Iterator[tuple[int, str, int]]:
    """Yield each text between two marks, with the offsets where the first mark begins and the second one ends.

    It looks for each mark once: a regular expression for both would read on to the end from every first mark.

    >>> list(between("<a>x</a> and <a>y", re.compile("<a>"), "</a>"))
    [(0, 'x', 8)]
    """
    at = 0
    while (start := opening.search(text, at)) and (end := text.find(closing, start.end())) >= 0:
        at = end + len(closing)
        yield start.start(), text[start.end() : end], at


def without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without these spans, and without white space around it.

    >>> without("one two three", [(3, 7)])
    'one three'
    """
    kept, at = [], 0
    for start, end in spans:
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]]).strip()


def as_text(value: object) -> str:
    """Return a value as a text: itself, or JSON; empty for nothing."""
    if isinstance(value, str) or value is None:
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def many(count: int, what: str) -> InputError:
    """Return the error for a document with several conversations."""
    return InputError(f"contains {count} {what}: many conversations; pass one at a time", 0)
