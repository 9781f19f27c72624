"""Find the content of a result in a request, and put another text in its place.

Only results that a client gives are found. Those of a provider's own tools, and unknown ones, are never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from toolcarry._data import read_table
from toolcarry._input.json import compact_json
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.content import TEXT_PARTS, is_bare, result_text
from toolcarry._pure.content.media import is_data_url
from toolcarry._pure.projection.edits import (
    Changed,
    Draft,
    Ends,
    Members,
    NewValue,
    Original,
    Parts,
    Path,
)
from toolcarry._pure.tokens.messages import MEDIA_TOKENS, count_media

TEXT_OUTPUTS: tuple[str, ...] = tuple(read_table("responses")["text_outputs"])
"""The items of Responses whose ``output`` is text or parts."""
LISTS = ("content", "parts")
"""The members of a message that may hold its parts."""


class ResultSlot(NamedTuple):
    """The content of one result."""

    path: Path
    """The path of the result."""
    wire: JsonObject
    holder: str
    """The member of the result that holds ``key``; empty if the result itself does."""
    key: str
    content: object
    is_freed: bool = False
    """True if a repair leaves so few of the cache marks that none would be lost."""

    def text(self) -> str:
        """Return the text of the content, without media next to it. This text is measured, and cut."""
        if self.is_json():
            return compact_json(self.content)
        parts = self.parts()
        if parts is None:
            return result_text(self.answer())
        texts = [text for text in map(words_of, parts) if text is not None]
        if texts:
            return "\n".join(texts)
        # A blank text next to them is no part of the answer, and may be removed.
        others = [part for part in parts if not _has_no_word(part)]
        return result_text(others or parts)

    def media_tokens(self) -> int:
        """Return the tokens of the content's images and documents."""
        blocks = self.blocks()
        content = self.answer() if blocks is None else blocks
        if self.is_json():
            return 0
        if isinstance(content, str):
            return MEDIA_TOKENS * is_data_url(content)
        return MEDIA_TOKENS * count_media(content, 0)

    def is_json(self) -> bool:
        """Return true if the content is a value without a type, which a repair sends as the text of its JSON."""
        content = self.content
        if self.holder or isinstance(content, str) or content is None:
            return False
        items = as_list(content)
        if items is None:
            return not has_type(content)
        return not any(map(has_type, items)) and any(text_of(item) is None for item in items)

    def blocks(self) -> list[object] | None:
        """Return the content as the blocks that a repair sends to Bedrock; ``None`` if it needs no repair, or is text.

        A list of texts is text as well.
        """
        content = self.content
        if self.holder != "toolResult" or content is None or isinstance(content, str):
            return None
        items = as_list(content)
        if items is None:
            return [block_of(content)]
        if all(map(is_block, items)) or all(isinstance(item, str) for item in items):
            return None
        return [
            item if is_block(item) else unwrapped_block(item)
            for item in items
            if not is_blank_text(item)
        ]

    def answer(self) -> object:
        """Return the content; of a function's response in Gemini, the answer."""
        return answer_of(self.content) if self.key == "response" else self.content

    def response_parts(self) -> Sequence[object]:
        """Return the media next to the answer in a function's response in Gemini."""
        held = as_object(self.wire.get(self.holder)) if self.key == "response" else None
        return as_list((held or {}).get("parts")) or ()

    @property
    def is_replaceable(self) -> bool:
        """True if no cache mark would be lost."""
        parts = self.parts()
        is_free = self.is_freed or self.blocks() is not None
        return parts is None or is_free or carrier(parts) != _MANY_MARKS

    def replaced(self, text: str, stays: tuple[int, int] | None) -> Members:
        """Return the members of the result with ``text`` as its content.

        ``stays`` are the numbers of first and last characters that are those of the old text; ``None`` if the whole
        content is replaced. In a cut list, parts that are not text stay, unless the old text was made of them.
        """
        inner = self._inner(text, stays)
        members: dict[str, NewValue | Parts | Changed | None] = {self.key: inner}
        if not self.holder:
            return members
        if (
            stays is None
            and self.holder in RESPONSE_KEYS
            and "parts" in (as_object(self.wire[self.holder]) or {})
        ):
            members["parts"] = None
        return {self.holder: Changed((*self.path, self.holder), members)}

    def _inner(self, text: str, stays: tuple[int, int] | None) -> NewValue | Parts:
        if self.key == "response":
            return NewValue({response_key(self.content): text})
        if self.blocks() is not None:
            return self._cut_blocks({"text": text}, is_whole=stays is None)
        source = None if stays is None else self._text_path()
        made = NewValue(text, None if source is None or stays is None else Ends(source, *stays))
        parts = self.parts()
        place = None if parts is None else carrier(parts, is_freed=self.is_freed)
        if parts is None or place is None:
            return NewValue([{"text": text}]) if self.holder == "toolResult" else made
        # If no text part has a word, the old text was made of all parts.
        is_beside = stays is not None and first_words(parts) is not None
        if is_beside and words_of(parts[place]) is None:  # the mark of a data URL, which stays
            place = first_words(parts)
        items: list[Draft] = []
        for index, part in enumerate(parts):
            if index == place:
                is_bare_text = isinstance(part, str)
                items.append(
                    made if is_bare_text else Changed((*self._content_path, index), {"text": made})
                )
            elif is_beside and words_of(part) is None:
                items.append(Original((*self._content_path, index)))
        return Parts(self._content_path, items)

    def _cut_blocks(self, new: JsonObject, *, is_whole: bool) -> NewValue | Parts:
        """Return the blocks that a repair makes, with a new one in place of the first text. Others with text are left out."""
        blocks = self.blocks() or []
        if is_whole or first_words(blocks) is None or len(blocks) == 1:
            return NewValue([new])
        drafts: list[Draft] = []
        is_new = True
        for index, item in enumerate(as_list(self.content) or ()):
            if is_blank_text(item):
                continue
            block = item if is_block(item) else unwrapped_block(item)
            if words_of(block) is None:
                is_same = block is item
                drafts.append(
                    Original((*self._content_path, index)) if is_same else NewValue(block)
                )
            elif is_new:
                drafts.append(NewValue(new))
                is_new = False
        return Parts(self._content_path, drafts)

    def parts(self) -> Sequence[object] | None:
        """Return the parts of the content; ``None`` if it has none.

        A list in a function's response in Gemini is the answer, which a repair gives a name.
        """
        is_value = self.key == "response" or self.is_json()
        blocks = self.blocks()
        return (None if is_value else as_list(self.content)) if blocks is None else blocks

    @property
    def _content_path(self) -> Path:
        return (*self.path, *((self.holder,) if self.holder else ()), self.key)

    def _text_path(self) -> Path | None:
        """Return the path of the old text, if it is in one place, unchanged."""
        parts = self.parts()
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
        return path if isinstance(text, str) and not is_data_url(text) else None


RESPONSE_KEYS: tuple[str, ...] = tuple(read_table("parts")["response_keys"])
RESPONSE_ANSWERS: tuple[str, ...] = tuple(read_table("parts")["response_answers"])
"""The names under which a response may hold its only member, the answer."""
_MANY_MARKS = -1


def slot_at(path: Path, wire: JsonObject) -> ResultSlot | None:
    """Return the content of a result that a client gave; ``None`` for results of other kinds."""
    kind = wire.get("type")
    if kind == "tool_result":
        return ResultSlot(path, wire, "", "content", wire.get("content"))
    if kind in TEXT_OUTPUTS:
        return ResultSlot(path, wire, "", "output", wire.get("output"))
    if kind is not None:
        return None
    if wire.get("role") in ("tool", "function"):
        return ResultSlot(path, wire, "", "content", wire.get("content"))
    for holder, key in (("toolResult", "content"), *((name, "response") for name in RESPONSE_KEYS)):
        held = as_object(wire.get(holder))
        if held is not None:
            return ResultSlot(path, wire, holder, key, held.get(key))
    return None


class Paths:
    """The paths of the calls and the results that were read from messages."""

    def __init__(self, messages: Sequence[Any]) -> None:
        self._messages = messages
        self._known: dict[int, dict[int, Path]] = {}
        self._repeated: dict[tuple[int, int], Iterator[Path]] = {}
        """The paths of each object that a message contains several times, by the position and its identity."""

    def of(self, position: int, wire: JsonObject) -> Path | None:
        """Return the path of an object that was read from the message at a position."""
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

    def next_of(self, position: int, wire: JsonObject) -> Path | None:
        """Return the path as ``of`` does. For an object with several places in the message, return each in turn."""
        path = self.of(position, wire)
        places = self._repeated.get((position, id(wire)))
        return path if places is None else next(places, path)

    def only(self, position: int, wire: JsonObject) -> Path | None:
        """Return the path of an object that the message contains once."""
        path = self.of(position, wire)
        return None if (position, id(wire)) in self._repeated else path

    def has_repeated(self) -> bool:
        """Return true if any message contains an object several times."""
        return bool(self._repeated)

    def _note_repeated(self, position: int, places: list[tuple[int, Path]]) -> None:
        found: dict[int, list[Path]] = {}
        for identity, path in places:
            found.setdefault(identity, []).append(path)
        for identity, paths in found.items():
            if len(paths) > 1:
                self._repeated[position, identity] = iter(paths)


def has_type(item: object) -> bool:
    """Return true if an item says what kind of part it is."""
    return text_or_empty((as_object(item) or {}).get("type")) != ""


def is_blank_text(item: object) -> bool:
    """Return true if an item is a text without a word, which is refused in a block, or the block of such a text."""
    block = as_object(item)
    text = item if block is None else block.get("json")
    return isinstance(text, str) and not text.strip()


def is_block(item: object) -> bool:
    """Return true if an item is a block of Bedrock, whose JSON has to be an object."""
    # "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid. Provide a json object":
    # sigoden/aichat#1542
    block = as_object(item)
    return block is not None and as_object(block.get("json", block)) is not None


def unwrapped_block(item: object) -> JsonObject:
    """Return the block for the JSON of a block, or for an item that is none."""
    block = as_object(item)
    return block_of(item if block is None else block["json"])


def block_of(value: object) -> JsonObject:
    """Return a value as a block of Bedrock.

    >>> block_of([1, 2]), block_of({"rows": 2})
    ({'text': '[1,2]'}, {'json': {'rows': 2}})
    """
    if as_object(value) is not None:
        return {"json": value}
    return {"text": value if isinstance(value, str) else compact_json(value)}


def text_of(part: object) -> str | None:
    """Return the text of a part that is nothing but text."""
    found = as_object(part)
    if found is None:
        return part if isinstance(part, str) else None
    text = found.get("text")
    is_text = isinstance(text, str) and (found.get("type") in TEXT_PARTS or is_bare(found, "text"))
    return text_or_empty(text) if is_text else None


def words_of(part: object) -> str | None:
    """Return the text of a part that is nothing but text, unless it is a data URL, or blank and may be removed."""
    text = text_of(part)
    return None if text is None or not text.strip() or is_data_url(text) else text


def data_url_of(part: object) -> str | None:
    """Return the text of a part if it is a data URL, and so the medium that it holds."""
    text = text_of(part)
    return text if text is not None and is_data_url(text) else None


def _has_no_word(part: object) -> bool:
    """Return true if a part is a text of white space alone."""
    text = text_of(part)
    return text is not None and not text.strip()


def carrier(parts: Sequence[object], *, is_freed: bool = False) -> int | None:
    """Return the index of the text part that takes the new text: the one with a cache mark, else the first.

    ``None`` means that there is no text part, ``_MANY_MARKS`` that a mark would be lost. Marks of blank texts, which may
    be removed, count only if there are no others, and then only the last one. If the content ``is_freed``, the last mark
    of a text is the one that stays, if any does.
    """
    objects = [as_object(part) or {} for part in parts]
    marked = [index for index, part in enumerate(objects) if "cache_control" in part]
    if is_freed:
        spoken = [index for index in marked if words_of(parts[index]) is not None]
        return spoken[-1] if spoken else first_words(parts)
    if marked:
        is_blank = [_has_no_word(parts[at]) for at in marked]
        marks = [at for at, blank in zip(marked, is_blank, strict=True) if not blank] or marked[-1:]
        is_text = len(marks) == 1 and text_of(parts[marks[0]]) is not None
        return marks[0] if is_text else _MANY_MARKS
    return first_words(parts)


def first_words(parts: Sequence[object]) -> int | None:
    """Return the index of the first text part with a word."""
    return next((index for index, part in enumerate(parts) if words_of(part) is not None), None)


def answer_of(response: object) -> object:
    """Return the answer in a function's response in Gemini: its only member, else all of it."""
    held = as_object(response)
    if held is not None and len(held) == 1:
        ((name, only),) = held.items()
        if isinstance(only, str) or (only is not None and name in RESPONSE_ANSWERS):
            return only
    return response


def response_key(response: object) -> str:
    """Return the name of the member for a new text: the old name if there is only one, else ``result``."""
    held = as_object(response)
    return str(next(iter(held))) if held is not None and len(held) == 1 else "result"
