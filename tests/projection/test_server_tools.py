"""Server tool calls without a result, and results without a call: they stay in their message and are reported."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, kinds, repair
from support.providers.validity import problems

from toolcarry import Policy

REPAIR = Policy(repair=True)
TEXT = ASK["content"][0]
OWN = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
ANSWER = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([ASK, wire.assistant(OWN), ASK], "server_tool_use in message 1"),
        (
            [ASK, wire.assistant({**OWN, "type": "mcp_tool_use"}), ASK],
            "server_tool_use in message 1",
        ),
        ([ASK, wire.assistant(TEXT, ANSWER)], "server_tool_result in message 1"),
        (
            [*wire.bash("ls"), wire.assistant(ANSWER), ASK, wire.assistant(TEXT, OWN), ASK],
            "server_tool_result in message 2, server_tool_use in message 4",
        ),
        (
            [
                wire.assistant(wire.use("t1"), OWN),
                wire.user(wire.result("t1")),
                wire.assistant(TEXT),
                ASK,
            ],
            "server_tool_use in message 0",
        ),
    ],
)
def test_unpaired_server_calls(api: ModuleType, messages: list[Any], told: str) -> None:
    assert problems("anthropic", messages) != []
    found = api.project(messages, policy=REPAIR)
    assert (found.messages, found.report.mends) == (messages, ())
    assert found.report.not_repaired == told
    body = json.dumps({"messages": messages}).encode()
    assert api.project_body(body, policy=REPAIR).report.not_repaired == told


def test_a_result_of_the_clients_for_a_call_of_the_providers(api: ModuleType) -> None:
    """It is removed, so that the call has no result."""
    messages = [ASK, wire.assistant(OWN), wire.user(wire.result("srvtoolu_1"), TEXT)]
    found = api.project(messages, policy=REPAIR)
    assert found.messages == [ASK, wire.assistant(OWN), wire.user(TEXT)]
    assert kinds(found) == ["orphan_result"]
    assert found.report.not_repaired == "server_tool_use in message 1"
    assert (
        api.project(found.messages, policy=REPAIR).report.not_repaired == found.report.not_repaired
    )


@pytest.mark.parametrize(
    "messages",
    [
        [ASK, wire.assistant(OWN, ANSWER, TEXT), ASK],
        [ASK, wire.assistant(TEXT, OWN)],
        [ASK, wire.assistant(wire.use("t1"), OWN), wire.user(wire.result("t1"))],
    ],
)
def test_paused_turns(api: ModuleType, messages: list[Any]) -> None:
    """A paused turn is sent back unchanged, and so is one that waits for the client's results."""
    found = repair(api, messages)
    assert (found.messages, found.report.not_repaired) == (messages, "")
