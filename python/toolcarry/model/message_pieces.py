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
_THOUGHT_LISTS = ("content", "parts", "summary")
_THOUGHT_TEXTS = ("reasoning_text", "summary_text")


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
            yield entry.result_position, result_piece(read_result(entry.result))


class Piece(NamedTuple):
    """A counted text of a message, or media. ``part`` is a name of ``PARTS``, and ``wire`` the call or the result."""

    part: str
    text: str
    wire: JsonObject | None = None
    media: int = 0


PARTS: tuple[str, ...] = ("results", "inputs", "text", "thinking")
"""The parts of a message whose texts are counted: results, names and arguments of calls, spoken text, and thinking."""


def pieces_of(message: JsonObject) -> list[Piece]:
    """Return the texts of a message that are counted, with the media next to each."""
    message_parts = MessageParts()
    read_message(message, message.get("role"), message_parts)
    spoken = read_spoken(message)
    pieces = [Piece("thinking", text) for text in _thoughts_of(message)]
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
    """Return the texts of a message that are thinking, which is sent and charged like any other text."""
    thoughts = [message.get(key) for key in THINKING_KEYS]
    for key in _THOUGHT_LISTS:
        for part in map(as_object, as_list(message.get(key)) or ()):
            if part is None:
                continue
            thoughts.append(part.get("thinking"))
            if part.get("thought") is True or part.get("type") in _THOUGHT_TEXTS:
                thoughts.append(part.get("text"))
            held = as_object(part.get("reasoningContent")) or {}  # Bedrock
            thoughts.append((as_object(held.get("reasoningText")) or {}).get("text"))
    return [text for text in thoughts if isinstance(text, str)]


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
