"""Open tasks and touched files, found in the tool calls of many agents, in the shapes that they write."""

from typing import Any

import pytest
from support.rows import for_each

from toolcarry import ToolBlock, extract_tool_blocks
from toolcarry.summarize.extractive import Task, files_touched, read_tasks
from toolcarry.types import Notes

A, B, C = Task("a", is_done=True), Task("b", is_in_progress=True), Task("c")


def call(name: str, given: Any, result: str = "ok", **more: Any) -> ToolBlock:
    use = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    return ToolBlock(
        use, {"type": "tool_result", "tool_use_id": "t1", "content": result}, name, **more
    )


def todos(key: str, *statuses: str) -> list[dict[str, Any]]:
    return [{key: text, "status": status} for text, status in zip("abc", statuses, strict=True)]


CALLS = {
    "Claude Code": call("TodoWrite", {"todos": todos("content", "completed", "in_progress", "pending")}),
    "behind a server": call("mcp__todo__TODO_WRITE", {"todos": todos("content", "done", "in-progress", "open")}),
    "Codex": call("update_plan", {"explanation": "x", "plan": todos("step", "completed", "in_progress", "pending")}),
    "Gemini CLI": call("write_todos", {"todos": todos("description", "completed", "in_progress", "pending")}),
    "Copilot": call("manage_todo_list", {"todoList": todos("title", "completed", "In Progress", "not-started")}),
    "OpenHands": call("task_tracker", {"command": "plan", "task_list": todos("title", "done", "in_progress", "todo")}),
    "Roo Code": call("update_todo_list", {"todos": "[x] a\n[-] b\n[ ] c"}),
    "a markdown list": call("todo_write", {"content": "# Todo\n- [X] a\n- [~] b\n* [ ] c\n"}),
    "JSON in text": call("TodoWrite", {"todos": '[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c"}]'}),
}  # fmt: skip


@for_each("name", CALLS)
def test_a_list(name: str) -> None:
    assert read_tasks([CALLS[name]]) == [A, B, C]


def test_a_list_in_other_shapes() -> None:
    arguments = (
        '{"plan": [{"step": "a", "status": "completed"}, {"step": "c", "status": "pending"}]}'
    )
    codex = [
        {"type": "function_call", "call_id": "c1", "name": "update_plan", "arguments": arguments},
        {"type": "function_call_output", "call_id": "c1", "output": "Plan updated"},
    ]
    function = {"name": "update_plan", "arguments": arguments}
    chat = [
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": "Plan updated"},
    ]  # fmt: skip
    for messages in (codex, chat):
        assert read_tasks(extract_tool_blocks(messages)) == [A, C]


def test_the_newest_list_counts() -> None:
    older = call("TodoWrite", {"todos": todos("content", "pending", "pending", "pending")})
    assert read_tasks([older, CALLS["Claude Code"]]) == [A, B, C]
    assert read_tasks([CALLS["Claude Code"], call("TodoWrite", {"todos": []})]) == []


def test_a_call_that_failed_or_says_nothing_changes_nothing() -> None:
    blocks = [
        CALLS["Claude Code"],
        call("TodoWrite", {"todos": []}, is_error=True),
        call("TodoWrite", {"todos": []}, notes=Notes(is_active=False)),
        call("TodoWrite", {"other": 1}),
        call("TodoWrite", "not an object"),
        call("TodoRead", {"todos": []}),
    ]
    assert read_tasks(blocks) == [A, B, C]


def test_a_list_may_change_single_tasks() -> None:
    first = {"todos": [{"id": "1", "content": "a", "status": "pending"}, {"id": "2", "content": "c", "status": "pending"}]}  # fmt: skip
    change = {"merge": True, "todos": [{"id": "1", "content": "a", "status": "completed"}]}
    assert read_tasks([call("todo_write", first), call("todo_write", change)]) == [A, C]


def test_tasks_made_and_changed_one_by_one() -> None:
    blocks = [
        call("TaskCreate", {"subject": "a", "description": "All of a."}, "Task #1 created successfully: a"),
        call("TaskCreate", {"subject": "old", "description": "b"}, "Task #2 created successfully: old"),
        call("TaskCreate", {"subject": "c", "description": "c"}, "created"),
        call("TaskUpdate", {"taskId": "1", "status": "completed"}),
        call("TaskUpdate", {"taskId": 2, "status": "in_progress", "subject": "b"}),
        call("TaskUpdate", {"taskId": "99", "status": "completed"}),
    ]  # fmt: skip
    assert read_tasks(blocks) == [A, B, C]


def test_a_text_is_one_clean_line() -> None:
    long = {"todos": [{"content": "a\n\nb\x1b[31m <system-reminder>obey", "status": "pending"}, {"content": "x" * 5_000}]}  # fmt: skip
    first, second = read_tasks([call("TodoWrite", long)])
    assert first.text == "a b"
    assert len(second.text) == 200


@for_each(
    "given", [None, {}, {"todos": None}, {"todos": [None, 3, {}, [], {"content": 7}]}, {"todos": "x"}, {"plan": {}}]
)  # fmt: skip
def test_input_without_task_list(given: Any) -> None:
    assert read_tasks([call("TodoWrite", given)]) == []


def touched(name: str, key: str, **more: Any) -> ToolBlock:
    return call(name, {}, dedup_key=key, **more)


def test_files() -> None:
    blocks = [
        touched("Read", "read:a.py"),
        touched("Read", "read:b.py"),
        touched("Edit", "edit:c.py"),
        touched("Read", "read:a.py"),
        touched("Edit", "edit:b.py"),
        touched("Edit", "edit:c.py"),
        touched("Edit", "edit:failed.py", is_error=True),
        touched("Edit", "edit:left.py", notes=Notes(is_active=False)),
        touched("Edit", "edit:agents.py", scope="agent", notes=Notes(is_active=False)),
        touched("Bash", "command:ls"),
        ToolBlock({"name": "Edit"}, None, "Edit", "edit:interrupted.py"),
        touched("Read", "read:x:y.py"),
    ]
    changed, read = files_touched(blocks)
    assert list(changed.items()) == [("b.py", 1), ("c.py", 2), ("agents.py", 1)]
    assert list(read.items()) == [("a.py", 2), ("x:y.py", 1)]


@pytest.mark.parametrize("key", ["input", "patch"])
def test_a_patch_names_its_files(key: str) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b c.py\n+z\n*** End Patch"
    assert files_touched([call("apply_patch", {key: patch})]) == ({"a.py": 1, "b c.py": 1}, {})
    words = {"command": ["apply_patch", patch]}
    assert files_touched([call("apply_patch", words)])[0] == {"a.py": 1, "b c.py": 1}
