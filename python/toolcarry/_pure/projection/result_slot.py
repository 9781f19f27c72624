"""Where the content of a result stands in a request, and how another text is put in its place.

Known are the results that a client gives: those of a provider's own tools are never touched, nor is what nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry._pure.content import TEXTS, is_bare, result_text
from toolcarry._pure.projection.edits import (
    Changed,
    Draft,
    Ends,
    Kept,
    Made,
    Members,
    Parts,
    Path,
)
from toolcarry._pure.tokens.messages import MEDIA_TOKENS, count_media

OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
"""The items of Responses whose ``output`` is text or parts."""
LISTS = ("content", "parts")
"""Where a message keeps its parts."""
ADDRESS = "data:"
"""With which a text begins that may be a line that names it."""


class Site(NamedTuple):
    """The content of one result."""

    path: Path
    """Of the result."""
    wire: Wire
    holder: str
    """The member of the result that holds ``key``; empty where the result does so itself."""
    key: str
    content: object

    def text(self) -> str:
        """What is measured, and cut: the text of the content, without what is no text beside it."""
        parts = as_list(self.content)
        if parts is None:
            return (
                result_text(self.content) if self.key != "response" else response_text(self.content)
            )
        texts = [text for text in map(words_of, parts) if text is not None]
        return "\n".join(texts) if texts else result_text(self.content)

    def media_tokens(self) -> int:
        """What the content's images and documents count."""
        if isinstance(self.content, str):
            return 0
        return MEDIA_TOKENS * count_media(self.content, 0)

    @property
    def is_replaceable(self) -> bool:
        """Whether no cache mark would be lost."""
        parts = as_list(self.content)
        return parts is None or carrier(parts) != MANY_MARKS

    def replaced(self, text: str, stays: tuple[int, int] | None) -> Members:
        """The members of the result with ``text`` as its content.

        ``stays`` tells how many of the first and the last characters are those of the old text; ``None`` where the
        whole content is replaced. Of a list what is no text stays, unless it is.
        """
        inner = self._inner(text, stays)
        members: dict[str, Made | Parts | Changed | None] = {self.key: inner}
        if not self.holder:
            return members
        if (
            stays is None
            and self.holder in RESPONSES
            and "parts" in (as_object(self.wire[self.holder]) or {})
        ):
            members["parts"] = None
        return {self.holder: Changed((*self.path, self.holder), members)}

    def _inner(self, text: str, stays: tuple[int, int] | None) -> Made | Parts:
        if self.key == "response":
            return Made({response_key(self.content): text})
        source = None if stays is None else self._text_path()
        made = Made(text, None if source is None or stays is None else Ends(source, *stays))
        parts = as_list(self.content)
        place = None if parts is None else carrier(parts)
        if parts is None or place is None:
            return Made([{"text": text}]) if self.holder == "toolResult" else made
        # Without a text that says something, the old text was that of all parts.
        is_beside = stays is not None and first_words(parts) is not None
        items: list[Draft] = []
        for index, part in enumerate(parts):
            if index == place:
                is_bare_text = isinstance(part, str)
                items.append(
                    made if is_bare_text else Changed((*self._content_path, index), {"text": made})
                )
            elif is_beside and words_of(part) is None:
                items.append(Kept((*self._content_path, index)))
        return Parts(self._content_path, items)

    @property
    def _content_path(self) -> Path:
        return (*self.path, *((self.holder,) if self.holder else ()), self.key)

    def _text_path(self) -> Path | None:
        """Where the text stands, if it stands in one place as it is."""
        parts = as_list(self.content)
        if parts is not None:
            found = [index for index, part in enumerate(parts) if words_of(part) is not None]
            if len(found) != 1:
                return None
            is_bare_text = isinstance(parts[found[0]], str)
            return (*self._content_path, found[0], *(() if is_bare_text else ("text",)))
        text, path = self.content, self._content_path
        held = as_object(text)
        if held is not None and held.get("type") == "text":
            text, path = held.get("text"), (*path, "text")
        return path if isinstance(text, str) and not text.startswith(ADDRESS) else None


RESPONSES = ("functionResponse", "function_response")
ANSWERS = ("output", "result", "error")
"""What a response that is an answer and nothing else may call it."""
MANY_MARKS = -1


def site_at(path: Path, wire: Wire) -> Site | None:
    """The content of a result that a client gave; ``None`` where it is of another kind."""
    kind = wire.get("type")
    if kind == "tool_result":
        return Site(path, wire, "", "content", wire.get("content"))
    if kind in OUTPUTS:
        return Site(path, wire, "", "output", wire.get("output"))
    if kind is not None:
        return None
    if wire.get("role") in ("tool", "function"):
        return Site(path, wire, "", "content", wire.get("content"))
    for holder, key in (("toolResult", "content"), *((name, "response") for name in RESPONSES)):
        held = as_object(wire.get(holder))
        if held is not None:
            return Site(path, wire, holder, key, held.get(key))
    return None


class Paths:
    """Where in the messages the calls and the results stand that were read from them."""

    def __init__(self, messages: Sequence[Any]) -> None:
        self._messages = messages
        self._known: dict[int, dict[int, Path]] = {}
        self.repeated: dict[tuple[int, int], Iterator[Path]] = {}
        """Where each object stands that a message holds several times, by the position and its identity."""

    def of(self, position: int, wire: Wire) -> Path | None:
        """The path of what was read from the message at a position."""
        message = self._messages[position]
        if message is wire:
            return (position,)
        known = self._known.get(position)
        if known is None:
            places: list[tuple[int, Path]] = [
                (id(part), (position, key, index))
                for key in (*LISTS, "tool_calls")
                for index, part in enumerate(as_list(message.get(key)) or ())
            ]
            known = self._known[position] = dict(places)
            if len(known) < len(places):
                self._note_repeated(position, places)
        return known.get(id(wire))

    def next_of(self, position: int, wire: Wire) -> Path | None:
        """The same; of an object that stands several times in the message, each of its places in its turn."""
        path = self.of(position, wire)
        places = self.repeated.get((position, id(wire)))
        return path if places is None else next(places, path)

    def _note_repeated(self, position: int, places: list[tuple[int, Path]]) -> None:
        found: dict[int, list[Path]] = {}
        for identity, path in places:
            found.setdefault(identity, []).append(path)
        for identity, paths in found.items():
            if len(paths) > 1:
                self.repeated[position, identity] = iter(paths)


def text_of(part: object) -> str | None:
    """The text of a part that is nothing but text."""
    found = as_object(part)
    if found is None:
        return part if isinstance(part, str) else None
    text = found.get("text")
    is_text = isinstance(text, str) and (found.get("type") in TEXTS or is_bare(found, "text"))
    return text_or_empty(text) if is_text else None


def words_of(part: object) -> str | None:
    """The text of a part that is nothing but text, and not white space alone: such a one says nothing, and may be taken out."""
    text = text_of(part)
    return None if text is None or not text.strip() else text


def carrier(parts: Sequence[object]) -> int | None:
    """Which text part takes the new text: the one with a cache mark, else the first.

    ``None`` where there is no text part, ``MANY_MARKS`` where a mark would be lost. Those of texts without a word, which may
    be taken out, count where there is no other, and then the last one.
    """
    objects = [as_object(part) or {} for part in parts]
    marked = [index for index, part in enumerate(objects) if "cache_control" in part]
    if marked:
        is_blank = [text_of(parts[at]) is not None and words_of(parts[at]) is None for at in marked]
        marks = [at for at, blank in zip(marked, is_blank, strict=True) if not blank] or marked[-1:]
        is_text = len(marks) == 1 and text_of(parts[marks[0]]) is not None
        return marks[0] if is_text else MANY_MARKS
    return first_words(parts)


def first_words(parts: Sequence[object]) -> int | None:
    """The first text part that says something."""
    return next((index for index, part in enumerate(parts) if words_of(part) is not None), None)


def response_text(response: object) -> str:
    """The text of what a function of Gemini's gave back."""
    held = as_object(response)
    if held is not None and len(held) == 1:
        ((name, only),) = held.items()
        if isinstance(only, str):
            return only
        if only is not None and name in ANSWERS:
            return result_text(only)
    return result_text(response)


def response_key(response: object) -> str:
    """Under which name a text is given back: as it was, else as ``result``."""
    held = as_object(response)
    return str(next(iter(held))) if held is not None and len(held) == 1 else "result"
