"""Pass responses on unchanged, and observe if the backend answers completely and without an error."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from toolcarry._input.codings import codings_of
from toolcarry._input.json import loads
from toolcarry.errors import InputError

if TYPE_CHECKING:  # imports apsw
    from toolcarry.integrations.recorder import Exchange

__all__ = ["Message", "Receive", "Replay", "Scope", "Send", "WatchedResponse"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

OVERLAP: Final = 64
"""The number of bytes of a chunk that are searched again together with the next one."""
HINTS: Final = (b"error", b"failed", b"exception")
FAILURE: Final = re.compile(
    rb"[\r\n](?:event: ?(?:error|response\.failed)[\r\n]"
    rb"|(?:data: ?|[\[,]\s*)?\{\s*\"error\"\s*:\s*[^\sn]"
    rb"|data: ?\{\s*\"type\"\s*:\s*\"(?:error|response\.failed)\")"
    rb"|\x0f:exception-type"
)
"""Errors in a response that began with a success status: an event, a line, an element of a list, or a header of
Amazon's event streams. An ``error`` of ``null`` does not count. Text of the model never matches, since JSON strings
contain no line breaks."""


END: Final = re.compile(
    rb"[\r\n](?:event: ?(?:message_stop|response\.completed)[\r\n]|data: ?\[DONE\]"
    rb"|data: ?\{\s*\"type\"\s*:\s*\"(?:message_stop|response\.completed)\")"
    rb"|\x0bmessageStop"
)
"""The ends of streams: an event, or an Amazon header. Connections may stay open after it."""
MOST_LINE: Final = 1 << 20
LINES: Final = b"application/x-ndjson"
"""The type of Ollama's streams, whose last line has the member ``done``."""


class Replay:
    """Replays the messages of a request that were already read, then receives later ones, and notices a disconnect."""

    __slots__ = ("_messages", "_receive", "is_disconnected")

    def __init__(self, messages: list[Message], receive: Receive) -> None:
        self._messages = messages
        self._receive = receive
        self.is_disconnected = False

    async def __call__(self) -> Message:
        """Return the next message."""
        if self._messages:
            return self._messages.pop(0)
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.is_disconnected = True
        return message


class WatchedResponse:
    """Passes on a response message by message, and calls ``done`` when it has ended successfully.

    That means a 2xx status, no error within the response, and a client that is still connected. ``done`` is started
    before the last message is sent, since the client may send its next request at once. The end of an answer is
    recognised by its length, or by the last event of a stream. An ``exchange`` gets each part of the answer as it
    arrives, and the end before the client does.
    """

    __slots__ = ("_done", "_exchange", "_is_good", "_left", "_line", "_receive", "_send", "_tail")

    def __init__(
        self,
        send: Send,
        receive: Replay,
        done: Callable[[], Awaitable[None]],
        exchange: Exchange | None = None,
    ) -> None:
        self._exchange = exchange
        self._send = send
        self._receive = receive
        self._done = done
        self._is_good = False
        self._left: int | None = None
        self._line: bytearray | None = None
        self._tail = b"\n"

    async def send(self, message: Message) -> None:
        """Pass a message on."""
        kind = message["type"]
        if kind == "http.response.start":
            self._is_good = 200 <= message["status"] < 300
            headers = list(message.get("headers", ()))
            self._left = length_in(headers)
            self._line = bytearray() if has_lines(headers) else None
        if self._exchange is not None:
            self._record(self._exchange, message)
        is_at_end = kind == "http.response.body" and self._is_good and self._ends(message)
        if not is_at_end:
            return await self._send(message)
        self._is_good = False
        if self._exchange is not None:
            self._exchange.end()
        done = asyncio.ensure_future(self._done())
        await asyncio.sleep(0)  # let it start
        try:
            await self._send(message)
        finally:
            await done
        return None

    def _record(self, exchange: Exchange, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = {name.lower(): value for name, value in message.get("headers", ())}
            coding = headers.get(b"content-encoding", b"").decode("latin-1")
            exchange.start(message["status"], codings_of(coding))
        elif message["type"] == "http.response.body":
            exchange.add(bytes(message.get("body", b"")))

    def _ends(self, message: Message) -> bool:
        """Return true if this part of its body completes a successful answer."""
        chunk = message.get("body")
        has_more = message.get("more_body", False)
        is_last = not has_more
        if isinstance(chunk, bytes) and chunk:
            text = self._tail + chunk
            if any(hint in text for hint in HINTS) and FAILURE.search(text) is not None:
                self._is_good = False
            is_last = is_last or END.search(text) is not None or self._has_last_line(chunk)
            self._tail = text[-OVERLAP:]
            if self._left is not None:
                self._left -= len(chunk)
                is_last = is_last or self._left <= 0
        return is_last and self._is_good and not self._receive.is_disconnected

    def _has_last_line(self, chunk: bytes) -> bool:
        """Return true if a stream of lines says that it is done: itself, and not an argument of a call in it."""
        line = self._line
        if line is None:
            return False
        before = len(line)
        line += chunk
        end = line.rfind(b"\n", before)
        if end < 0:
            if len(line) > MOST_LINE:  # it is no line of Ollama's
                self._line = None
            return False
        whole, self._line = line[:end], line[end + 1 :]
        return any(is_done(bytes(each)) for each in whole.split(b"\n") if b'"done"' in each)


def is_done(line: bytes) -> bool:
    """Return true if a line of an Ollama stream is the last one.

    >>> is_done(b'{"message": {}, "done": true}'), is_done(b'{"message": {"done": true}, "done": false}')
    (True, False)
    """
    try:
        found = loads(line)
    except InputError:
        return False
    return isinstance(found, dict) and found.get("done") is True


def has_lines(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    kinds = (value for name, value in headers if name.lower() == b"content-type")
    return any(kind.partition(b";")[0].strip().lower() == LINES for kind in kinds)


def length_in(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """Return the length of a body in bytes, if its headers give it."""
    for name, value in headers:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return None
