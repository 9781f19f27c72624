"""Hosts for the tests of the integrations: a transformer, an application, a server, and a client that sees bytes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson
import uvicorn
from support.clocks import async_wait_until

from toolcarry import ProjectPolicy
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.pipeline import RequestPipeline

KEY = (b"x-api-key", b"sk-1")
SESSION = (b"x-session-id", b"s1")
JSON = (b"content-type", b"application/json")


@dataclass(frozen=True)
class Changed:
    body: bytes
    is_switched: bool
    line: str = ""


@dataclass
class NamingTransformer:
    """Writes into a body which backend it goes to, once the conversation was answered by another one."""

    last: dict[tuple[str, str], str] = field(default_factory=dict)
    told: list[tuple[str, str, str, str]] = field(default_factory=list)

    async def atransform_body(
        self,
        body: bytes,
        *,
        conversation: str,
        backend: str,
        tenant: str = "",
        fields: Any = None,  # noqa: ARG002
    ) -> Changed:
        last = self.last.get((tenant, conversation), backend)
        line = f"line of {conversation}"
        if last == backend:
            return Changed(body, False, line)
        document = {**orjson.loads(body), "switched": f"{last} to {backend}"}
        return Changed(orjson.dumps(document), True, line)

    async def aanswered(
        self, conversation: str, backend: str, *, tenant: str = "", line: str = ""
    ) -> None:
        self.last[tenant, conversation] = backend
        self.told.append((tenant, conversation, backend, line))


@dataclass
class Echo:
    """An application that keeps the body that it received and sends it back, in a given number of chunks."""

    status: int = 200
    chunks: Iterable[bytes] | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()
    bodies: list[bytes] = field(default_factory=list)
    scopes: list[dict[str, Any]] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        body = b""
        while True:
            message = await receive()
            self.received.append(message)
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.bodies.append(body)
        headers = list(self.headers)
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        chunks = [body] if self.chunks is None else list(self.chunks)
        for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def scope_for(path: str = "/v1/messages", *headers: tuple[bytes, bytes], **others: Any) -> Any:
    given = headers or (JSON, KEY, SESSION)
    return {"type": "http", "method": "POST", "path": path, "headers": list(given), **others}


def messages_of(*parts: bytes) -> list[dict[str, Any]]:
    last = len(parts) - 1
    return [
        {"type": "http.request", "body": part, "more_body": number < last}
        for number, part in enumerate(parts)
    ]


async def call(
    app: Callable[..., Awaitable[None]], scope: Any, messages: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return what an application sends; after the messages the client stays silent, and then disconnects."""
    waiting = list(messages)
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await app(scope, receive, send)
    return sent


def post(app: Any, body: bytes, *args: Any, **options: Any) -> list[dict[str, Any]]:
    return asyncio.run(call(app, scope_for(*args, **options), messages_of(body)))


@contextlib.asynccontextmanager
async def served(app: Any) -> AsyncIterator[int]:
    """The port at which uvicorn serves an application."""
    config = uvicorn.Config(
        app,
        port=0,
        lifespan="off",
        log_level="critical",
        ws="none",
        timeout_keep_alive=75,  # a request must not meet a connection that is just being closed
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    try:
        await async_wait_until(lambda: server.started or task.done(), what="uvicorn to start")
        assert server.started
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await task


def raw_request(body: bytes, *headers: str, path: str = "/v1/messages") -> bytes:
    """A request as a client writes it, with its length unless it says how it comes."""
    lines = [f"POST {path} HTTP/1.1", "host: h", "x-api-key: sk-1", "x-session-id: s1", *headers]
    if not any(line.startswith("content-type") for line in headers):
        lines.append("content-type: application/json")
    if not any(line.startswith("transfer-encoding") for line in headers):
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def conversation(*results: str, first: str = "Look.", **members: Any) -> bytes:
    """Return an Anthropic request in which ``a.py`` was read once for each result."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": first}]
    for number, text in enumerate(results):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"path": "a.py"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
    return json.dumps({"model": "a", "messages": messages, **members}).encode()


CUT = ProjectPolicy(max_result_chars=200)
LONG = conversation("x = 1\n" * 400)


def cutting(**options: Any) -> tuple[Echo, ToolCarryMiddleware]:
    echo = Echo()
    return echo, ToolCarryMiddleware(echo, RequestPipeline(projection=CUT), **options)


def switching(echo: Echo) -> tuple[NamingTransformer, ToolCarryMiddleware]:
    transformer = NamingTransformer()
    return transformer, ToolCarryMiddleware(echo, RequestPipeline(transformer=transformer))


WAIT = 30.0

Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def drive(app: Any, client: Client) -> None:
    """Let a client talk to an application that uvicorn serves."""

    async def run() -> None:
        async with asyncio.timeout(WAIT), served(app) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                await client(reader, writer)
            finally:
                writer.close()

    asyncio.run(run())


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """The status and the body of one response."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    status = int(head.split()[1])
    if "transfer-encoding: chunked" in head:
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
        return status, body
    length = head.partition("content-length:")[2].split()
    return status, await reader.readexactly(int(length[0]))
