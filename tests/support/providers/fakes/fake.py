"""The common part of the fake providers: an ASGI application that records, answers, and fails on demand."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from support.clocks import async_wait_until
from support.providers import validity

from .script import Script, ScriptedTurn, as_answer

Scope = dict[str, Any]

HELLO = (ScriptedTurn("Hello."),)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it came."""

    method: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def is_whole(self) -> bool:
        """False if the connection ended within the body."""
        return self.header("content-length") in (None, str(len(self.body)))

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; more than one chunk streams."""

    status: int
    chunks: Sequence[bytes]
    content_type: str = "application/json"
    headers: Sequence[tuple[str, str]] = ()


class Refused(Exception):  # noqa: N818 - it is what the provider does
    """A request that the provider refuses."""

    def __init__(self, message: str, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(slots=True)
class Hold:
    """An answer that pauses after *after* chunks, until it is released or the client has gone."""

    after: int
    is_held: threading.Event = field(default_factory=threading.Event)
    may_go: threading.Event = field(default_factory=threading.Event)
    is_left: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class Cut:
    """An answer whose connection is closed after this many chunks."""

    after: int


@dataclass(slots=True)
class Failure:
    """An answer of an overloaded server."""

    status: int

    def reply(self, fake: Fake) -> Reply:
        return Reply(self.status, [fake.error(Refused("overloaded", self.status))])


class Fake:
    """A provider. Answers by its script what it takes, and refuses the rest as the provider does.

    ``recorded`` has every request; ``refusals`` has what was refused. ``key`` is the key that clients must have.
    """

    provider = ""

    def __init__(self, script: Script = HELLO, *, key: str = "test-key") -> None:
        self.recorded: list[Recorded] = []
        self.refusals: list[str] = []
        self.key = key
        self.say(script)
        self._faults: deque[Hold | Cut | Failure] = deque()
        self._numbers = 0
        self._secret = hashlib.sha256(f"{type(self).__name__} {id(self)}".encode()).digest()

    # What a test tells it

    def say(self, script: Script) -> None:
        """Answer by this script from now on."""
        self.answer = as_answer(script)

    def fail(self, times: int, status: int) -> None:
        """Fail the next requests with this status."""
        self._faults.extend(Failure(status) for _ in range(times))

    def hold(self, after: int = 0) -> Hold:
        """Pause the next answer after *after* chunks; with zero, before its head."""
        fault = Hold(after)
        self._faults.append(fault)
        return fault

    def cut(self, after: int) -> None:
        """Break off the next answer after *after* chunks; with zero, right after its head."""
        self._faults.append(Cut(after))

    # Answers of a provider

    def reply(self, recorded: Recorded) -> Reply:
        raise NotImplementedError

    def error(self, refused: Refused) -> bytes:
        raise NotImplementedError

    # What the providers need

    def number(self, prefix: str) -> str:
        """The next id, the same in every run."""
        self._numbers += 1
        return f"{prefix}{self.provider}{self._numbers:04}"

    def seal(self, text: str) -> str:
        """A signature that no other fake gives."""
        return hmac.new(self._secret, text.encode(), "sha256").hexdigest()

    def is_sealed(self, text: Any, seal: Any) -> bool:
        return isinstance(text, str) and isinstance(seal, str) and self.seal(text) == seal

    def check_pairs(self, messages: list[Any]) -> None:
        """Refuse what the provider would for its calls and results."""
        try:
            found = validity.problems(self.provider, messages)
        except (AttributeError, KeyError, TypeError) as error:
            raise Refused(f"messages: not of the provider's form: {error!r}") from error
        if found:
            raise Refused("; ".join(found))

    # ASGI

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = [(name.decode(), value.decode("latin-1")) for name, value in scope["headers"]]
        recorded = Recorded(
            scope["method"],
            scope["raw_path"].decode(),
            scope["query_string"].decode(),
            headers,
            body,
        )
        self.recorded.append(recorded)
        fault = self._faults.popleft() if self._faults else None
        try:
            reply = self.reply(recorded) if not isinstance(fault, Failure) else fault.reply(self)
        except Refused as refused:
            self.refusals.append(str(refused))
            reply = Reply(refused.status, [self.error(refused)])
        await self._send(reply, fault, receive, send)

    async def _send(self, reply: Reply, fault: Any, receive: Any, send: Any) -> None:
        headers = [("content-type", reply.content_type), *reply.headers]
        if len(reply.chunks) == 1:
            headers.append(("content-length", str(len(reply.chunks[0]))))
        raw = [(name.encode(), value.encode()) for name, value in headers]
        start = {"type": "http.response.start", "status": reply.status, "headers": raw}
        if isinstance(fault, Hold) and await self._is_broken(fault, 0, receive):
            return
        await send(start)
        if isinstance(fault, Cut) and fault.after == 0:
            return
        for position, chunk in enumerate(reply.chunks):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            if await self._is_broken(fault, position + 1, receive):
                return
        await send({"type": "http.response.body"})

    async def _is_broken(self, fault: Any, position: int, receive: Any) -> bool:
        """True if the answer breaks off here."""
        if isinstance(fault, Cut):
            return fault.after == position
        if not isinstance(fault, Hold) or fault.after != position:
            return False
        gone = asyncio.ensure_future(receive())
        fault.is_held.set()
        await async_wait_until(lambda: gone.done() or fault.may_go.is_set(), what="the test")
        if not fault.may_go.is_set():
            fault.is_left.set()
            return True
        gone.cancel()
        return False


def refuse_unless(is_fine: bool, message: str, status: int = 400) -> None:
    if not is_fine:
        raise Refused(message, status)


def refuse_unknown(
    place: str, value: dict[str, Any], known: Sequence[str] | frozenset[str]
) -> None:
    """Refuse an object with a key that the provider's schema has not."""
    for key in value:
        refuse_unless(key in known, f"{place}.{key}: Extra inputs are not permitted")
