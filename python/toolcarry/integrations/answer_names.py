"""Give the tools in an answer the names that the client knows, if the request was sent with others.

An answer in one piece is held until it is complete. A stream is passed on line by line, or frame by frame, and only its
events with such a name are written again. Everything else is copied byte by byte.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from operator import is_not
from typing import Any, Final
from zlib import crc32

from toolcarry._input.answers import MOST_ANSWER
from toolcarry._input.json import loads
from toolcarry._input.spans import Values
from toolcarry._input.splice import spliced
from toolcarry.errors import InputError
from toolcarry.integrations.response import Message, Send

__all__ = ["AnswerNames", "event_with_names", "rename_in", "with_names"]

PLACES: Final = tuple(
    tuple(place.split("."))
    for place in (
        "content.*.name",  # Anthropic: a message, and the event that begins a block
        "content_block.name",
        "choices.*.message.tool_calls.*.function.name",  # Chat
        "choices.*.message.tool_calls.*.custom.name",
        "choices.*.delta.tool_calls.*.function.name",
        "choices.*.delta.tool_calls.*.custom.name",
        "name",  # Responses: an event about a call's arguments
        "item.name",
        "output.*.name",
        "tools.*.name",
        "tool_choice.name",
        "response.output.*.name",
        "response.tools.*.name",
        "response.tool_choice.name",
        "candidates.*.content.parts.*.functionCall.name",  # Gemini
        "message.tool_calls.*.function.name",  # Ollama
        "output.message.content.*.toolUse.name",  # Bedrock: a message, and the event that begins a block
        "start.toolUse.name",
    )
)
"""The places of tools' names in answers, and in the events of streams."""
JSON: Final = b"application/json"
LINES: Final = (b"text/event-stream", b"application/x-ndjson")
FRAMES: Final = b"application/vnd.amazon.eventstream"


def with_names(data: bytes, names: Mapping[str, str]) -> bytes:
    """Return an answer, or an event, with other names of tools; unchanged if it has none of them, or can't be read.

    >>> with_names(b'{"content": [{"type": "tool_use", "name": "a_b", "input": {}}]}', {"a_b": "a.b"})
    b'{"content": [{"type": "tool_use", "name": "a.b", "input": {}}]}'
    """
    if not any(name.encode() in data for name in names):
        return data
    try:
        document = loads(data)
    except InputError:
        return data
    if isinstance(document, list):  # the stream of Gemini without server-sent events
        spans = Values(data)
        made, end = b"", 0
        for item in spans.items(spans.root):
            made += data[end : item.start] + with_names(spans.copy(item), names)
            end = item.end
        return made + data[end:]
    if not isinstance(document, dict):
        return data
    new = document
    for place in PLACES:
        new = _renamed(new, place, names)
    return data if new is document else spliced(data, document, new)


def _renamed(value: Any, place: Sequence[str], names: Mapping[str, str]) -> Any:
    """Return a value with other names of tools at a place; the same object if it has none of them."""
    if not place:
        return names.get(value, value) if isinstance(value, str) else value
    key, *rest = place
    if key == "*":
        if not isinstance(value, list):
            return value
        items = [_renamed(item, rest, names) for item in value]
        return items if any(map(is_not, items, value)) else value
    if not isinstance(value, dict) or key not in value:
        return value
    new = _renamed(value[key], rest, names)
    return value if new is value[key] else {**value, key: new}


def event_with_names(line: bytes, names: Mapping[str, str]) -> bytes:
    """Return a line of a stream with other names of tools; it is an object, or the data of a server-sent event."""
    start = line.find(b"{")
    is_event = start >= 0 and line[:start].strip() in (b"", b"data:")
    return line[:start] + with_names(line[start:], names) if is_event else line


def rename_in(answer: object, names: Mapping[str, str]) -> None:
    """Give the tools in an answer, or an event, that is an object of an SDK other names."""
    for place in PLACES:
        _rename_at(answer, place, names)


def _rename_at(value: Any, place: Sequence[str], names: Mapping[str, str]) -> None:
    key, *rest = place
    if key == "*":
        for item in value if isinstance(value, list) else ():
            _rename_at(item, rest, names)
        return
    is_mapping = isinstance(value, MutableMapping)
    held = value.get(key) if is_mapping else getattr(value, key, None)
    if rest and held is not None:
        _rename_at(held, rest, names)
    elif isinstance(held, str) and held in names:
        if is_mapping:
            value[key] = names[held]
        else:
            setattr(value, key, names[held])


class AnswerNames:
    """Passes on the messages of an ASGI response. ``names`` are the client's names of tools, by those that were sent."""

    def __init__(self, send: Send, names: Mapping[str, str]) -> None:
        self._send = send
        self._names = names
        self._kind = b""
        """The content type; empty if the answer is passed on unread."""
        self._start: Message | None = None
        self._held = bytearray()

    async def send(self, message: Message) -> None:
        """Pass a message on, or hold it back until its end is there."""
        if message["type"] == "http.response.start":
            found = {name.lower(): value for name, value in message.get("headers", ())}
            kind = found.get(b"content-type", b"").partition(b";")[0].strip().lower()
            is_readable = kind in (JSON, FRAMES, *LINES) and b"content-encoding" not in found
            if not is_readable:
                return await self._send(message)
            self._kind = kind
            kept = [
                header
                for header in message.get("headers", ())
                if header[0].lower() != b"content-length"
            ]
            self._start = {**message, "headers": kept}
            if kind != JSON:
                await self._send(self._start)
            return None
        if message["type"] != "http.response.body" or not self._kind:
            return await self._send(message)
        has_more = message.get("more_body", False)
        self._held += message.get("body", b"")
        if (
            len(self._held) > MOST_ANSWER
        ):  # an answer, or a line of one, that is too long to be read
            return await self._give_up(message)
        body = self._ready(is_last=not has_more)
        if self._kind == JSON and self._start is not None and not has_more:
            length = (b"content-length", str(len(body)).encode())
            headers = [*self._start["headers"], length]
            await self._send({**self._start, "headers": headers})
        if body or not has_more:
            await self._send({**message, "body": body})
        return None

    async def _give_up(self, message: Message) -> None:
        """Pass on what is held, and the rest of the answer, unread."""
        if self._kind == JSON and self._start is not None:
            await self._send(self._start)
        self._kind = b""
        await self._send({**message, "body": self._taken(len(self._held))})

    def _ready(self, *, is_last: bool) -> bytes:
        """Take the complete part of what is held, with its names."""
        if self._kind == JSON:
            return with_names(self._taken(len(self._held)), self._names) if is_last else b""
        if self._kind == FRAMES:
            return b"".join(self._frames(is_last=is_last))
        end = len(self._held) if is_last else self._held.rfind(b"\n") + 1
        lines = self._taken(end).split(b"\n")
        return b"\n".join([event_with_names(line, self._names) for line in lines])

    def _taken(self, end: int) -> bytes:
        taken = bytes(self._held[:end])
        del self._held[:end]
        return taken

    def _frames(self, *, is_last: bool) -> Iterator[bytes]:
        """Yield the complete frames of Amazon's event stream.

        A frame has its length, the length of its headers, a checksum of both, the headers, the payload, and a checksum
        of all.
        """
        # https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
        while len(self._held) >= PRELUDE.size:
            length, headers, _ = PRELUDE.unpack_from(self._held)
            if length < PRELUDE.size + headers + CHECKSUM.size or length > len(self._held):
                break
            frame = self._taken(length)
            start, end = PRELUDE.size + headers, length - CHECKSUM.size
            payload = frame[start:end]
            new = with_names(payload, self._names)
            if new != payload:
                sizes = SIZES.pack(length + len(new) - len(payload), headers)
                made = sizes + CHECKSUM.pack(crc32(sizes)) + frame[PRELUDE.size : start] + new
                frame = made + CHECKSUM.pack(crc32(made))
            yield frame
        if is_last:
            yield self._taken(len(self._held))


SIZES: Final = struct.Struct(">II")
CHECKSUM: Final = struct.Struct(">I")
PRELUDE: Final = struct.Struct(">III")
