"""Schemas of tools that a provider refuses, and members around the messages that it does not know."""

import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import Destination, ProjectPolicy, check
from toolcarry.tool_cache import convert_tools

ASK = {"role": "user", "content": "Attach it."}
EITHER = {
    "description": "One of both.",
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "anyOf": [
        {"properties": {"url": {"type": "string"}}, "required": ["url"]},
        {"properties": {"data": {"type": "string"}, "name": {"type": "integer"}}},
    ],
}
MERGED = {
    "type": "object",
    "description": "One of both.",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "url": {"type": "string"},
        "data": {"type": "string"},
    },
}


def tool(destination: str, schema: dict[str, Any] | None) -> dict[str, Any]:
    made: dict[str, Any] = {"name": "attach"}
    if schema is not None:
        made["input_schema" if destination == "anthropic" else "parameters"] = schema
    if destination == "openai-chat":
        return {"type": "function", "function": made}
    return made if destination == "anthropic" else {"type": "function", **made}


def repaired(api: ModuleType, body: dict[str, Any], destination: Any) -> tuple[Any, list[str]]:
    policy = ProjectPolicy(repair=True, destination=destination)
    given = json.dumps(body).encode()
    once = api.project_body(given, policy=policy)
    assert api.project_body(once.body, policy=policy).body == once.body
    kinds = [mend.kind for mend in once.report.mends]
    assert [problem.rule for problem in check(given, destination=destination)] == kinds
    assert check(once.body, destination=destination) == ()
    return json.loads(once.body), kinds


@pytest.mark.parametrize("destination", ["anthropic", "openai-chat", "openai-responses"])
def test_members_at_the_root_go(api: ModuleType, destination: str) -> None:
    holder = "input" if destination == "openai-responses" else "messages"
    body = {"tools": [tool(destination, EITHER), tool(destination, MERGED)], holder: [ASK]}
    found, kinds = repaired(api, body, destination)
    assert found == body | {"tools": [tool(destination, MERGED)] * 2}
    assert kinds == ["refused_schema"]


def test_a_tool_without_a_schema_gets_one(api: ModuleType) -> None:
    own = {"type": "web_search_20250305", "name": "web_search"}
    body = {"tools": [tool("anthropic", None), own], "messages": [ASK]}
    found, kinds = repaired(api, body, "anthropic")
    assert found["tools"] == [tool("anthropic", {"type": "object"}), own]
    assert kinds == ["refused_schema"]
    body = {"tools": [tool("openai-chat", None)], "messages": [ASK]}
    assert repaired(api, body, "openai-chat") == (body, [])


@pytest.mark.parametrize("target", ["anthropic", "openai", "responses"])
def test_converted_definitions_have_none_of_them(target: Any) -> None:
    made = convert_tools([{"name": "attach", "inputSchema": EITHER}], source="mcp", target=target)
    assert '"anyOf"' not in json.dumps(made)
    assert convert_tools(made, source=target, target=target) == made
    assert '"data"' in json.dumps(made)


def test_a_member_that_vertex_does_not_know(api: ModuleType) -> None:
    edits = {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}
    body = {"anthropic_version": "vertex-2023-10-16", "messages": [ASK]}
    found, kinds = repaired(api, body | edits, None)
    assert (found, kinds) == (body, ["refused_member"])
    plain = {"model": "claude-sonnet-4-5", "messages": [ASK]} | edits
    assert repaired(api, plain, None) == (plain, [])


def test_places_of_a_users_destination(api: ModuleType) -> None:
    own = Destination(
        "gateway", "anthropic", {"refused_places": [["metadata"], ["tools", "*", "strict"]]}
    )
    made = tool("anthropic", MERGED)
    body = {"metadata": {"user_id": "u"}, "tools": [made | {"strict": True}], "messages": [ASK]}
    found, kinds = repaired(api, body, own)
    assert (found, kinds) == ({"tools": [made], "messages": [ASK]}, ["refused_member"] * 2)
