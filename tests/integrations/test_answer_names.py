"""Tools in answers get the names that the client knows, in every format, streamed and not."""

import asyncio
import json
import struct
from typing import Any
from zlib import crc32

import pytest
from support.rows import for_each
from support.servers.hosts import JSON, KEY, SESSION, Echo, post

from toolcarry import ProjectPolicy
from toolcarry.integrations.answer_names import AnswerNames, rename_in, with_names
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.pipeline import RequestPipeline

NAMES = {"files_read": "files.read"}
CALL = {"function": {"name": "files_read", "arguments": "{}"}}
USE = {"type": "tool_use", "id": "t1", "name": "files_read", "input": {"name": "files_read"}}
ITEM = {"type": "function_call", "call_id": "c", "name": "files_read", "arguments": '{"name":"files_read"}'}  # fmt: skip
DOCUMENTS: list[Any] = [
    {"type": "message", "content": [{"type": "text", "text": "files_read"}, USE]},
    {"type": "content_block_start", "index": 0, "content_block": USE},
    {"choices": [{"message": {"content": "files_read", "tool_calls": [CALL]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, **CALL}]}}]},
    {"choices": [{"message": {"tool_calls": [{"custom": {"name": "files_read", "input": "x"}}]}}]},
    {"output": [ITEM], "tools": [{"type": "function", "name": "files_read"}]},
    {"type": "response.output_item.added", "item": ITEM},
    {"type": "response.function_call_arguments.done", "name": "files_read", "arguments": "{}"},
    {"type": "response.completed", "response": {"output": [ITEM]}},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "files_read", "args": {}}}]}}]},
    [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "files_read"}}]}}]}, {"candidates": []}],
    {"message": {"role": "assistant", "content": "", "tool_calls": [CALL]}, "done": False},
    {"output": {"message": {"content": [{"toolUse": {"name": "files_read", "input": {}}}]}}},
    {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "files_read"}}},
]  # fmt: skip
ONCE = '"files.read"'


@for_each("document", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_the_name_of_a_call_is_replaced_and_nothing_else(document: Any) -> None:
    data = json.dumps(document, indent=1).encode()
    made = with_names(data, NAMES)
    count = made.count(ONCE.encode())
    assert count == (2 if isinstance(document, dict) and "tools" in document else 1)
    assert made.replace(b"files.read", b"files_read") == data


@for_each("data", [b"files_read", b'{"files_read', b'"files_read"', b'{"x": "files_read"}', b""])
def test_what_has_no_such_call_is_unchanged(data: bytes) -> None:
    assert with_names(data, NAMES) is data


def test_objects_of_an_sdk_are_renamed_in_place() -> None:
    class Function:
        name = "files_read"

    class Holder:
        def __init__(self, **members: Any) -> None:
            self.__dict__.update(members)

    function = Function()
    answer = Holder(choices=[Holder(message={"tool_calls": [Holder(function=function)]})])
    rename_in(answer, NAMES)
    assert function.name == "files.read"


def passed_on(kind: bytes, chunks: list[bytes], *headers: tuple[bytes, bytes]) -> list[Any]:
    """Return the messages that a client gets for an answer in these chunks."""
    got: list[Any] = []

    async def send(message: Any) -> None:
        got.append(dict(message))

    async def run() -> None:
        names = AnswerNames(send, NAMES)
        given = [(b"content-type", kind), *headers]
        await names.send({"type": "http.response.start", "status": 200, "headers": given})
        for chunk in chunks:
            await names.send({"type": "http.response.body", "body": chunk, "more_body": True})
        await names.send({"type": "http.response.body", "body": b"", "more_body": False})

    asyncio.run(run())
    return got


def body_of(messages: list[Any]) -> bytes:
    assert not messages[-1].get("more_body", False)
    return b"".join(message.get("body", b"") for message in messages)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_stream_is_passed_on_line_by_line(size: int) -> None:
    events = [f"event: x\ndata: {json.dumps(document)}\n\n" for document in DOCUMENTS]
    data = "".join(events).encode() + b": files_read\n\ndata: [DONE]\n\n"
    messages = passed_on(b"text/event-stream; charset=utf-8", cut(data, size))
    made = body_of(messages)
    assert made.replace(b"files.read", b"files_read") == data
    assert made.count(b"files.read") >= len(DOCUMENTS) - 1  # an event is an object
    if size == 1:
        first = next(message for message in messages if message.get("body"))
        assert first["body"] == b"event: x\n"


def test_lines_without_an_end_are_not_lost() -> None:
    data = b'{"message": {"tool_calls": [{"function": {"name": "files_read"}}]}}\n{"done": tr'
    made = body_of(passed_on(b"application/x-ndjson", cut(data, 9)))
    assert made == data.replace(b"files_read", b"files.read")


def framed(payload: bytes) -> bytes:
    """Return a frame of Amazon's event stream."""
    headers = b"\x0b:event-type\x07\x00\x01x"
    sizes = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    start = sizes + struct.pack(">I", crc32(sizes)) + headers + payload
    return start + struct.pack(">I", crc32(start))


@pytest.mark.parametrize("size", [1, 33, 10_000])
def test_a_frame_of_amazon_gets_its_checksums(size: int) -> None:
    start = json.dumps(DOCUMENTS[-1]).encode()
    data = framed(b'{"role":"assistant"}') + framed(start) + framed(b'{"delta":{}}')
    made = body_of(passed_on(b"application/vnd.amazon.eventstream", cut(data, size)))
    renamed = start.replace(b"files_read", b"files.read")
    assert made == framed(b'{"role":"assistant"}') + framed(renamed) + framed(b'{"delta":{}}')
    broken = data[:-5]
    assert len(body_of(passed_on(b"application/vnd.amazon.eventstream", [broken]))) == len(broken)


def test_an_answer_in_one_piece_gets_its_length() -> None:
    data = json.dumps(DOCUMENTS[0]).encode()
    names = {"files_read": "a much longer name"}
    messages = passed_on(b"application/json", cut(data, 20), (b"content-length", str(len(data)).encode()))  # fmt: skip
    made = body_of(messages)
    assert dict(messages[0]["headers"])[b"content-length"] == str(len(made)).encode()
    assert made == with_names(data, NAMES)
    assert with_names(data, names) != made


@pytest.mark.parametrize(
    ("kind", "headers"),
    [(b"text/html", []), (b"application/json", [(b"content-encoding", b"gzip")])],
)
def test_what_can_not_be_read_is_passed_on_at_once(kind: bytes, headers: list[Any]) -> None:
    data = b'{"name": "files_read"}'
    assert [message.get("body") for message in passed_on(kind, [data], *headers)] == [None, data, b""]  # fmt: skip


# Through the middleware


ANSWER = json.dumps({"type": "message", "role": "assistant", "content": [USE]}).encode()


def request(*, name: str) -> bytes:
    call = {"type": "tool_use", "id": "t1", "name": name, "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    return json.dumps(
        {
            "model": "claude-sonnet-4-5",
            "tools": [{"name": name, "input_schema": {}}],
            "messages": [
                {"role": "user", "content": "Go."},
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
            ],
        }
    ).encode()


@pytest.mark.parametrize("headers", [(JSON, KEY, SESSION), (JSON,)])
def test_the_client_gets_its_own_names(headers: tuple[Any, ...]) -> None:
    """With and without a conversation that is remembered."""
    echo = Echo(chunks=[ANSWER], headers=(JSON,))
    app = ToolCarryMiddleware(echo, RequestPipeline(projection=ProjectPolicy(repair=True)))
    got = post(app, request(name="files.read"), "/v1/messages", *headers, (b"accept-encoding", b"gzip"))  # fmt: skip
    sent = json.loads(echo.bodies[0])
    assert sent["tools"][0]["name"] == sent["messages"][1]["content"][0]["name"] == "files_read"
    assert json.loads(body_of(got))["content"][0]["name"] == "files.read"
    assert dict(echo.scopes[0]["headers"])[b"accept-encoding"] == b"identity"


def test_without_new_names_an_answer_is_passed_on_as_it_comes() -> None:
    echo = Echo(chunks=[ANSWER[:9], ANSWER[9:]], headers=(JSON,))
    app = ToolCarryMiddleware(echo, RequestPipeline(projection=ProjectPolicy(repair=True)))
    got = post(app, request(name="files_read"), "/v1/messages", JSON, (b"accept-encoding", b"gzip"))
    assert [message.get("body") for message in got] == [None, ANSWER[:9], ANSWER[9:], b""]
    assert dict(echo.scopes[0]["headers"])[b"accept-encoding"] == b"gzip"


def test_each_backend_has_its_destination() -> None:
    """The policy has none; only requests to the second backend get ids of nine characters."""

    def chat() -> bytes:
        call = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        messages = [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        ]
        return json.dumps({"model": "m", "messages": messages}).encode()

    from toolcarry.integrations.identity import Identification

    echo = Echo(chunks=[b"{}"], headers=(JSON,))
    pipeline = RequestPipeline(projection=ProjectPolicy(repair=True), destinations={"b": "mistral"})
    for backend in "ab":
        app = ToolCarryMiddleware(echo, pipeline, identify=Identification(backend=backend))
        post(app, chat(), "/v1/chat/completions", JSON, KEY, SESSION)
    lengths = [len(json.loads(body)["messages"][2]["tool_call_id"]) for body in echo.bodies]
    assert lengths == [6, 9]


# Streams through the middleware

OWN_NAMES = ["files.read", "mcp__server__" + "a_tool_with_a_long_name_" * 4]
"""The client's names: one has a character that is refused, and one is too long."""


def asking(shape: str) -> tuple[str, bytes]:
    """Return the path and the body of a request that calls both tools and defines them."""
    ids = ["call_1", "call_2"]
    pairs = list(zip(ids, OWN_NAMES, strict=True))
    if shape == "anthropic":
        uses = [{"type": "tool_use", "id": i, "name": name, "input": {}} for i, name in pairs]
        results = [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in ids]
        turn: list[Any] = [
            {"role": "assistant", "content": uses},
            {"role": "user", "content": results},
        ]
        tools: list[Any] = [{"name": name, "input_schema": {}} for name in OWN_NAMES]
        path, key = "/v1/messages", "messages"
    elif shape == "chat":
        calls = [
            {"id": i, "type": "function", "function": {"name": name, "arguments": "{}"}}
            for i, name in pairs
        ]
        turn = [{"role": "assistant", "content": None, "tool_calls": calls}]
        turn += [{"role": "tool", "tool_call_id": i, "content": "ok"} for i in ids]
        tools = [{"type": "function", "function": {"name": name}} for name in OWN_NAMES]
        path, key = "/v1/chat/completions", "messages"
    else:
        turn = [
            {"type": "function_call", "call_id": i, "name": name, "arguments": "{}"}
            for i, name in pairs
        ]
        turn += [{"type": "function_call_output", "call_id": i, "output": "ok"} for i in ids]
        tools = [{"type": "function", "name": name} for name in OWN_NAMES]
        path, key = "/v1/responses", "input"
    body = {"model": "m", "stream": True, "tools": tools}
    return path, json.dumps({**body, key: [{"role": "user", "content": "Go."}, *turn]}).encode()


def events_of(shape: str, name: str, number: int) -> list[dict[str, Any]]:
    """Return the events of a stream in which the model calls a tool."""
    held = {"id": f"c{number}", "name": name}
    if shape == "anthropic":
        block = {"type": "tool_use", **held, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps({"name": name})}
        return [
            {"type": "content_block_start", "index": number, "content_block": block},
            {"type": "content_block_delta", "index": number, "delta": delta},
            {"type": "content_block_stop", "index": number},
        ]
    if shape == "chat":
        first = {"index": number, "id": f"c{number}", "type": "function", "function": {"name": name, "arguments": ""}}  # fmt: skip
        rest = {"index": number, "function": {"arguments": json.dumps({"name": name})}}
        deltas = [{"role": "assistant", "tool_calls": [first]}, {"tool_calls": [rest]}]
        return [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"c{number}", "name": name, "arguments": ""}  # fmt: skip
    done = {**item, "arguments": json.dumps({"name": name})}
    return [
        {"type": "response.output_item.added", "output_index": number, "item": item},
        {"type": "response.function_call_arguments.delta", "item_id": item["id"], "delta": done["arguments"]},
        {"type": "response.function_call_arguments.done", "item_id": item["id"], "name": name, "arguments": done["arguments"]},
        {"type": "response.output_item.done", "output_index": number, "item": done},
        {"type": "response.completed", "response": {"output": [done], "tools": [{"type": "function", "name": name}]}},
    ]  # fmt: skip


class Streaming:
    """A server that calls each tool that a request defines, in a stream of small chunks."""

    def __init__(self, shape: str, size: int) -> None:
        self.shape, self.size = shape, size
        self.sent: list[str] = []
        self.data = b""

    async def __call__(self, _scope: Any, receive: Any, send: Any) -> None:
        body = b""
        has_more = True
        while has_more:
            message = await receive()
            body += message.get("body", b"")
            has_more = message.get("more_body", False)
        defined = json.loads(body)["tools"]
        self.sent = [tool.get("function", tool)["name"] for tool in defined]
        events = [
            event
            for number, name in enumerate(self.sent)
            for event in events_of(self.shape, name, number)
        ]
        lines = [
            f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n"
            for event in events
        ]
        self.data = "".join(lines).encode() + b"data: [DONE]\n\n"
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for chunk in cut(self.data, self.size):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def names_in(value: Any) -> list[str]:
    """Return the names in an event, apart from those in arguments."""
    if isinstance(value, list):
        return [name for each in value for name in names_in(each)]
    if not isinstance(value, dict):
        return []
    own = [value["name"]] if isinstance(value.get("name"), str) else []
    return own + [name for each in value.values() for name in names_in(each)]


@for_each("size", [5, 100_000])
@for_each("headers", [(JSON, KEY, SESSION), (JSON,)], ids=["known", "unknown"])
@for_each("shape", ["anthropic", "chat", "responses"])
def test_a_stream_has_the_clients_names(shape: str, headers: tuple[Any, ...], size: int) -> None:
    """Arguments stay as the model wrote them, and so does everything else."""
    server = Streaming(shape, size)
    app = ToolCarryMiddleware(server, RequestPipeline(projection=ProjectPolicy(repair=True)))
    path, body = asking(shape)
    data = body_of(post(app, body, path, *headers))
    limit = 128 if shape == "anthropic" else 64
    assert [len(name) <= limit for name in server.sent] == [True, True]
    assert server.sent[0] != OWN_NAMES[0]
    given = [json.loads(line[6:]) for line in server.data.splitlines() if b"{" in line]
    events = [json.loads(line[6:]) for line in data.splitlines() if b"{" in line]
    own = dict(zip(server.sent, OWN_NAMES, strict=True))
    for event, was in zip(events, given, strict=True):
        assert names_in(event) == [own[name] for name in names_in(was)]
    assert set(names_in(events)) == set(OWN_NAMES)
    arguments = [json.dumps(json.dumps({"name": name})).encode() for name in server.sent]
    assert all(data.count(each) == server.data.count(each) for each in arguments)
    assert data.endswith(b"data: [DONE]\n\n")
