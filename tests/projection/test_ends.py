"""A repaired conversation is not empty, and the model begins and ends it only if it did so before."""

from random import Random
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.builders.random_requests import histories
from support.examples import IS_LONG
from support.oracles.repairs import ASK, answer, kinds, repair
from support.providers.validity import PROVIDERS, problems

from toolcarry import ProjectPolicy

COUNT = 20_000 if IS_LONG else 400
GHOST = {"type": "tool_result", "tool_use_id": "ghost", "content": "ok"}
HELLO = wire.assistant({"type": "text", "text": "Hello."})


def is_models(message: dict[str, Any]) -> bool:
    is_call = str(message.get("type", "")).endswith(("_call", "reasoning"))
    return message.get("role") in ("assistant", "model") or is_call


def shows_provider(messages: list[Any], api: ModuleType) -> bool:
    """Return true if a call, a result or a thought says whose request it is; a text alone may be anybody's."""
    texts = ('"tool', "thinking", "toolUse", "toolResult", "function", "reasoning")
    return any(text in repr(messages).replace("'", '"') for text in texts)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_generated_histories(api: ModuleType, provider: str) -> None:
    """Half of Bedrock's histories take turns, as it asks for it; the others are put in order."""
    policy = ProjectPolicy(repair=True)
    for number in range(COUNT):
        is_alternating = provider == "bedrock" and number % 2 == 0
        messages = histories(
            Random(f"{provider} {number}"), provider, is_alternating=is_alternating
        )
        found = api.project(messages, policy=policy)
        assert found.messages, number
        assert is_models(messages[0]) or not is_models(found.messages[0]), number
        assert is_models(messages[-1]) or not is_models(found.messages[-1]), number
        assert api.project(found.messages, policy=policy).messages == found.messages, number
        assert found.report.not_repaired == "", number
        if shows_provider(messages, api):
            assert problems(provider, found.messages) == [], number


def test_a_result_alone(api: ModuleType) -> None:
    found = repair(api, [wire.user(GHOST)])
    assert [message["role"] for message in found.messages] == ["user"]
    assert "left out" in found.messages[0]["content"][0]["text"]
    assert kinds(found) == ["orphan_result", "empty_message", "stand_in"]


def test_the_user_begins_and_ends_as_before(api: ModuleType) -> None:
    found = repair(api, [wire.user(GHOST), HELLO, ASK, HELLO, wire.user(GHOST)])
    assert [message["role"] for message in found.messages] == ["user", "assistant"] * 2 + ["user"]
    assert found.messages[1:4] == [HELLO, ASK, HELLO]
    assert [mend.position for mend in found.report.mends if mend.kind == "stand_in"] == [4, 0]


def test_an_empty_message_next_to_a_user_message_is_removed(api: ModuleType) -> None:
    """Nothing has to stand in for it."""
    call = wire.assistant(wire.use("t1"))
    messages = [wire.user(GHOST), ASK, call, wire.user(wire.result("t1", "ok"))]
    assert repair(api, messages).messages == messages[1:]


def test_the_model_ends_as_before(api: ModuleType) -> None:
    found = repair(api, [ASK, wire.user(GHOST), HELLO])
    assert found.messages == [ASK, HELLO]


def test_a_thought_stays_before_a_stand_in(api: ModuleType) -> None:
    """It is not the end of the conversation, and a provider takes it."""
    thinking = wire.assistant({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
    found = repair(api, [ASK, thinking, wire.user(GHOST)])
    assert found.messages[:2] == [ASK, thinking]
    assert found.messages[2]["role"] == "user"


def test_a_thought_alone(api: ModuleType) -> None:
    thinking = wire.assistant({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
    found = repair(api, [thinking])
    assert kinds(found) == ["trailing_thought", "stand_in"]
    assert "Thinking" in found.messages[0]["content"][0]["text"]


@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_results_that_are_messages(api: ModuleType, provider: str) -> None:
    ghost = answer("ghost")
    hello: dict[str, Any] = {"role": "assistant", "content": "Hello."}
    if provider == "responses":
        ghost = {"type": "function_call_output", "call_id": "ghost", "output": "ok"}
    found = repair(api, [{"role": "system", "content": "Be brief."}, ghost, hello, ghost], provider)
    roles = [message["role"] for message in found.messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_a_result_that_moved_to_its_call(api: ModuleType) -> None:
    """The result was all that the user said last."""
    found = repair(
        api, [ASK, wire.assistant(wire.use("t1")), HELLO, wire.user(wire.result("t1", "ok"))]
    )
    assert [message["role"] for message in found.messages] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert "moved" in found.messages[-1]["content"][0]["text"]
