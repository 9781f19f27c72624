"""Arguments of old calls that hold nothing new: which are replaced, in every format, and the way back."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.rows import for_each

from toolcarry import ConfigError, ProjectPolicy, convert, count_message_tokens
from toolcarry.api.projection import STYLES

TEXT = "".join(f"def name_{number}(): return {number}\n" for number in range(40))
ON = ProjectPolicy(clear_tool_inputs=True)
LAST = wire.join(*(wire.bash(f"ls {number}", "x", f"last{number}") for number in range(3)))
"""Three turns, in which nothing is replaced."""


def cleared(api: ModuleType, *turns: list[Any], policy: ProjectPolicy = ON) -> dict[str, str]:
    """The reasons for the arguments that are replaced, by reference."""
    messages = [wire.user({"type": "text", "text": "Go on"}), *wire.join(*turns), *LAST]
    report = api.project(messages, policy=policy).report
    return {each.reference: each.reason for each in report.replacements if ";" in each.reference}


@for_each(
    ("turns", "expected"),
    [
        ([wire.write("a", TEXT), wire.read("a", TEXT, "t2")], {"t1;content": "read_again"}),
        ([wire.write("a", TEXT), wire.write("a", "x", "t2")], {"t1;content": "later_write"}),
        ([wire.write("a", TEXT), wire.read("b", TEXT, "t2")], {}),
        ([wire.write("a", TEXT), wire.read("a", TEXT, "t2", offset=1, limit=20)], {}),
        ([wire.write("a", TEXT), wire.read("a", TEXT, "t2", view_range=[30, -1])], {}),
        ([wire.write("a", TEXT), wire.read("a", TEXT, "t2", pattern="def")], {}),
        (
            [wire.write("a", TEXT), wire.read("a", TEXT, "t2", view_range=[1, -1])],
            {"t1;content": "read_again"},
        ),
        (
            [wire.write("a", TEXT), *(wire.read("a", TEXT, f"r{n}", limit=n) for n in (9, 2_000))],
            {"t1;content": "read_again"},
        ),
        ([wire.write("a", TEXT), wire.read("a", "no such file", "t2", is_error=True)], {}),
        ([wire.write("a", TEXT), wire.write("a", "x", "t2", is_error=True)], {}),
        ([wire.write("a", TEXT), wire.edit("a", "x", "y", "t2")], {}),
        ([wire.read("a", TEXT), wire.write("a", TEXT, "t2")], {}),
        ([wire.write("a", TEXT), wire.open_call("Read", {"file_path": "a"}, "t2")], {}),
        ([wire.edit("a", TEXT, "y")], {"t1;old_string": "applied_edit"}),
        ([wire.edit("a", "x", TEXT)], {}),
        ([wire.edit("a", "x", TEXT), wire.read("a", TEXT, "t2")], {}),
        ([wire.edit("a", "x", TEXT), wire.write("a", "x", "t2")], {"t1;new_string": "later_write"}),
        ([wire.edit("a", "x", TEXT, is_error=True)], {"t1;new_string": "failed_input"}),
        ([wire.write("a", TEXT, is_error=True)], {"t1;content": "failed_input"}),
        ([wire.open_call("Write", {"file_path": "a", "content": TEXT})], {}),
        ([wire.turn("Task", {"content": TEXT}, "ok"), wire.read("a", TEXT, "t2")], {}),
        ([wire.turn("Bash", {"command": f"cat > a <<E\n{TEXT}E"}, "no", is_error=True)], {}),
    ],
)
def test_what_holds_nothing_new_is_replaced(
    api: ModuleType, turns: list[list[Any]], expected: dict[str, str]
) -> None:
    assert cleared(api, *turns) == expected


@pytest.mark.parametrize("content", [7, None, [TEXT], {"text": TEXT}, "", "short"])
def test_other_contents_stay(api: ModuleType, content: Any) -> None:
    turn = wire.turn("Write", {"file_path": "a", "content": content})
    assert cleared(api, turn, wire.read("a", TEXT, "t2")) == {}


def test_nested_texts_stay(api: ModuleType) -> None:
    given = {"file_path": "a", "edits": [{"old_string": TEXT, "new_string": "x"}]}
    assert cleared(api, wire.turn("MultiEdit", given), wire.write("a", "x", "t2")) == {}


@pytest.mark.parametrize("count", range(5))
def test_the_last_three_turns_stay(api: ModuleType, count: int) -> None:
    messages = wire.join(wire.edit("a", TEXT, "y"), LAST[: 2 * count])
    assert bool(api.project(messages, policy=ON).report.replacements) == (count >= 3)


@pytest.mark.parametrize(
    ("settings", "is_cleared"),
    [
        ({}, False),
        ({"clear_tool_inputs": False}, False),
        ({"clear_tool_inputs": ()}, False),
        ({"clear_tool_inputs": "Edit"}, True),
        ({"clear_tool_inputs": ["ed*"]}, True),
        ({"clear_tool_inputs": ["Write"]}, False),
        ({"clear_tool_inputs": True, "exclude_tools": ("Edit",)}, False),
        ({"clear_tool_inputs": True, "keep_last_turns": 4}, False),
        ({"clear_tool_inputs": True, "keep_last_results": 4}, False),
        ({"max_request_tokens": 400}, True),
        ({"max_request_tokens": 4_000}, False),
        ({"max_request_tokens": 400, "clear_tool_inputs": False}, False),
        ({"max_request_tokens": 400, "clear_tool_inputs": ["Write"]}, False),
    ],
)
def test_the_policy_says_when(api: ModuleType, settings: dict[str, Any], is_cleared: bool) -> None:
    found = cleared(api, wire.edit("a", TEXT, "y"), policy=ProjectPolicy(**settings))
    assert found == ({"t1;old_string": "applied_edit"} if is_cleared else {})


def test_another_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="clear_tool_inputs: 7 is not allowed; allowed: True"):
        ProjectPolicy(clear_tool_inputs=7)  # type: ignore[arg-type]


def test_arguments_go_before_results(api: ModuleType) -> None:
    messages = wire.join(wire.edit("a", TEXT * 4, "y"), wire.bash("ls", TEXT, "t2"), LAST)
    report = api.project(messages, policy=ProjectPolicy(max_request_tokens=1_500)).report
    assert [each.reference for each in report.replacements] == ["t1;old_string"]
    assert report.tokens_after < 900
    report = api.project(messages, policy=ProjectPolicy(max_request_tokens=300)).report
    assert [each.reference for each in report.replacements] == ["t1;old_string", "t2"]


def arguments_in(value: Any) -> list[Any]:
    """All arguments of calls in messages of any format."""
    if isinstance(value, list):
        return [found for item in value for found in arguments_in(item)]
    if not isinstance(value, dict):
        return []
    own = [value[key] for key in ("input", "args", "arguments") if key in value]
    return own + [found for item in value.values() for found in arguments_in(item)]


SESSION = [
    wire.user({"type": "text", "text": "Go on"}),
    *wire.write("a.py", TEXT + 'quoted "\\ é', "toolu_00000000000000000001"),
    *wire.read("a.py", TEXT, "toolu_00000000000000000002"),
    *wire.edit("a.py", TEXT, "pass", "toolu_00000000000000000003"),
    *LAST,
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("repair", [False, True])
def test_calls_of_every_format_stay_valid(api: ModuleType, style: Any, repair: bool) -> None:
    messages = convert(SESSION, to=style).messages
    policy = ProjectPolicy(clear_tool_inputs=True, repair=repair)
    projected = api.project(messages, policy=policy)
    references = [each.reference for each in projected.report.replacements]
    assert len(references) == 2
    given = [
        json.loads(each) if isinstance(each, str) else each
        for each in arguments_in(projected.messages)
    ]
    write, _, edit = given[:3]
    assert write["file_path"] == "a.py"
    assert write["content"].endswith(f"; whole: {references[0]}]")
    assert edit == {"file_path": "a.py", "old_string": edit["old_string"], "new_string": "pass"}
    assert edit["old_string"].endswith(f"; whole: {references[1]}]")
    assert api.resolve(messages, references[0]) == TEXT + 'quoted "\\ é'
    assert api.resolve(json.dumps(messages).encode(), references[1]) == TEXT
    before, after = (sum(count_message_tokens(each)) for each in (messages, projected.messages))
    assert before - after >= 40
    body = json.dumps(messages, indent=1).encode()
    assert json.loads(api.project_body(body, policy=policy).body) == projected.messages


def test_the_text_of_arguments_keeps_its_spelling(api: ModuleType) -> None:
    arguments = '{ "file_path":"\\u0061", "n": 1.50, "old_string" : %s,\n"new_string":"\\u00e9", "x":"\\ud800" }'
    call = {"id": "t1", "type": "function", "function": {"name": "Edit"}}
    call["function"]["arguments"] = arguments % json.dumps(f"\ud800{TEXT}")  # type: ignore[index]
    messages = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": "done"},
        *convert(LAST, to="openai-chat").messages,
    ]
    expected = arguments % json.dumps(
        f"[toolcarry: cleared, {len(TEXT) + 1:,} characters; whole: t1;old_string]"
    )
    projected = api.project(messages, policy=ON)
    assert projected.messages[0]["tool_calls"][0]["function"]["arguments"] == expected
    body = api.project_body(json.dumps(messages).encode(), policy=ON).body
    assert json.loads(body) == projected.messages


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-1],
        lambda text: text[:-1] + ",}",
        lambda text: f"[{text}]",
        lambda text: f"{text}x",
        lambda text: text.replace("def", "\ud800", 1),
        lambda text: "\ufeff" + text,
        lambda text: text.replace('"path"', '"path": ' + "[" * 200 + "]" * 200 + ', "x"'),
    ],
)
def test_what_is_no_plain_object_is_left_alone(api: ModuleType, damage: Any) -> None:
    text = damage(json.dumps({"path": "a", "file_path": "a", "old_string": TEXT}))
    call = {"id": "t1", "type": "function", "function": {"name": "Edit", "arguments": text}}
    messages = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": "done"},
        *convert(LAST, to="openai-chat").messages,
    ]
    assert api.project(messages, policy=ON).messages == messages


def test_calls_of_the_providers_own_tools_stay(api: ModuleType) -> None:
    for kind in ("server_tool_use", "mcp_tool_use"):
        call = {**wire.use("t1", "Edit", file_path="a", old_string=TEXT), "type": kind}
        messages = [wire.assistant(call), wire.user(wire.result("t1")), *LAST]
        assert api.project(messages, policy=ON).messages == messages


def test_one_object_in_two_places_stays(api: ModuleType) -> None:
    call = wire.use("t1", "Edit", file_path="a", old_string=TEXT)
    messages = [wire.assistant(call, call), wire.user(wire.result("t1"), wire.result("t1")), *LAST]
    assert api.project(messages, policy=ON).messages == messages


def test_what_was_sent_changes_only_if_enough_is_saved(api: ModuleType) -> None:
    turns = wire.join(*(wire.edit("a", TEXT, "y", f"t{number}") for number in range(12)))
    policy = ProjectPolicy(clear_tool_inputs=True, clear_at_least_tokens=900, rules=())
    previous, changes, sent = None, [], 0
    for end in range(2, len(turns) + 1, 2):
        projected = api.project(turns[:end], policy=policy, previous=previous)
        made = len(projected.decisions.made)
        if made != sent:
            changes.append(made - sent)
            assert projected.report.cache_break_tokens > 0
        previous, sent = projected.decisions, made
        assert set(previous.made) <= {f"t{number};old_string" for number in range(end // 2 - 3)}
    assert len(changes) > 1
    assert min(changes) > 1


def test_a_decision_stands_until_its_argument_changes(api: ModuleType) -> None:
    messages = wire.join(wire.edit("a", TEXT, "y"), LAST)
    once = api.project(messages, policy=ON)
    again = api.project(messages, policy=ProjectPolicy(), previous=once.decisions)
    assert again.messages == once.messages
    assert again.decisions.made == once.decisions.made
    assert again.report.cache_break_tokens == 0
    other = wire.join(wire.edit("a", f"x{TEXT}", "y"), LAST)
    changed = api.project(other, policy=ProjectPolicy(), previous=once.decisions)
    assert changed.messages == other
    kept = api.project(once.messages, policy=ON, previous=once.decisions)
    assert kept.messages == once.messages
    assert kept.report.cache_break_tokens == 0


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("t1;content", "call 't1' has no text as its argument 'content'"),
        ("t1;", "no text as its argument ''"),
        ("t2;old_string", "no tool result has the reference 't2;old_string'"),
    ],
)
def test_an_unknown_argument_is_reported(api: ModuleType, ref: str, why: str) -> None:
    with pytest.raises(api.InputError, match=why):
        api.resolve(wire.edit("a", "x", "y"), ref)


def test_repeated_ids_have_references_of_their_own(api: ModuleType) -> None:
    messages = wire.join(wire.edit("a", TEXT, "y"), wire.edit("b", f"{TEXT}2", "y"), LAST)
    report = api.project(messages, policy=ON).report
    assert [each.reference for each in report.replacements] == ["t1;old_string", "t1#2;old_string"]
    assert api.resolve(messages, "t1#2;old_string") == f"{TEXT}2"
