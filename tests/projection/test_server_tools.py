"""Server tool calls without a result, and results without a call: Anthropic refuses them, and they are left out."""

from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, kinds, repair
from support.providers.validity import problems

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)
TEXT = ASK["content"][0]
OWN = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
ANSWER = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


MCP = {**OWN, "type": "mcp_tool_use"}


@pytest.mark.parametrize(
    ("messages", "left", "made"),
    [
        ([ASK, wire.assistant(TEXT, OWN), ASK], [(1, [TEXT])], [("server_call", 1)]),
        ([ASK, wire.assistant(TEXT, MCP), ASK], [(1, [TEXT])], [("server_call", 1)]),
        ([ASK, wire.assistant(TEXT, ANSWER)], [(1, [TEXT])], [("orphan_result", 1)]),
        (
            [*wire.bash("ls"), wire.assistant(TEXT, ANSWER), ASK, wire.assistant(TEXT, OWN), ASK],
            [(2, [TEXT]), (4, [TEXT])],
            [("orphan_result", 2), ("server_call", 4)],
        ),
        (
            [
                wire.assistant(wire.use("t1"), OWN),
                wire.user(wire.result("t1")),
                wire.assistant(TEXT),
                ASK,
            ],
            [(0, [wire.use("t1")])],
            [("server_call", 0)],
        ),
    ],
)
def test_unpaired_server_calls(
    api: ModuleType,
    messages: list[Any],
    left: list[tuple[int, list[Any]]],
    made: list[tuple[str, int]],
) -> None:
    """Nothing is made up, since only the provider knows the result, and the rest of the message stays."""
    assert problems("anthropic", messages) != []
    found = repair(api, messages)
    wanted = list(messages)
    for position, content in left:
        wanted[position] = {**wanted[position], "content": content}
    assert found.messages == wanted
    assert [(mend.kind, mend.position) for mend in found.report.mends] == made
    assert found.report.not_repaired == ""


RUN = {**OWN, "name": "code_execution", "input": {"code": "await f()"}}
BY_CODE = {
    **wire.use("t1"),
    "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"},
}
STOP = wire.user({"type": "text", "text": "Stop."})


@pytest.mark.parametrize(
    ("answer", "made"),
    [
        ([STOP], ["missing_result"]),
        ([{"role": "user", "content": "Stop."}], ["missing_result"]),
        ([wire.user(wire.result("t1"), *STOP["content"])], ["moved_result"]),
        ([wire.user(wire.result("t1")), STOP], []),
    ],
)
@pytest.mark.parametrize("server_call", [OWN, RUN])
@pytest.mark.parametrize("call", [wire.use("t1"), BY_CODE])
def test_words_end_a_turn_that_waits_for_the_server(
    api: ModuleType, answer: list[Any], made: list[str], server_call: Any, call: Any
) -> None:
    """The words of the user are sent. The server's call goes, and the client's becomes a call of the model itself."""
    messages = [ASK, wire.assistant(TEXT, server_call, call), *answer]
    assert problems("anthropic", messages) != []
    found = repair(api, messages)
    assert problems("anthropic", found.messages) == []
    assert found.messages[1] == wire.assistant(TEXT, wire.use("t1"))
    assert [part["type"] for part in found.messages[2]["content"]] == ["tool_result"]
    assert found.messages[3]["content"] in ("Stop.", STOP["content"])
    named = ["refused_member"] * ("caller" in call)
    assert kinds(found) == ["server_call", *named, *made]


def test_results_alone_go_on_with_the_turn(api: ModuleType) -> None:
    messages = [ASK, wire.assistant(TEXT, RUN, BY_CODE), wire.user(wire.result("t1"))]
    assert repair(api, messages).messages == messages
    more = [
        *messages,
        wire.assistant({**BY_CODE, "id": "t2"}),
        wire.user(wire.result("t2"), *STOP["content"]),
    ]
    found = repair(api, more)
    assert found.messages[1] == wire.assistant(TEXT, wire.use("t1"))
    assert found.messages[3] == wire.assistant({**wire.use("t1"), "id": "t2"})
    assert problems("anthropic", found.messages) == []


def test_a_message_of_nothing_but_a_server_call(api: ModuleType) -> None:
    found = repair(api, [ASK, wire.assistant(OWN), ASK])
    assert found.messages == [ASK, ASK]
    assert kinds(found) == ["server_call", "empty_message"]


def test_a_removed_call_is_not_counted(api: ModuleType) -> None:
    """The turns and the results after it are the same as without it."""
    page = "a line of text\n" * 200
    rest = [ASK, *wire.bash("ls", page, "t1"), wire.assistant(TEXT)]
    policy = ProjectPolicy(repair=True, max_all_results_chars=1000)
    once = api.project([ASK, wire.assistant(TEXT, OWN), *rest], policy=policy)
    assert api.project(once.messages, policy=policy).messages == once.messages
    assert api.project([ASK, wire.assistant(TEXT), *rest], policy=policy).messages == once.messages


def test_bedrocks_are_only_reported(api: ModuleType) -> None:
    """It is not known what Bedrock refuses."""
    use = {"toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use", "input": {}}
    asked = {"role": "user", "content": [{"text": "?"}]}
    messages = [asked, {"role": "assistant", "content": [{"toolUse": use}]}, asked]
    found = api.project(messages, policy=REPAIR)
    assert (found.messages, found.report.not_repaired) == (messages, "server_tool_use in message 1")


def test_a_result_of_the_clients_for_a_call_of_the_providers(api: ModuleType) -> None:
    """It is removed, so that the call has no result, and goes as well."""
    messages = [ASK, wire.assistant(TEXT, OWN), wire.user(wire.result("srvtoolu_1"), TEXT)]
    found = repair(api, messages)
    assert found.messages == [ASK, wire.assistant(TEXT), wire.user(TEXT)]
    assert kinds(found) == ["server_call", "orphan_result"]


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


@pytest.mark.parametrize("destination", ["anthropic", "anthropic-no-prefill"])
@pytest.mark.parametrize(
    "content", [[TEXT, OWN], [OWN, ANSWER, TEXT, {**OWN, "id": "srvtoolu_2"}], [TEXT, OWN, TEXT]]
)
@pytest.mark.parametrize("before", [[], [ASK]], ids=["no user", "a user"])
def test_a_last_turn_after_which_a_user_message_is_put(
    api: ModuleType, before: list[Any], content: list[Any], destination: str
) -> None:
    """It is over then, so that its open call goes at once, and a second repair changes nothing."""
    policy = ProjectPolicy(repair=True, destination=destination)
    once = api.project([*before, wire.assistant(*content)], policy=policy)
    is_over = not before or destination == "anthropic-no-prefill"
    assert ("missing_user" in kinds(once)) is is_over
    assert ("server_call" in kinds(once)) is is_over
    twice = api.project(once.messages, policy=policy)
    assert (twice.messages, twice.report.mends) == (once.messages, ())
