"""Members that the type of a part does not have: Anthropic refuses a request for each of them."""

from types import ModuleType
from typing import Any

import pytest
from support.oracles.repairs import ASK, kinds

from toolcarry import Destination, ProjectPolicy, check

CALL = {"type": "tool_use", "id": "t1", "name": "find", "input": {"q": "eel"}}
ANSWER = {"type": "tool_result", "tool_use_id": "t1", "content": "2 eels"}


def request(*said: dict[str, Any], answer: dict[str, Any] = ANSWER) -> list[dict[str, Any]]:
    return [ASK, {"role": "assistant", "content": [*said]}, {"role": "user", "content": [answer]}]


def repaired(
    api: ModuleType, messages: list[dict[str, Any]], destination: Any = "anthropic"
) -> Any:
    policy = ProjectPolicy(repair=True, destination=destination)
    found = api.project(messages, policy=policy)
    assert api.project(found.messages, policy=policy).messages == found.messages
    named = [problem.rule for problem in check(messages, destination=destination)]
    assert named == kinds(found)
    assert check(found.messages, destination=destination) == ()
    return found


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("text", {"index": 0}),
        ("text", {"id": "lc_1", "annotations": []}),
        ("thinking", {"cache_control": {"type": "ephemeral"}}),
        ("redacted_thinking", {"cache_control": {"type": "ephemeral"}}),
        ("tool_use", {"text": "", "index": 1}),
    ],
)
def test_members_of_streams_and_clients_go(
    api: ModuleType, kind: str, more: dict[str, Any]
) -> None:
    parts = {
        "text": {"type": "text", "text": "Looking."},
        "thinking": {"type": "thinking", "thinking": "Where?", "signature": "c2ln"},
        "redacted_thinking": {"type": "redacted_thinking", "data": "ENC"},
        "tool_use": CALL,
    }
    said = [part | (more if own == kind else {}) for own, part in parts.items()]
    found = repaired(api, request(*said))
    assert found.messages == request(*parts.values())
    assert {(mend.kind, mend.detail) for mend in found.report.mends} == {
        ("refused_member", name) for name in more
    }


@pytest.mark.parametrize("name", ["partial_json", "_partial_json"])
def test_an_empty_input_is_what_the_stream_left(api: ModuleType, name: str) -> None:
    left = CALL | {"input": {}, name: '{"q": "eel"}'}
    assert repaired(api, request(left)).messages == request(CALL)
    cut = CALL | {"input": {}, name: '{"q": "ee'}
    assert repaired(api, request(cut)).messages == request(CALL | {"input": {}})


def test_what_supersedes_what_is_decided_with_the_input(api: ModuleType) -> None:
    """The second call reads the same file, which only the text of the stream says."""
    messages = [ASK]
    for call_id in ("t1", "t2"):
        read = {"type": "tool_use", "id": call_id, "name": "Read", "input": {}}
        left = {"partial_json": '{"file_path": "a.py"}'}
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": "x = 1\n" * 90}
        messages += request(read | left, answer=answer)[1:]
    found = repaired(api, messages).messages
    assert found[2]["content"][0]["content"].startswith("[toolcarry: superseded by call t2")


def test_members_of_results_and_of_their_parts_go(api: ModuleType) -> None:
    part = {"type": "text", "text": "2 eels"}
    answer = ANSWER | {"name": "find", "content": [part | {"annotations": []}]}
    found = repaired(api, request(CALL, answer=answer))
    assert found.messages == request(CALL, answer=ANSWER | {"content": [part]})


def test_parts_of_other_types_and_destinations_are_unchanged(api: ModuleType) -> None:
    odd = {"type": "compaction", "content": "So far.", "index": 0}
    assert repaired(api, request(odd, CALL)).messages == request(odd, CALL)
    said = request({"type": "text", "text": "Hm.", "index": 0}, CALL)
    assert repaired(api, said, "anthropic-compatible").messages == said


def test_a_destination_of_a_user_knows_other_members(api: ModuleType) -> None:
    own = Destination("gateway", "anthropic", {"part_members": {"text": ["type", "text", "index"]}})
    said = request({"type": "text", "text": "Hm.", "index": 0}, CALL | {"index": 1})
    assert repaired(api, said, own).messages == said


def test_a_blank_text_of_bedrock_with_a_member_that_goes(api: ModuleType) -> None:
    given = [{"role": "user", "content": [{"text": "Go."}, {"text": " ", "index": 0}]}]
    found = repaired(api, given, "bedrock")
    assert found.messages == [{"role": "user", "content": [{"text": "Go."}]}]
    assert "empty_text" in kinds(found)
