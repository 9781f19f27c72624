"""Count the tokens of the messages of a conversation: their text, the calls, and their results.

The counted texts are spoken text, documents and search results, tool names, arguments as JSON, and results as a context
shows them. The protocol around them and thinking are not counted, since no other backend receives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._data import read_table
from toolcarry._input.json import compact_json
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.content import MAX_PARTS, attached_text, is_media, result_text, spoken_text
from toolcarry._pure.content.media import is_data_url
from toolcarry._pure.formats import SPEAKERS, read_message, read_spoken
from toolcarry._pure.formats.message import MessageParts
from toolcarry._pure.pairing import object_at
from toolcarry._pure.session import Places
from toolcarry._pure.tokens.count import count_tokens
from toolcarry.types.values import EncodingName

PART_LISTS: tuple[str, ...] = tuple(read_table("parts")["part_lists"])
"""The members of a part that may hold parts. Media in any other JSON answer count as text."""
# Anthropic's models before Claude Opus 4.7 scale an image down to about this many tokens; OpenAI charges a little less.
# https://platform.claude.com/docs/en/build-with-claude/vision
MEDIA_TOKENS = 1_600
"""The tokens of an image, a document, a sound or a film; in a result, in addition to the line that describes it."""


def message_tokens(messages: Sequence[Any], encoding: EncodingName) -> list[int]:
    """Return the tokens of every message; 0 for those off the active branch."""
    places = Places(messages)
    counts = [0] * len(messages)
    for position in range(len(messages) - 1, -1, -1):
        placed = places.place(object_at(position, messages[position]), position)
        if placed is not None and placed[2]:
            counts[position] = tokens_of(placed[0], encoding)
    return counts


def tokens_of(message: JsonObject, encoding: EncodingName) -> int:
    """Count the tokens of one message."""
    message_parts = MessageParts()
    read_message(message, message.get("role"), message_parts)
    spoken = read_spoken(message)
    texts: list[str] = []
    media = 0
    # The text of a tool is its result.
    if spoken.speaker in SPEAKERS or not message_parts.results:
        texts.append(spoken_text(spoken.content))
        for item in as_list(spoken.content) or ():
            attached, found = _attachment(as_object(item) or {})
            texts.append(attached)
            media += found
    for call in message_parts.calls:
        texts += (call.name, _arguments_text(call.arguments))
    for result in message_parts.results:
        texts.append(result_text(result.content))
        media += count_media(result.content, 0)
    return sum([count_tokens(text, encoding) for text in texts]) + MEDIA_TOKENS * media


def _attachment(part: JsonObject) -> tuple[str, int]:
    """Return the text of a part that is attached to a message, and the number of media in it."""
    if is_media(part):
        return "", 1
    text = attached_text(part)
    return ("", 0) if text is None else (text, count_media(part, 0))


def _arguments_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else compact_json(arguments)


def count_media(content: object, depth: int) -> int:
    """Count the media in a result, at any depth at which parts are read. A text that is a data URL is one of them."""
    if depth > MAX_PARTS:
        return 0
    if isinstance(content, str):
        return is_data_url(content)
    part = as_object(content)
    if part is None:
        return sum([count_media(item, depth + 1) for item in as_list(content) or ()])
    if is_media(part):
        return 1
    # The source of a document may be parts, images too.
    keys = (*PART_LISTS, "source") if part.get("type") == "document" else PART_LISTS
    return _is_text_medium(part) + sum([count_media(part.get(key), depth + 1) for key in keys])


def _is_text_medium(part: JsonObject) -> bool:
    """Return true if a part is a text that is a data URL."""
    text = part.get("text")
    return isinstance(text, str) and is_data_url(text)
