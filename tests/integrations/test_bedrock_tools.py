"""The tool cache restores the ``toolConfig`` of requests to Bedrock, which refuses calls in a request without it."""

import json
from typing import Any

from support.rows import for_each
from support.servers.hosts import JSON, KEY, SESSION, Echo, post

from toolcarry import ProjectPolicy
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.tool_cache import ToolCache

ASK = {"role": "user", "content": [{"text": "Go."}]}
SPEC = {
    "toolSpec": {
        "name": "ls",
        "description": "List.",
        "inputSchema": {"json": {"type": "object", "properties": {"path": {"type": "string"}}}},
    }
}
CALL = {"toolUse": {"toolUseId": "t1", "name": "ls", "input": {}}}
RESULT = {"toolResult": {"toolUseId": "t1", "content": [{"text": "a.py"}]}}
TURN = [ASK, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [RESULT]}]
CONFIG = {"tools": [SPEC], "toolChoice": {"auto": {}}}


def sent(
    *requests: dict[str, Any], path: str = "/model/m/converse", repair: bool = True
) -> list[Any]:
    """Return the bodies that the backend gets for the requests of one conversation."""
    echo = Echo(chunks=[b"{}"], headers=(JSON,))
    pipeline = RequestPipeline(projection=ProjectPolicy(repair=repair), tool_cache=ToolCache())
    app = ToolCarryMiddleware(echo, pipeline)
    for request in requests:
        post(app, json.dumps(request).encode(), path, JSON, KEY, SESSION)
    return [json.loads(body) for body in echo.bodies]


@for_each("repair", [True, False])
@for_each("ending", ["converse", "converse-stream"])
@for_each("given", [{}, {"toolConfig": {}}, {"toolConfig": {"tools": []}}])
def test_a_request_without_tools_gets_those_of_an_earlier_one(
    given: dict[str, Any], ending: str, repair: bool
) -> None:
    """Those that the client defined, with their schemas, and not ones that are made of the names."""
    first, second = sent(
        {"messages": [ASK], "toolConfig": CONFIG},
        {"messages": TURN, **given},
        path=f"/model/m/{ending}",
        repair=repair,
    )
    assert first["toolConfig"] == CONFIG
    assert second["toolConfig"] == {"tools": [SPEC]}
    assert second["messages"] == TURN


def test_the_tools_of_a_request_are_its_own() -> None:
    other = {"tools": [{"toolSpec": {**SPEC["toolSpec"], "name": "cat"}}]}
    bodies = sent(
        {"messages": [ASK], "toolConfig": CONFIG}, {"messages": TURN, "toolConfig": other}
    )
    assert [body["toolConfig"] for body in bodies] == [CONFIG, other]


def test_without_an_earlier_request_definitions_are_made_of_the_names() -> None:
    (body,) = sent({"messages": TURN})
    made = {"toolSpec": {"name": "ls", "inputSchema": {"json": {"type": "object"}}}}
    assert body["toolConfig"] == {"tools": [made]}
