"""Why a context holds what it holds: each fate with its reason and the setting that would change it."""

from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import bash, edit, join, open_call, read, turn
from support.rows import for_each

from toolcarry import CarryPolicy, Rule


def fates(api: ModuleType, messages: list[Any], **more: Any) -> list[tuple[str, str, str]]:
    return [
        (fate.call_id, fate.fate, fate.setting)
        for fate in api.carry(messages, **more, explain=True).fates
    ]


def test_shown(api: ModuleType) -> None:
    (fate,) = api.carry(bash("ls", "x"), explain=True).fates
    assert (fate.position, fate.call_id, fate.tool_name, fate.title) == (0, "t1", "Bash", "ls")
    assert (fate.scope, fate.fate, fate.reason, fate.setting) == ("", "shown", "", "")


def test_superseded(api: ModuleType) -> None:
    messages = join(
        read("a.py", "1", "r1"),
        read("a.py", "2", "r2"),
        bash("ls", "1", "c1"),
        bash("ls", "2", "c2"),
    )
    found = api.carry(messages, explain=True).fates
    assert [(fate.call_id, fate.fate) for fate in found] == [
        ("r1", "superseded"),
        ("r2", "shown"),
        ("c1", "superseded"),
        ("c2", "shown"),
    ]
    assert found[0].reason == "a later read holds these lines"
    assert found[2].reason == "the same command ran again later"
    assert found[0].setting.startswith("rules")
    assert found[2].setting.startswith("rules")


def test_a_superseded_edit_names_the_careful_rules(api: ModuleType) -> None:
    messages = join(edit("a.py", "1", "2", "e1"), edit("a.py", "2", "3", "e2"))
    assert fates(api, messages) == [("e1", "superseded", 'rules="careful"'), ("e2", "shown", "")]
    assert fates(api, messages, policy=CarryPolicy(rules="careful")) == [
        ("e1", "shown", ""),
        ("e2", "shown", ""),
    ]


def test_cut(api: ModuleType) -> None:
    policy = CarryPolicy(max_result_chars=10)
    ((_, fate, setting),) = fates(api, bash("ls", "x" * 100), policy=policy)
    assert fate == "cut"
    assert "max_result_chars" in setting


def test_left_out(api: ModuleType) -> None:
    messages = join(*[bash(f"run {n}", "x" * 900, f"t{n}") for n in range(60)])
    policy = CarryPolicy(max_chars=2_000, layout="sections")
    found = fates(api, messages, policy=policy)
    assert (found[0], found[-1]) == (("t0", "left_out", "max_chars"), ("t59", "shown", ""))
    reasons = {fate.reason for fate in api.carry(messages, policy=policy, explain=True).fates}
    assert reasons >= {
        "the total was spent on newer results",
        "the total was spent before the walk came here",
    }
    found = fates(api, messages, policy=CarryPolicy(max_chars=2_000))
    assert (found[0][0], found[0][2], found[-1][0]) == ("t0", "max_chars", "t59")


@for_each(
    ("messages", "switch"),
    [
        (read("a.py", "x"), "include_files"),
        (edit("a.py", "x", "y"), "include_changes"),
        (bash("ls", "x"), "include_commands"),
        (turn("f", {}, "x"), "include_others"),
        (bash("ls", "x", is_error=True), "include_failed"),
        (open_call("Bash", {"command": "ls"}), "include_interrupted"),
    ],
)
def test_excluded_by_a_switch(api: ModuleType, messages: list[Any], switch: str) -> None:
    (fate,) = api.carry(messages, policy=CarryPolicy(**{switch: False}), explain=True).fates
    assert (fate.fate, fate.reason, fate.setting) == ("excluded", f"{switch} is off", switch)


def test_excluded_by_a_rule(api: ModuleType) -> None:
    policy = CarryPolicy(rules=(Rule("bash", keep="none"),))
    (fate,) = api.carry(bash("ls", "x"), policy=policy, explain=True).fates
    assert fate.fate == "excluded"
    assert fate.setting.startswith("rules")
    assert fate.reason


def test_excluded_by_its_branch(api: ModuleType) -> None:
    call, answer = bash("ls", "x")
    records = [
        {"uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "go"}},
        {"uuid": "2", "parentUuid": "1", "message": call},
        {"uuid": "3", "parentUuid": "2", "message": answer},
        {"uuid": "s", "parentUuid": None, "isSidechain": True, "agentId": "a", "message": call},
        {"uuid": "4", "parentUuid": "1", "message": {"role": "user", "content": "no"}},
    ]
    found = api.carry(records, explain=True).fates
    assert [(fate.scope, fate.fate, fate.reason, fate.setting) for fate in found] == [
        ("", "excluded", "it stands on a branch that was left", ""),
        ("a", "excluded", "it belongs to a side chain", ""),
    ]


def test_the_title_has_its_notes(api: ModuleType) -> None:
    (fate,) = api.carry(read("a.py", "x", offset=3, limit=2, is_error=True), explain=True).fates
    assert fate.title == "a.py (lines 3-4; failed)"


def test_nothing(api: ModuleType) -> None:
    assert api.carry([], explain=True).fates == ()


def test_an_error_says_where(api: ModuleType) -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    messages = [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "G", "input": {"a": deep}}],
        },
    ]
    with pytest.raises(api.InputError) as caught:
        api.carry(messages, explain=True)
    assert caught.value.position == 1
