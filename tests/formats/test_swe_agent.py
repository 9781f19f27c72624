"""SWE-agent's ``.traj``: a history with ``tool_call_ids``, or a trajectory of steps in older files."""

import json
from types import ModuleType
from typing import Any

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


def call(call_id: str, name: str = "bash", **given: Any) -> JsonObject:
    function = {"name": name, "arguments": json.dumps(given)}
    return {"id": call_id, "type": "function", "function": function}


def action(text: str, *calls: JsonObject) -> JsonObject:
    return {
        "role": "assistant",
        "content": text,
        "thought": "A secret thought.",
        "action": "as the shell has it",
        "agent": "main",
        "tool_calls": list(calls),
        "message_type": "action",
    }


def observation(content: Any, *ids: str) -> JsonObject:
    return {
        "role": "tool",
        "content": content,
        "agent": "main",
        "message_type": "observation",
        "tool_call_ids": list(ids),
    }


def step(command: str, seen: str) -> JsonObject:
    return {
        "action": command,
        "observation": seen,
        "response": f"I run it.\n```\n{command}\n```",
        "thought": "A secret thought.",
        "state": '{"open_file": "n/a"}',
    }


LS, LISTED = call("call_1", command="ls"), observation("a.py\n(Open file: n/a)", "call_1")
HISTORY = [
    {"role": "system", "content": "Be kind.", "agent": "main", "message_type": "system_prompt"},
    {"role": "user", "content": "Fix it.", "agent": "main", "message_type": "observation"},
    action("I look.", LS),
    LISTED,
]
STEPS = [step("ls", "a.py"), step("cat a.py", "print(1)")]


def test_a_history(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, HISTORY, (LS, LISTED))
    expected = [("Commands Executed", "ls", [("", "a.py\n(Open file: n/a)\n")])]
    assert shown(api, HISTORY) == expected
    assert rust.inspect(HISTORY).shape == "swe-agent"
    check_inputs(
        api, HISTORY, {"history": HISTORY}, {"history": HISTORY, "trajectory": [], "info": {}}
    )


def test_the_dialogue_of_a_history(api: ModuleType) -> None:
    assert api.dialogue(HISTORY) == turns((USER, "Fix it."), (ASSISTANT, "I look."))


def test_a_trajectory(api: ModuleType, rust: ModuleType) -> None:
    check_pairs(api, STEPS, *zip(STEPS, STEPS, strict=True))
    assert shown(api, STEPS) == [
        ("Commands Executed", "ls", [("", "a.py\n")]),
        ("Commands Executed", "cat a.py", [("", "print(1)\n")]),
    ]
    assert rust.inspect(STEPS).shape == "swe-agent"
    check_inputs(api, STEPS, {"environment": "main", "trajectory": STEPS, "info": {}})


def test_the_dialogue_of_a_trajectory(api: ModuleType) -> None:
    assert api.dialogue(STEPS) == turns(*((ASSISTANT, found["response"]) for found in STEPS))


def test_a_history_that_knows_of_calls_counts(api: ModuleType) -> None:
    body = json.dumps({"trajectory": STEPS, "history": HISTORY}).encode()
    assert [block.call_id for block in blocks(api, body)] == ["call_1"]


def test_else_the_trajectory_counts(api: ModuleType) -> None:
    """Older files have commands in the text of the history, and what was seen as the user's."""
    history = [
        {
            "role": "assistant",
            "content": "I run it.",
            "action": "ls",
            "thought": "",
            "agent": "main",
        },
        {"role": "user", "content": "a.py", "agent": "main"},
    ]
    body = json.dumps({"history": history, "trajectory": STEPS}).encode()
    assert [block.dedup_key for block in blocks(api, body)] == ["command:ls", "command:cat a.py"]
    alone = json.dumps({"history": history, "info": {}}).encode()
    assert blocks(api, alone) == []
    assert api.dialogue(alone) == turns((ASSISTANT, "I run it."), (USER, "a.py"))


def test_ids_decide(api: ModuleType) -> None:
    first, second = call("c1", command="ls"), call("c2", command="pwd")
    of_second, of_first = observation("/", "c2"), observation("a.py", "c1")
    messages = [action("", first), action("", second), of_second, of_first]
    check_pairs(api, messages, (first, of_first), (second, of_second))


def test_without_ids_order_decides(api: ModuleType) -> None:
    calls = [call("", command="ls"), call("", command="pwd")]
    answers = [observation("a.py"), observation("/")]
    messages = [action("", calls[0]), answers[0], action("", calls[1]), answers[1]]
    check_pairs(api, messages, *zip(calls, answers, strict=True))


def test_an_observation_as_parts(api: ModuleType) -> None:
    parts = [{"type": "text", "text": "a.py", "cache_control": {"type": "ephemeral"}}]
    assert shown_text(api, [action("", LS), observation(parts, "call_1")]) == "a.py"


def test_a_command_that_is_run_twice(api: ModuleType) -> None:
    again = call("c2", command="ls")
    history = [*HISTORY, action("Again.", again), observation("b.py", "c2")]
    assert headings(api, history) == ["ls (latest of 2 runs)"]
    assert shown_text(api, history) == "b.py"
    steps = [step("ls", "a.py"), step("ls", "b.py")]
    assert headings(api, steps) == ["ls (latest of 2 runs)"]
    assert shown_text(api, steps) == "b.py"


def test_a_command_with_side_effects_is_kept(api: ModuleType) -> None:
    assert headings(api, [step("touch a", ""), step("touch a", "")]) == ["touch a"] * 2


def test_orphans(rust: ModuleType) -> None:
    survey = rust.inspect([action("", LS), observation("x", "gone")])
    assert (survey.orphan_calls, survey.orphan_results) == (1, 1)


@for_each(
    "strange",
    [
        {"action": "", "observation": "x", "response": "r"},
        {"action": "ls", "observation": None},
        {"action": ["ls"], "observation": "x"},
        {"action": "ls"},
        {"observation": "x"},
    ],
)
def test_a_step_that_ran_nothing(api: ModuleType, strange: JsonObject) -> None:
    assert blocks(api, [strange]) == []


@for_each("ids", [None, [], "call_1", [None], [7]])
def test_ids_of_another_kind(api: ModuleType, ids: Any) -> None:
    """The observation stays a result, paired by its turn."""
    answer = observation("a.py") | {"tool_call_ids": ids}
    call_without_id = call("", command="ls")
    check_pairs(api, [action("", call_without_id), answer], (call_without_id, answer))


def test_an_action_that_calls_nothing(api: ModuleType, rust: ModuleType) -> None:
    messages = [action("I am done.") | {"tool_calls": None}]
    assert blocks(api, messages) == []
    assert rust.inspect(messages).shape == "swe-agent"
    assert api.dialogue(messages) == turns((ASSISTANT, "I am done."))


def test_no_result_is_an_error(api: ModuleType) -> None:
    """The format has no place to say so."""
    assert not only_block(api, *HISTORY).is_error


def test_blocks_in_an_observation_are_results(api: ModuleType) -> None:
    """Whatever comes after: a late orphan sends the same message another way through the walk."""
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    messages = [
        {"role": "assistant", "content": [call]},
        {"role": "user", "message_type": "observation", "content": [result]},
    ]
    late = {"role": "tool", "tool_call_id": "zz", "content": "late"}
    for rest in ([], [late]):
        found = api.extract_tool_blocks([*messages, *rest])
        assert (found[0].tool_use, found[0].tool_result) == (call, result)
