"""The tools of agents that do the same: calls of one become calls of another.

Each ``Form`` says how an agent names one action and its arguments. A call is only replaced if the other agent's form can
hold everything that decides what ran; arguments that are only labels and limits, such as a description or a timeout, are
left out and reported. All other calls stay as they are, which models read without trouble.

    Bash {"command": "make", "description": "Build"}  ->  exec_command {"cmd": "make"}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolcarry.sessions.patches import edit_of, patch_of
from toolcarry.types.value import Value

__all__ = ["FORMS", "Form", "OwnCall", "own_call"]

Arguments = Mapping[str, Any]


class OwnCall(Value, frozen=True):
    """A call as an agent makes it. ``dropped`` are the names of arguments that it has no place for."""

    name: str
    arguments: dict[str, Any]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """The form in which an agent writes an action.

    ``members`` gives the agent's name for each argument of the action; the first *required* must be there. ``labels`` are
    arguments of the agent that change nothing of what is done. ``read`` and ``write`` replace the plain renaming: they
    return ``None`` for what they cannot express.
    """

    agent: str
    action: str
    name: str
    members: Mapping[str, str]
    required: int = 1
    labels: frozenset[str] = frozenset()
    read: Callable[[Arguments], dict[str, Any] | None] | None = None
    write: Callable[[Arguments], dict[str, Any] | None] | None = None
    is_old: bool = False
    """True for a form of earlier versions, which is read and no longer written."""

    def action_of(self, arguments: Arguments) -> tuple[dict[str, Any], tuple[str, ...]] | None:
        """Return the arguments of the action, and the labels left out; ``None`` if the call is not of this form."""
        given = {key: value for key, value in arguments.items() if not is_absent(value)}
        dropped = tuple(key for key in given if key in self.labels)
        rest = {key: value for key, value in given.items() if key not in self.labels}
        if self.read is not None:
            found = self.read(rest)
            return None if found is None else (found, dropped)
        names = {own: name for name, own in self.members.items()}
        if not rest.keys() <= names.keys():
            return None
        found = {names[own]: value for own, value in rest.items()}
        is_whole = all(name in found for name in list(self.members)[: self.required])
        return (found, dropped) if is_whole else None

    def call_of(self, action: Arguments) -> dict[str, Any] | None:
        """Return the agent's arguments for those of the action; ``None`` if it has no place for one."""
        if self.write is not None:
            return self.write(action)
        if not action.keys() <= self.members.keys():
            return None
        return {self.members[name]: value for name, value in action.items()}


def is_absent(value: object) -> bool:
    return value is None or value is False or value == ""


def own_call(
    agent: str, name: str, arguments: object, *, directory: str | None = None
) -> OwnCall | None:
    """Return a call as ``agent`` makes it; ``None`` if it stays as it is.

    ``directory`` is where the session works: an argument that names this directory says nothing.

    >>> own_call("codex", "Bash", {"command": "make", "description": "Build"})
    OwnCall(name='exec_command', arguments={'cmd': 'make'}, dropped=('description',))
    >>> own_call("claude", "Bash", {"command": "make"}) is None
    True
    >>> own_call("codex", "mcp__barn__look", {"path": "loft"}) is None
    True
    """
    if not isinstance(arguments, dict):
        return None
    named = [form for form in FORMS if form.name == name]
    if any(form.agent == agent and form.action_of(arguments) is not None for form in named if not form.is_old):  # fmt: skip
        return None
    for form in named:
        read = form.action_of(arguments)
        if read is None:
            continue
        action, dropped = read
        if directory is not None and action.get("directory") == directory:
            action = {key: value for key, value in action.items() if key != "directory"}
            dropped = (*dropped, "directory")
        for own in FORMS:
            if own.agent == agent and own.action == form.action and not own.is_old:
                written = own.call_of(action)
                if written is not None:
                    return OwnCall(own.name, written, dropped)
        edited = patch_of(form.action, action) if agent == "codex" else None
        if edited is not None:
            return OwnCall("apply_patch", {"input": edited}, dropped)
    if name == "apply_patch" and agent != "codex":
        return of_patch(agent, arguments)
    return None


def of_patch(agent: str, arguments: Arguments) -> OwnCall | None:
    """Return the edit or the write of a file that a patch is, if it is a single one."""
    read = edit_of(arguments.get("input"))
    if read is None or arguments.keys() != {"input"}:
        return None
    action, values = read
    for own in FORMS:
        if own.agent == agent and own.action == action and not own.is_old:
            written = own.call_of(values)
            return None if written is None else OwnCall(own.name, written)
    return None


STATES: Final = frozenset(("pending", "in_progress", "completed"))


def plan_reader(holder: str, text: str) -> Callable[[Arguments], dict[str, Any] | None]:
    """Return a reader of a list of tasks, in the member ``holder``; ``text`` is the name of a task's text."""

    def read(arguments: Arguments) -> dict[str, Any] | None:
        listed = arguments.get(holder)
        if arguments.keys() != {holder} or not isinstance(listed, list):
            return None
        steps = []
        for each in listed:
            if not isinstance(each, dict) or each.get("status") not in STATES:
                return None
            if not isinstance(each.get(text), str) or not each.keys() <= {text, *TASK_LABELS}:
                return None
            steps.append((each[text], each["status"]))
        return {"steps": steps}

    return read


TASK_LABELS: Final = frozenset(("status", "id", "priority", "activeForm"))


def plan_writer(
    holder: str, text: str, more: Callable[[int, str], dict[str, str]]
) -> Callable[[Arguments], dict[str, Any] | None]:
    """Return a writer of a list of tasks; ``more`` gives the other members of each."""

    def write(action: Arguments) -> dict[str, Any] | None:
        steps = enumerate(action["steps"], 1)
        return {
            holder: [
                {text: said, "status": state, **more(number, said)}
                for number, (said, state) in steps
            ]
        }

    return write


def shell_words(arguments: Arguments) -> dict[str, Any] | None:
    """Read a command that is a list of words, of which a shell's ``-c`` takes a script."""
    words = arguments.get("command")
    if not isinstance(words, list) or len(words) != 3 or not arguments.keys() <= {"command", "workdir"}:  # fmt: skip
        return None
    shell, option, script = words
    if shell not in ("bash", "/bin/bash", "sh", "/bin/sh") or option not in ("-c", "-lc"):
        return None
    found = {"command": script}
    if "workdir" in arguments:
        found["directory"] = arguments["workdir"]
    return found if isinstance(script, str) else None


def range_of(arguments: Arguments) -> dict[str, Any] | None:
    """Read the file and the lines of Gemini CLI, which names the last line."""
    path = arguments.get("file_path")
    first, last = arguments.get("start_line"), arguments.get("end_line")
    if path is None or not arguments.keys() <= {"file_path", "start_line", "end_line"}:
        return None
    found: dict[str, Any] = {"path": path}
    if first is not None:
        found["offset"] = first
    if last is not None:
        if not isinstance(last, int) or not isinstance(first or 1, int):
            return None
        found["limit"] = last - (first or 1) + 1
    return found


def with_range(action: Arguments) -> dict[str, Any] | None:
    """Write the file and the lines as Gemini CLI names them."""
    first, count = action.get("offset"), action.get("limit")
    if not isinstance(first or 1, int) or not isinstance(count or 1, int):
        return None
    found: dict[str, Any] = {"file_path": action["path"]}
    if first is not None:
        found["start_line"] = first
    if count is not None:
        found["end_line"] = (first or 1) + count - 1
    return found


LIMITS: Final = frozenset(("timeout", "timeout_ms", "yield_time_ms", "max_output_tokens", "description", "justification"))  # fmt: skip

# Claude Code: https://code.claude.com/docs/en/tools-reference. Codex: github.com/openai/codex, codex-rs/core/src/tools.
# Gemini CLI: github.com/google-gemini/gemini-cli, docs/tools. opencode: github.com/anomalyco/opencode,
# packages/opencode/src/tool. pi: github.com/badlogic/pi-mono, packages/coding-agent/src/core/tools.
FORMS: Final = (
    Form("claude", "run", "Bash", {"command": "command"}, labels=LIMITS),
    Form("codex", "run", "exec_command", {"command": "cmd", "directory": "workdir"}, labels=LIMITS),
    Form("codex", "run", "shell_command", {"command": "command", "directory": "workdir"}, labels=LIMITS, is_old=True),
    Form("codex", "run", "shell", {}, labels=LIMITS, read=shell_words, is_old=True),
    Form("gemini", "run", "run_shell_command", {"command": "command", "directory": "dir_path"}, labels=LIMITS),
    Form("opencode", "run", "bash", {"command": "command", "directory": "workdir"}, labels=LIMITS),
    Form("pi", "run", "bash", {"command": "command"}, labels=LIMITS),
    Form("claude", "read", "Read", {"path": "file_path", "offset": "offset", "limit": "limit"}),
    Form("gemini", "read", "read_file", {}, read=range_of, write=with_range),
    Form("opencode", "read", "read", {"path": "filePath", "offset": "offset", "limit": "limit"}),
    Form("pi", "read", "read", {"path": "path", "offset": "offset", "limit": "limit"}),
    Form("claude", "write", "Write", {"path": "file_path", "content": "content"}, 2),
    Form("gemini", "write", "write_file", {"path": "file_path", "content": "content"}, 2),
    Form("opencode", "write", "write", {"path": "filePath", "content": "content"}, 2),
    Form("pi", "write", "write", {"path": "path", "content": "content"}, 2),
    Form("claude", "edit", "Edit", {"path": "file_path", "old": "old_string", "new": "new_string", "all": "replace_all"}, 2),
    Form("gemini", "edit", "replace", {"path": "file_path", "old": "old_string", "new": "new_string", "all": "allow_multiple"}, 2, labels=frozenset(("instruction",))),
    Form("opencode", "edit", "edit", {"path": "filePath", "old": "oldString", "new": "newString", "all": "replaceAll"}, 2),
    Form("pi", "edit", "edit", {"path": "path", "old": "oldText", "new": "newText"}, 2),
    Form("claude", "plan", "TodoWrite", {}, read=plan_reader("todos", "content"), write=plan_writer("todos", "content", lambda _, said: {"activeForm": said})),
    Form("codex", "plan", "update_plan", {}, labels=frozenset(("explanation",)), read=plan_reader("plan", "step"), write=plan_writer("plan", "step", lambda _, __: {})),
    Form("gemini", "plan", "write_todos", {}, read=plan_reader("todos", "description"), write=plan_writer("todos", "description", lambda _, __: {})),
    Form("opencode", "plan", "todowrite", {}, read=plan_reader("todos", "content"), write=plan_writer("todos", "content", lambda number, _: {"id": str(number), "priority": "medium"})),
    Form("claude", "search", "Grep", {"pattern": "pattern", "path": "path", "include": "glob"}),
    Form("gemini", "search", "grep_search", {"pattern": "pattern", "path": "dir_path", "include": "include_pattern"}),
    Form("opencode", "search", "grep", {"pattern": "pattern", "path": "path", "include": "include"}),
    Form("pi", "search", "grep", {"pattern": "pattern", "path": "path", "include": "glob"}),
    Form("claude", "find", "Glob", {"pattern": "pattern", "path": "path"}),
    Form("gemini", "find", "glob", {"pattern": "pattern", "path": "dir_path"}),
    Form("opencode", "find", "glob", {"pattern": "pattern", "path": "path"}),
    Form("pi", "find", "find", {"pattern": "pattern", "path": "path"}),
)  # fmt: skip
"""The forms in which each agent writes an action, its current one first."""
