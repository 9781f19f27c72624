"""Results that stand before their calls: each moves after its call if no other call has its id."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, INTERRUPTED, answer, chat, kinds, repair

from toolcarry import ProjectPolicy

TEXT = ASK["content"][0]


def converse(part: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [part]}


EARLY: dict[str, tuple[list[Any], list[Any]]] = {
    "anthropic": (
        [ASK, wire.assistant(TEXT), wire.user(wire.result("t1", "ok"), TEXT), wire.assistant(wire.use("t1"))],
        [ASK, wire.assistant(TEXT), ASK, wire.assistant(wire.use("t1")), wire.user(wire.result("t1", "ok"))],
    ),
    "openai": (
        [{"role": "user", "content": "?"}, answer("t1"), chat(("t1", "f"))],
        [{"role": "user", "content": "?"}, chat(("t1", "f")), answer("t1")],
    ),
    "responses": (
        [
            {"role": "user", "content": "?"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call_output", "call_id": "t1", "output": "ok"},
            {"type": "function_call", "call_id": "t1", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "t2", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "t2", "output": "ok"},
        ],
        [
            {"role": "user", "content": "?"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "call_id": "t1", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "t2", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "t1", "output": "ok"},
            {"type": "function_call_output", "call_id": "t2", "output": "ok"},
        ],
    ),
    "bedrock": (
        [
            converse({"text": "?"}),
            converse({"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}),
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}]},
        ],
        [
            converse({"text": "?"}),
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}]},
            converse({"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}),
        ],
    ),
    "gemini": (
        [
            {"role": "user", "parts": [{"text": "?"}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "t1", "name": "f", "response": {"a": 1}}}]},
            {"role": "model", "parts": [{"functionCall": {"id": "t1", "name": "f", "args": {}}}]},
        ],
        [
            {"role": "user", "parts": [{"text": "?"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "t1", "name": "f", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "t1", "name": "f", "response": {"a": 1}}}]},
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("provider", EARLY)
def test_it_moves_after_its_call(api: ModuleType, provider: str) -> None:
    given, wanted = EARLY[provider]
    found = repair(api, given, provider)
    assert found.messages == wanted
    moved = next(mend for mend in found.report.mends if mend.kind == "moved_result")
    assert moved.call_id == "t1"
    assert set(kinds(found)) <= {"moved_result", "empty_message", "merged_message"}
    assert found.report.orphan_results == found.report.orphan_calls == 0


def test_two_calls_with_its_id(api: ModuleType) -> None:
    """It could be of either, so that it is left out."""
    lost = wire.user(wire.result("t1", "early"), TEXT)
    calls = [wire.assistant(wire.use("t1")), ASK, wire.assistant(wire.use("t1")), ASK]
    found = repair(api, [ASK, wire.assistant(TEXT), lost, *calls])
    assert "early" not in str(found.messages)
    assert {"duplicate_result", "renamed_id"} <= set(kinds(found))


def test_a_call_with_a_result_of_its_own(api: ModuleType) -> None:
    """The one in its place counts."""
    messages = [ASK, answer("t1", "early"), chat(("t1", "f")), answer("t1", "late")]
    found = repair(api, messages, "openai")
    assert found.messages == [ASK, *messages[2:]]
    assert kinds(found) == ["duplicate_result"]


def test_two_early_results(api: ModuleType) -> None:
    """The first one counts, as after a call."""
    messages = [ASK, answer("t1", "first"), answer("t1", "second"), chat(("t1", "f"))]
    found = repair(api, messages, "openai")
    assert found.messages == [ASK, chat(("t1", "f")), answer("t1", "first")]
    assert kinds(found) == ["moved_result", "duplicate_result"]


def test_a_conversation_that_goes_on_from_stored_messages(api: ModuleType) -> None:
    """The result may answer a stored call."""
    lost = {"type": "function_call_output", "call_id": "t1", "output": "ok"}
    call = {"type": "function_call", "call_id": "t1", "name": "f", "arguments": "{}"}
    body = json.dumps({"previous_response_id": "resp_1", "input": [lost, call]}).encode()
    found = api.project_body(body, policy=ProjectPolicy(repair=True))
    assert found.body is body
    assert found.report.not_repaired == "continued by previous_response_id"


def test_a_moved_result_is_judged_with_its_call(api: ModuleType) -> None:
    """A later run of its command supersedes it, so that a second projection changes nothing."""
    page = "a line of text\n" * 40
    early = wire.user(wire.result("t1", page), TEXT)
    first = [ASK, wire.assistant(TEXT), early, wire.assistant(wire.use("t1", "Bash", command="ls"))]
    then = [
        ASK,
        wire.assistant(wire.use("t2", "Bash", command="ls")),
        wire.user(wire.result("t2", page)),
    ]
    found = repair(api, [*first, *then])
    assert [each.reference for each in found.report.replacements] == ["t1"]
    assert INTERRUPTED["content"] not in str(found.messages)
