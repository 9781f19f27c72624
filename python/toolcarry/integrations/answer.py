"""Whether a backend has answered: its response is sent on as it comes, and looked at on its way."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

__all__ = ["Answer", "Message", "Receive", "Replay", "Scope", "Send"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

OVERLAP: Final = 64
"""How many bytes of a chunk are looked at again with the next one."""
HINTS: Final = (b"error", b"failed", b"exception")
FAILURE: Final = re.compile(
    rb"[\r\n](?:event: ?(?:error|response\.failed)[\r\n]"
    rb"|(?:data: ?|[\[,]\s*)?\{\s*\"error\"\s*:\s*[^\sn]"
    rb"|data: ?\{\s*\"type\"\s*:\s*\"(?:error|response\.failed)\")"
    rb"|\x0f:exception-type"
)
"""How an error begins after a response had begun with success: an event, a line, an element of a list, or a header of
Amazon's event streams. An ``error`` that is ``null`` is none, and within a text that the model wrote none of this stands:
there is no end of a line in JSON's."""


class Replay:
    """Receives what was read of a request once more, and then what else comes, so that a disconnect is heard of."""

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


class Answer:
    """Sends a response on, each message as it comes, and calls ``done`` when it has ended well.

    It has where its status is 2xx, no error came in the middle of it, and the client has stayed to the end.
    """

    __slots__ = ("_done", "_is_good", "_receive", "_send", "_tail")

    def __init__(self, send: Send, receive: Replay, done: Callable[[], Awaitable[None]]) -> None:
        self._send = send
        self._receive = receive
        self._done = done
        self._is_good = False
        self._tail = b"\n"

    async def send(self, message: Message) -> None:
        """Send a message on."""
        kind = message["type"]
        is_end = False
        if kind == "http.response.start":
            self._is_good = 200 <= message["status"] < 300
        elif kind == "http.response.body" and self._is_good:
            self._look(message.get("body"))
            is_end = not message.get("more_body", False) and not self._receive.is_disconnected
        await self._send(message)
        if is_end and self._is_good:
            self._is_good = False
            await self._done()

    def _look(self, chunk: object) -> None:
        """Notice an error that comes after the response had begun."""
        if not isinstance(chunk, bytes) or not chunk:
            return
        text = self._tail + chunk
        if any(hint in text for hint in HINTS) and FAILURE.search(text) is not None:
            self._is_good = False
        self._tail = text[-OVERLAP:]
