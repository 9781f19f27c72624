"""What is left to do, by what an agent told its todo tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from toolcarry._input.json import loads_arguments
from toolcarry._input.objects import Wire, as_list, as_object, first_given
from toolcarry._pure.content import result_text
from toolcarry._pure.dedupe.rules import name_forms
from toolcarry._pure.text.sanitize import clean_line
from toolcarry.importing.read import read_call, read_result
from toolcarry.summarize.injected import strip_injected
from toolcarry.types import ToolBlock

__all__ = ["Task", "call_arguments", "read_tasks"]

LIST_TOOLS: Final = frozenset({
    "todowrite", "todo_write", "write_todos", "update_todo_list", "update_plan", "manage_todo_list", "todo_list",
    "set_todos", "task_tracker",
})  # fmt: skip
"""Their newest call has the whole list."""
CREATE_TOOLS: Final = frozenset(("taskcreate", "task_create"))
UPDATE_TOOLS: Final = frozenset(("taskupdate", "task_update"))

LIST_KEYS: Final = ("todos", "plan", "todoList", "todo_list", "task_list", "tasks", "items", "content", "arguments")  # fmt: skip
TEXT_KEYS: Final = ("content", "step", "subject", "title", "description", "task", "text")
ID_KEYS: Final = ("id", "taskId", "task_id")

DONE: Final = frozenset(("completed", "complete", "done", "cancelled", "canceled", "deleted", "skipped", "closed"))  # fmt: skip
IN_PROGRESS: Final = frozenset(("in_progress", "inprogress", "active", "started", "doing"))

CHECKBOX: Final = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,3}[.)])?[ \t]*\[([ xX~\-/])\][ \t]+(.+)$", re.MULTILINE
)
CREATED: Final = re.compile(r"#([\w-]{1,40})")

LONGEST_TASK: Final = 200


class Task(NamedTuple):
    """What is to be done, and how far it is."""

    text: str
    is_done: bool = False
    is_in_progress: bool = False


def read_tasks(blocks: Iterable[ToolBlock]) -> list[Task]:
    """The tasks of the conversation as they stand after the last block; ``blocks`` are oldest first.

    >>> read_tasks([ToolBlock({"type": "tool_use", "name": "TodoWrite", "input": {
    ...     "todos": [{"content": "Fix the test", "status": "in_progress"}]}}, {"content": "ok"}, "TodoWrite")])
    [Task(text='Fix the test', is_done=False, is_in_progress=True)]
    """
    tasks: dict[str, Task] = {}
    for block in blocks:
        name = name_forms(block.tool_name)[-1]
        is_known = name in LIST_TOOLS or name in CREATE_TOOLS or name in UPDATE_TOOLS
        if not is_known or block.is_error or not block.notes.is_active:
            continue
        given = call_arguments(block)
        if name in LIST_TOOLS:
            found = list_of(given)
            if found is not None:
                tasks = tasks | found if given.get("merge") is True else found
        elif name in CREATE_TOOLS:
            tasks[created_id(block) or str(len(tasks) + 1)] = task_of(given)
        else:
            key = str(first_given(given, *ID_KEYS) or "")
            if key in tasks:
                tasks[key] = changed(tasks[key], given)
    return [task for task in tasks.values() if task.text]


def call_arguments(block: ToolBlock) -> dict[str, Any]:
    """The arguments of a block's call, whatever shape it was written in; empty without a call."""
    wire = as_object(block.tool_use)
    return {} if wire is None else loads_arguments(read_call(wire).arguments)


def list_of(given: Wire) -> dict[str, Task] | None:
    """The tasks of a whole list by their ids, else by their numbers; ``None`` where there is no list."""
    for key in LIST_KEYS:
        value = given.get(key)
        if isinstance(value, str):
            boxes = [task_of_box(box) for box in CHECKBOX.finditer(value)]
            if boxes:
                return {str(number): task for number, task in enumerate(boxes)}
            value = loads_arguments(value).get("arguments")  # a list as JSON text
        items = as_list(value)
        if items is not None:
            return dict(identified(items))
    return None


def identified(items: Iterable[Any]) -> Iterator[tuple[str, Task]]:
    for number, item in enumerate(items):
        wire = as_object(item)
        if wire is None:
            yield str(number), Task(task_text(item) if isinstance(item, str) else "")
        else:
            yield str(first_given(wire, *ID_KEYS) or number), task_of(wire)


def task_of(wire: Wire) -> Task:
    texts = [wire[key] for key in TEXT_KEYS if isinstance(wire.get(key), str) and wire[key].strip()]
    return changed(Task(task_text(texts[0]) if texts else ""), {"status": wire.get("status")})


def task_of_box(box: re.Match[str]) -> Task:
    return Task(task_text(box[2]), box[1] in "xX", box[1] in "~-/")


def changed(task: Task, given: Wire) -> Task:
    """A task with the subject and the status that an update gives it."""
    subject, status = given.get("subject"), given.get("status")
    if isinstance(subject, str) and subject.strip():
        task = task._replace(text=task_text(subject))
    if isinstance(status, str):
        word = status.strip().lower().replace(" ", "_").replace("-", "_")
        task = task._replace(is_done=word in DONE, is_in_progress=word in IN_PROGRESS)
    return task


def created_id(block: ToolBlock) -> str:
    """The id that the tool gave a task, which stands in its result: ``Task #1 created``."""
    wire = as_object(block.tool_result)
    found = None if wire is None else CREATED.search(result_text(read_result(wire).content))
    return "" if found is None else found[1]


def task_text(text: str) -> str:
    return clean_line(" ".join(strip_injected(text[: 20 * LONGEST_TASK]).split()), LONGEST_TASK)
