"""Thoughts without a signature: Anthropic refuses them, and other servers that speak its format want them back."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import ASK, kinds, repair

from toolcarry import ProjectPolicy

TEXT = ASK["content"][0]
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


@pytest.mark.parametrize("signature", [{}, {"signature": ""}, {"signature": None}])
def test_an_unsigned_thought_is_left_out(api: ModuleType, signature: dict[str, Any]) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", **signature}
    call = wire.assistant(thought, SIGNED, wire.use("t1"))
    found = repair(api, [ASK, call, wire.user(wire.result("t1"))])
    assert found.messages[1] == wire.assistant(SIGNED, wire.use("t1"))
    assert [(mend.kind, mend.position) for mend in found.report.mends] == [("unsigned_thought", 1)]


def test_a_message_of_nothing_else(api: ModuleType) -> None:
    """It goes with its thought, and a thought that is not readable has no signature."""
    hidden = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
    thought = {"type": "thinking", "thinking": "Hm."}
    messages = [ASK, wire.assistant(thought), ASK, wire.assistant(hidden, TEXT)]
    found = repair(api, messages)
    assert found.messages == [ASK, ASK, messages[3]]
    assert kinds(found) == ["unsigned_thought", "empty_message"]


def test_thinking_stops_with_the_thought_of_the_open_turn(api: ModuleType) -> None:
    thought = {"type": "thinking", "thinking": "Hm."}
    messages = [ASK, wire.assistant(thought, wire.use("t1")), wire.user(wire.result("t1"))]
    body = {"thinking": {"type": "enabled", "budget_tokens": 2000}, "messages": messages}
    found = api.project_body(json.dumps(body).encode(), policy=ProjectPolicy(repair=True))
    assert "thinking" not in json.loads(found.body)
    assert [mend.kind for mend in found.report.mends] == ["unsigned_thought", "stopped_thinking"]


def test_other_models_sign_nothing(api: ModuleType) -> None:
    thought = {"type": "thinking", "thinking": "Hm."}
    messages = [ASK, wire.assistant(thought, wire.use("t1")), wire.user(wire.result("t1"))]
    body = json.dumps({"model": "kimi-k2-thinking", "messages": messages}).encode()
    assert api.project_body(body, policy=ProjectPolicy(repair=True)).body == body


@pytest.mark.parametrize("role", ["assIstant", "user", None])
def test_a_message_that_gets_the_models_role(api: ModuleType, role: str | None) -> None:
    """Its thoughts go in the same repair, so that a second one changes nothing."""
    thought = {"type": "thinking", "thinking": "Hm."}
    call = {**wire.assistant(thought, wire.use("t1")), "role": role}
    once = repair(api, [ASK, call, wire.user(wire.result("t1"))])
    assert once.messages[1] == wire.assistant(wire.use("t1"))
    assert sorted(kinds(once)) == ["renamed_role", "unsigned_thought"]
    twice = repair(api, once.messages)
    assert (twice.messages, twice.report.mends) == (once.messages, ())
