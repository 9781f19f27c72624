"""Responses, sent on unchanged and watched on their way: whether the backend has answered in full and without error."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:  # imports apsw
    from toolcarry.integrations.recorder import Exchange

__all__ = ["Message", "Receive", "Replay", "Scope", "Send", "WatchedResponse"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

OVERLAP: Final = 64
"""The number of bytes of a chunk that are looked at again with the next one."""
HINTS: Final = (b"error", b"failed", b"exception")
FAILURE: Final = re.compile(
    rb"[\r\n](?:event: ?(?:error|response\.failed)[\r\n]"
    rb"|(?:data: ?|[\[,]\s*)?\{\s*\"error\"\s*:\s*[^\sn]"
    rb"|data: ?\{\s*\"type\"\s*:\s*\"(?:error|response\.failed)\")"
    rb"|\x0f:exception-type"
)
"""The beginnings of errors after a response began with success: an event, a line, an element of a list, or a header of
Amazon's event streams. An ``error`` that is ``null`` is none, and within a text that the model wrote none of this stands:
there is no end of a line in JSON's."""


END: Final = re.compile(
    rb"[\r\n](?:event: ?(?:message_stop|response\.completed)[\r\n]|data: ?\[DONE\]"
    rb"|data: ?\{\s*\"type\"\s*:\s*\"(?:message_stop|response\.completed)\"|\{[^\r\n]*\"done\" ?: ?true)"
    rb"|\x0bmessageStop"
)
"""The ends of streams: an event, an Ollama line, or an Amazon header. Connections may stay open after it."""


class Replay:
    """Receives the messages that were read of a request again, then later ones, so that a disconnect is noticed."""

    __slots__ = ("_messages", "_receive", "is_disconnected")

    def __init__(self, messages: list[Message], receive: Receive) -> None:
        self._messages = messages
        self._receive = receive
        self.is_disconnected = False

    async def __call__(self) -> Message:
        """The next message."""
        if self._messages:
            return self._messages.pop(0)
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.is_disconnected = True
        return message


class WatchedResponse:
    """Sends a response on, each message as it comes, and calls ``done`` when it has come to a good end.

    It has where its status is 2xx, no error came in the middle of it, and the client has stayed. ``done`` begins before
    the client has all of the answer, since its next request may come at once: an answer is known to be at its end by its
    length, or by the word with which a stream ends. An ``exchange`` gets the answer as it comes, and its end before the
    client has it.
    """

    __slots__ = ("_done", "_exchange", "_is_good", "_left", "_receive", "_send", "_tail")

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
        self._tail = b"\n"

    async def send(self, message: Message) -> None:
        """Send a message on."""
        kind = message["type"]
        if kind == "http.response.start":
            self._is_good = 200 <= message["status"] < 300
            self._left = length_in(message.get("headers", ()))
        if self._exchange is not None:
            self._record(self._exchange, message)
        is_at_end = kind == "http.response.body" and self._is_good and self._ends(message)
        if not is_at_end:
            return await self._send(message)
        self._is_good = False
        if self._exchange is not None:
            self._exchange.end()
        done = asyncio.ensure_future(self._done())
        await asyncio.sleep(0)  # it has begun
        try:
            await self._send(message)
        finally:
            await done
        return None

    def _record(self, exchange: Exchange, message: Message) -> None:
        if message["type"] == "http.response.start":
            exchange.start(message["status"])
        elif message["type"] == "http.response.body":
            exchange.add(bytes(message.get("body", b"")))

    def _ends(self, message: Message) -> bool:
        """True if an answer is whole and good with this part of its body."""
        chunk = message.get("body")
        has_more = message.get("more_body", False)
        is_last = not has_more
        if isinstance(chunk, bytes) and chunk:
            text = self._tail + chunk
            if any(hint in text for hint in HINTS) and FAILURE.search(text) is not None:
                self._is_good = False
            is_last = is_last or END.search(text) is not None
            self._tail = text[-OVERLAP:]
            if self._left is not None:
                self._left -= len(chunk)
                is_last = is_last or self._left <= 0
        return is_last and self._is_good and not self._receive.is_disconnected


def length_in(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The length of a body in bytes, if its headers say so."""
    for name, value in headers:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return None
