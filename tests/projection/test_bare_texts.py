"""Texts without a type, or with one of Responses, get the type of the destination's texts if its parts have types.

Texts without a type are Bedrock's, unless something else in the request tells of parts with types.
"""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import answer, chat
from support.providers.validity import problems
from support.rows import for_each

from toolcarry import ProjectPolicy

BARE = {"text": "Go on."}
TYPED = {"type": "text", **BARE}
MARK = {"cache_control": {"type": "ephemeral"}}
PLACES = [(role, place) for role in ("user", "assistant") for place in ("alone", "first", "last")]
EVIDENCE: dict[str, list[dict[str, Any]]] = {
    "a call": wire.bash("ls"),
    "an open call": [wire.assistant(wire.use("t1"))],
    "a thought": [wire.assistant({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, TYPED)],
    "an image": [wire.user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}})],
    "words of the assistant": [wire.user(TYPED), wire.assistant(TYPED)],
    "a lost result": [wire.user(wire.result("t9"), TYPED)],
}  # fmt: skip


def said(role: str, place: str, part: dict[str, Any]) -> dict[str, Any]:
    """Return a message with a part alone, or next to one with a type."""
    parts = {"alone": [part], "first": [part, TYPED], "last": [TYPED, part]}[place]
    return {"role": role, "content": parts}


def repaired(
    api: ModuleType, messages: list[Any], destination: str | None = None, key: str = "messages"
) -> Any:
    """Repair objects and bytes, and see that a second repair changes nothing."""
    policy = ProjectPolicy(repair=True, destination=destination)
    found = api.project(messages, policy=policy)
    body = api.project_body(json.dumps({key: messages}).encode(), policy=policy)
    assert json.loads(body.body)[key] == found.messages
    again = api.project(found.messages, policy=policy)
    assert (again.messages, again.report.mends) == (found.messages, ())
    return found


def texts(messages: list[Any]) -> list[Any]:
    """Return the parts of messages that are texts."""
    parts = [part for message in messages for part in message["content"] if "text" in part]
    return [part for part in parts if "toolResult" not in part]


@for_each(("role", "place"), PLACES)
@for_each("name", EVIDENCE)
def test_next_to_what_is_anthropics(api: ModuleType, name: str, role: str, place: str) -> None:
    for is_before in (True, False):
        bare = [wire.user(TYPED), said(role, place, BARE), wire.user(TYPED)]
        messages = [*bare, *EVIDENCE[name]] if is_before else [*EVIDENCE[name], *bare]
        found = repaired(api, messages)
        assert found.report.not_repaired == ""
        assert problems("anthropic", found.messages) == []
        assert {part["type"] for part in texts(found.messages)} == {"text"}
        told = [
            (mend.position, mend.detail) for mend in found.report.mends if mend.kind == "text_type"
        ]
        assert told == [(messages.index(bare[1]), "text")]


@pytest.mark.parametrize(("role", "place"), PLACES)
def test_next_to_calls_of_chat(api: ModuleType, role: str, place: str) -> None:
    messages = [
        said("user", "alone", TYPED),
        said(role, place, BARE),
        chat(("c1", "f")),
        answer("c1"),
    ]
    found = repaired(api, messages)
    assert found.report.not_repaired == ""
    assert found.messages == [messages[0], said(role, place, TYPED), *messages[2:]]


@pytest.mark.parametrize(("role", "place"), PLACES)
def test_next_to_items_of_responses(api: ModuleType, role: str, place: str) -> None:
    """There the type is that of the role."""
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    found = repaired(api, [said(role, place, BARE), call, result], key="input")
    kind = "output_text" if role == "assistant" else "input_text"
    assert {part["type"] for part in found.messages[0]["content"]} == {kind}


@pytest.mark.parametrize("destination", [None, "bedrock", "bedrock-nova"])
def test_bedrocks_stay(api: ModuleType, destination: str | None) -> None:
    call = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}
    result = {"toolResult": {"toolUseId": "t1", "content": [BARE]}}
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
    talk = [{"role": "user", "content": [BARE]}, {"role": "assistant", "content": [BARE]}]
    calls = [
        {"role": "assistant", "content": [thought, call]},
        {"role": "user", "content": [result, BARE]},
    ]
    for messages in (
        talk,
        [talk[0], *calls],
        [talk[0], {"role": "assistant", "content": [thought, BARE]}],
    ):
        found = repaired(api, messages, destination)
        assert (found.messages, found.report.mends) == (messages, ())


@pytest.mark.parametrize("destination", ["anthropic", "anthropic-4-5", "openai-chat", "mistral"])
def test_nothing_else_tells(api: ModuleType, destination: str) -> None:
    """Then the destination that is asked for does: HKUDS/nanobot#4060."""
    messages = [
        {"role": "user", "content": [BARE]},
        {"role": "assistant", "content": [{"text": "hi"}]},
    ]
    messages = [*messages, {"role": "user", "content": [BARE, {**BARE, **MARK}]}]
    found = repaired(api, messages, destination)
    assert found.report.not_repaired == ""
    assert [part["type"] for part in texts(found.messages)] == ["text"] * 4
    marked = "cache_control" in found.messages[2]["content"][1]
    assert marked is (destination != "mistral")  # it refuses the member


def test_the_last_words_of_the_model(api: ModuleType) -> None:
    """White space at their end goes as well, and a blank text, as both do with a type."""
    messages = [
        *wire.bash("ls"),
        {"role": "assistant", "content": [{"text": " "}, {"text": "So: "}]},
    ]
    found = repaired(api, messages)
    assert found.messages[2] == wire.assistant({"type": "text", "text": "So:"})
    kinds = [mend.kind for mend in found.report.mends]
    assert kinds == ["text_type", "empty_text", "trailing_space"]


def test_the_last_words_with_a_mark_too_many(api: ModuleType) -> None:
    """They change twice: the mark goes, and the white space."""
    words = [{**TYPED, "text": f"{number}. ", **MARK} for number in range(5)]
    messages = [*wire.bash("ls"), wire.user(*words[1:]), wire.assistant(words[0])]
    for part in (words[0], {key: each for key, each in words[0].items() if key != "type"}):
        found = repaired(api, [*messages[:-1], wire.assistant(part)])
        assert found.messages[-1]["content"][0]["text"] == "0."


def test_evidence_of_two_providers(api: ModuleType) -> None:
    call = {"toolUse": {"toolUseId": "t2", "name": "f", "input": {}}}
    messages = [*wire.bash("ls"), {"role": "assistant", "content": [BARE, call]}]
    found = api.project(messages, policy=ProjectPolicy(repair=True))
    assert found.messages == messages
    assert found.report.not_repaired == "anthropic, bedrock"


@pytest.mark.parametrize("kind", ["input_text", "output_text"])
@pytest.mark.parametrize("destination", ["openai-chat", "mistral", "deepseek", None])
def test_types_of_responses_in_chat(api: ModuleType, destination: str | None, kind: str) -> None:
    """A client that moves from Responses to another API leaves them."""
    said = {"role": "user", "content": [{"type": kind, "text": "Go on.", "x": 1}, TYPED]}
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    called = {"role": "assistant", "content": "", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "abcdefghi", "content": "a.py"}
    messages = [said, called, result, {"role": "assistant", "content": "One file."}, said]
    found = repaired(api, messages, destination)
    is_strict = destination in ("mistral", None)  # the ids are Mistral's
    text = {"type": "text", "text": "Go on."} | ({} if is_strict else {"x": 1})
    wanted = {**said, "content": [text, TYPED]}
    assert found.messages == [wanted, *messages[1:4], wanted]
    problems = [(each.rule, each.position) for each in api.check(messages, destination=destination)]
    assert [each for each in problems if each[0] != "refused_member"] == [
        ("text_type", 0),
        ("text_type", 4),
    ]


@pytest.mark.parametrize("kind", ["input_text", "output_text"])
def test_types_of_responses_next_to_what_is_anthropics(api: ModuleType, kind: str) -> None:
    messages = [wire.user({"type": kind, "text": "Go on."}), *wire.bash("ls")]
    found = repaired(api, messages)
    assert found.messages == [wire.user({"type": "text", "text": "Go on."}), *messages[1:]]


@pytest.mark.parametrize("destination", [None, "openai-responses"])
def test_types_of_responses_alone_are_its_own(api: ModuleType, destination: str | None) -> None:
    messages = [{"role": "user", "content": [{"type": "input_text", "text": "Go on."}]}]
    assert repaired(api, messages, destination, "input").messages == messages


def test_types_of_responses_tell_of_another_destination(api: ModuleType) -> None:
    """A result without its call is left out, and what remains is still the messages of Responses."""
    output = {"type": "function_call_output", "call_id": "c1", "output": "42"}
    messages = [{"role": "user", "content": [{"type": "input_text", "text": "Go on."}]}, output]
    found = repaired(api, messages, "mistral", "input")
    told = "openai-responses: mistral takes openai-chat"
    assert (found.messages, found.report.not_repaired) == (messages[:1], told)
    (problem,) = api.check(found.messages, destination="mistral")
    assert (problem.rule, problem.detail) == ("not_repaired", told)
