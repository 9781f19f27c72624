"""Count the tokens of the messages of a conversation: their text, the calls, and their results.

The counted texts are spoken text, thinking, documents and search results, tool names, arguments as JSON, and results as
a context shows them. The protocol around them is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from toolcarry._data import read_table
from toolcarry._input.json import compact_json
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.model.content import MAX_PARTS, attached_text, is_media, result_text, spoken_text
from toolcarry.model.content.media import is_data_url
from toolcarry.model.formats import SPEAKERS, read_message, read_result, read_spoken
from toolcarry.model.formats.message import MessageParts, ToolResult
from toolcarry.model.pairing import object_at
from toolcarry.model.pairing.block import Entry
from toolcarry.model.session import QUEUE, Places, TypedAhead
from toolcarry.model.speakers import told

_PARTS = read_table("parts")
PART_LISTS: tuple[str, ...] = tuple(_PARTS["part_lists"])
"""The members of a part that may hold parts. Media in any other JSON answer count as text."""
# Anthropic's models before Claude Opus 4.7 scale an image down to about this many tokens; OpenAI charges a little less.
# https://platform.claude.com/docs/en/build-with-claude/vision
MEDIA_TOKENS = 1_600
"""The tokens of an image, a document, a sound or a film; in a result, in addition to the line that describes it."""


THINKING_KEYS: tuple[str, ...] = tuple(_PARTS["thinking_keys"])
"""The members that hold a model's thoughts."""
_THINKING_LISTS: tuple[str, ...] = tuple(_PARTS["thinking_lists"])
_THINKING_TEXTS: dict[str, str] = _PARTS["thinking_texts"]
_ENCRYPTED: dict[str, str] = _PARTS["encrypted_thinking"]
_OTHER_LISTS = ("content", "parts", "summary")
DIGITS_PER_TOKEN = 5
"""The digits of base64 that one token of encrypted thinking takes: about four characters, and three bytes in four digits."""


def pieces_in_context(
    messages: Sequence[Any], entries: Iterable[Entry]
) -> Iterator[tuple[int, Piece]]:
    """Yield the counted texts of the active branch with their positions, then the results that are in the context, too.

    A text in the queue of Claude Code counts if it stands nowhere else.

    Claude Code writes the results of parallel calls on branches of their own, next to the one that goes on.
    """
    places, ahead = Places(messages), TypedAhead()
    apart: set[int] = set()
    for position in range(len(messages) - 1, -1, -1):
        record = object_at(position, messages[position])
        placed = places.place(record, position)
        if placed is None or not placed[2]:
            apart.add(position)
            continue
        said, _ = told(record, placed[0], ahead)
        if said.speaker or record.get("type") != QUEUE:
            yield from ((position, piece) for piece in pieces_of(placed[0]))
    for entry in entries:
        if entry.is_active and entry.result is not None and entry.result_position in apart:
            result = read_result(entry.result)
            if result is not None:
                yield entry.result_position, result_piece(result)


class Piece(NamedTuple):
    """A counted text of a message, or media. ``part`` is a name of ``PARTS``, and ``wire`` the call or the result."""

    part: str
    text: str
    wire: JsonObject | None = None
    media: int = 0
    digits: int = 0
    """The digits of encrypted thinking, which no text stands for."""

    @property
    def tokens(self) -> int:
        """The tokens besides those of the text."""
        return MEDIA_TOKENS * self.media + self.digits // DIGITS_PER_TOKEN


PARTS: tuple[str, ...] = ("results", "inputs", "text", "thinking")
"""The parts of a message whose texts are counted: results, names and arguments of calls, spoken text, and thinking."""


def pieces_of(message: JsonObject) -> list[Piece]:
    """Return the texts of a message that are counted, with the media next to each."""
    message_parts = MessageParts()
    read_message(message, message.get("role"), message_parts)
    spoken = read_spoken(message)
    pieces = [Piece("thinking", text) for text in _thoughts_of(message)]
    images = as_list(message.get("images")) or ()  # Ollama
    pieces.append(Piece("text", "", None, sum(isinstance(image, str) for image in images)))
    pieces += [Piece("thinking", "", None, 0, len(data)) for data in _encrypted_in(message)]
    # The text of a tool is its result.
    if spoken.speaker in SPEAKERS or not message_parts.results:
        pieces.append(Piece("text", spoken_text(spoken.content)))
        for item in as_list(spoken.content) or ():
            attached, media = _attachment(as_object(item) or {})
            pieces.append(Piece("text", attached, None, media))
    for call in message_parts.calls:
        pieces.append(Piece("inputs", call.name, call.wire))
        pieces.append(Piece("inputs", _arguments_text(call.arguments), call.wire))
    pieces += map(result_piece, message_parts.results)
    return pieces


def result_piece(result: ToolResult) -> Piece:
    """Return the text of a result."""
    media = count_media(result.content, 0)
    return Piece("results", result_text(result.content), result.wire, media)


def _thoughts_of(message: JsonObject) -> list[str]:
    """Return the texts of a message that are thinking, which is sent and charged like any other text.

    Gateways write it twice, as a text and as a list; the list counts then.
    """
    lists = ([*_texts_in(message.get(key))] for key in _THINKING_LISTS)
    own = next((texts for texts in lists if texts), None)
    if own is None:
        keys = (message.get(key) for key in THINKING_KEYS)
        own = [text for text in keys if isinstance(text, str)]
    return [*own, *(text for key in _OTHER_LISTS for text in _texts_in(message.get(key)))]


def _texts_in(parts: object) -> Iterator[str]:
    """Yield the thinking in a list of parts."""
    for part in map(as_object, as_list(parts) or ()):
        if part is None:
            continue
        thinking = part.get("thinking")
        chunks = [
            (as_object(chunk) or {}).get("text") for chunk in as_list(thinking) or ()
        ]  # Mistral
        key = _THINKING_TEXTS.get(
            str(part.get("type")), "text" if part.get("thought") is True else ""
        )
        held = as_object(part.get("reasoningContent")) or {}  # Bedrock
        bedrock = (as_object(held.get("reasoningText")) or {}).get("text")
        texts = (thinking, *chunks, part.get(key) if key else None, bedrock)
        yield from (text for text in texts if isinstance(text, str))


def _encrypted_in(message: JsonObject) -> Iterator[str]:
    """Yield the encrypted thinking of a message, which its provider decrypts into the prompt."""
    lists = (as_list(message.get(key)) or () for key in (*_THINKING_LISTS, *_OTHER_LISTS))
    for part in (message, *map(as_object, (part for parts in lists for part in parts))):
        key = None if part is None else _ENCRYPTED.get(str(part.get("type")))
        if part is not None and key is not None and isinstance(data := part.get(key), str):
            yield data


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
    """Count the media in a result, at any depth at which parts are read. A string that is a data URL is one of them."""
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
    """Return true if a part is a string that is a data URL."""
    text = part.get("text")
    return isinstance(text, str) and is_data_url(text)
