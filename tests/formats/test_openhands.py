"""OpenHands: events of a file each, or JSONL; actions are calls, observations and failures are results."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.oracles.format_checks import (
    ASSISTANT,
    USER,
    JsonObject,
    blocks,
    check_inputs,
    check_pairs,
    headings,
    only_block,
    shown,
    shown_text,
    turns,
)
from support.rows import for_each


def event(kind: str, source: str, **more: Any) -> JsonObject:
    return {
        "id": f"e_{kind}",
        "timestamp": "2026-01-01T10:00:00",
        "source": source,
        "kind": kind,
        **more,
    }


def message(source: str, role: str, text: str) -> JsonObject:
    said = {"role": role, "content": [{"type": "text", "text": text}], "tool_calls": None}
    return event("MessageEvent", source, llm_message=said, activated_skills=[])


def action(call_id: str, name: str = "terminal", **given: Any) -> JsonObject:
    asked = {"id": call_id, "name": name, "arguments": json.dumps(given), "origin": "completion"}
    return event(
        "ActionEvent",
        "agent",
        tool_name=name,
        tool_call_id=call_id,
        tool_call=asked,
        action={"kind": "TerminalAction", "is_input": False, **given},
        reasoning_content="A secret thought.",
        llm_response_id="r1",
    )


def observation(call_id: str, content: Any, name: str = "terminal", **more: Any) -> JsonObject:
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    seen = {"kind": "TerminalObservation", "content": parts, "is_error": False, **more}
    return event(
        "ObservationEvent",
        "environment",
        tool_name=name,
        tool_call_id=call_id,
        action_id="e_ActionEvent",
        observation=seen,
    )


LS, LISTED = action("call_1", command="ls"), observation("call_1", "a.py")
EVENTS = [
    event(
        "SystemPromptEvent", "agent", system_prompt={"type": "text", "text": "Be kind."}, tools=[]
    ),
    message("user", "user", "What is here?"),
    LS,
    LISTED,
    event("ConversationStateUpdateEvent", "environment", key="execution_status", value="running"),
    message("agent", "assistant", "A file."),
]


def test_a_conversation(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, EVENTS, (LS, LISTED))
    assert shown(api, EVENTS) == [("Commands Executed", "ls", [("", "a.py\n")])]
    assert rust.inspect(EVENTS).shape == "openhands"
    check_inputs(api, EVENTS)


def test_the_dialogue_has_no_thinking(api: ModuleType) -> None:
    assert api.dialogue(EVENTS) == turns((USER, "What is here?"), (ASSISTANT, "A file."))


def failed(kind: str, call_id: str = "call_1", **more: Any) -> JsonObject:
    return event(kind, "agent", tool_name="terminal", tool_call_id=call_id, **more)


@pytest.mark.parametrize(
    "failure",
    [
        failed("AgentErrorEvent", error="The tool broke."),
        failed("UserRejectObservation", rejection_reason="The tool broke."),
    ],
    ids=lambda failure: failure["kind"],
)
def test_a_failure_is_a_result_that_is_an_error(api: ModuleType, failure: JsonObject) -> None:
    check_pairs(api, [LS, failure], (LS, failure))
    assert only_block(api, LS, failure).is_error
    assert headings(api, [LS, failure]) == ["ls (failed)"]
    assert shown_text(api, [LS, failure]) == "The tool broke."
    check_inputs(api, [LS, failure])


def test_an_observation_may_be_an_error(api: ModuleType) -> None:
    assert only_block(api, LS, observation("call_1", "x", is_error=True)).is_error
    assert not only_block(api, LS, observation("call_1", "x")).is_error


def test_an_error_of_the_agent_itself_is_no_result(api: ModuleType) -> None:
    assert blocks(api, [event("AgentErrorEvent", "agent", error="The agent broke.")]) == []
    assert blocks(api, [event("ConversationErrorEvent", "environment", detail="x")]) == []


def test_parallel_actions_in_another_order(api: ModuleType) -> None:
    first, second = action("c1", command="ls"), action("c2", command="pwd")
    of_second, of_first = observation("c2", "/"), observation("c1", "a.py")
    check_pairs(api, [first, second, of_second, of_first], (first, of_first), (second, of_second))


def test_without_ids_name_and_order_decide(api: ModuleType) -> None:
    calls = [action("", "f", a=1), action("", "g"), action("", "f", a=2)]
    of_g, first, last = (observation("", "x", name) for name in ("g", "f", "f"))
    messages = [*calls, of_g, first, last]
    check_pairs(api, messages, (calls[0], first), (calls[1], of_g), (calls[2], last))


def test_the_call_may_be_in_the_chat_format(api: ModuleType) -> None:
    function = {"name": "execute_bash", "arguments": '{"command": "ls"}'}
    asked = {"id": "call_1", "type": "function", "function": function}
    older = event("ActionEvent", "agent", tool_call=asked, action={"command": "ls"})
    block = only_block(api, older, LISTED)
    assert (block.tool_name, block.call_id) == ("execute_bash", "call_1")
    assert block.dedup_key == "command:ls"


def test_without_the_call_the_action_gives_the_arguments(api: ModuleType) -> None:
    bare = action("call_1", command="ls") | {"tool_call": None}
    assert only_block(api, bare, LISTED).dedup_key == "command:ls"


@for_each(
    ("seen", "text"),
    [
        ({"content": "one"}, "one"),
        (
            {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            "one\ntwo",
        ),
        ({"output": "older"}, "older"),
        ({"content": []}, "(no output)"),
        ({"path": "a.py", "prev_exist": True}, '{"path":"a.py","prev_exist":true}'),
    ],
)
def test_the_text_of_an_observation(api: ModuleType, seen: JsonObject, text: str) -> None:
    answer = LISTED | {"observation": seen}
    assert shown_text(api, [LS, answer]) == text


def test_a_command_that_is_run_twice(api: ModuleType) -> None:
    events = [*EVENTS, action("c2", command="ls"), observation("c2", "b.py")]
    assert headings(api, events) == ["ls (latest of 2 runs)"]
    assert shown_text(api, events) == "b.py"


def test_a_rejected_command_leaves_the_last_success_next_to_it(api: ModuleType) -> None:
    rejected = failed("UserRejectObservation", "c2", rejection_reason="No.")
    events = [*EVENTS, action("c2", command="ls"), rejected]
    assert headings(api, events) == ["ls", "ls (latest of 2 runs; failed)"]


def test_orphans(rust: ModuleType) -> None:
    survey = rust.inspect([LS, observation("gone", "x")])
    assert (survey.orphan_calls, survey.orphan_results) == (1, 1)
    assert survey.tools["terminal"].calls == survey.tools["terminal"].results == 1


@for_each("kind", ["CondensationRequest", "PauseEvent", "TokenEvent", "", None, 7, ["ActionEvent"]])
def test_other_events_say_nothing(api: ModuleType, kind: Any) -> None:
    strange = LS | {"kind": kind, "summary": "S", "forgotten_event_ids": ["e_1"]}
    assert blocks(api, [strange]) == []
    assert api.dialogue([strange]) == ""


def test_the_notes_around_an_output_are_read(api: ModuleType) -> None:
    metadata = {
        "prefix": "[Below is the output of the previous command.]\n",
        "suffix": "\n[The command completed with exit code 1. CTRL+C was sent.]",
    }
    messages = [
        message("user", "user", "Go."),
        action("c1", command="make"),
        observation("c1", "half", metadata=metadata),
    ]
    context = api.carry(messages, layout="handover").text
    assert "$ make (exit code 1)" in context
    assert "[Below is the output of the previous command.]\nhalf\n" in context
