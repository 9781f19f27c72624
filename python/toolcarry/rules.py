"""The built-in rules: which tools read, edit and run commands, and by which argument they are told apart.

Rules are data. A user's rules come before these, and the first rule that matches a name decides;
what no rule matches is of the kind other and is never superseded.
"""

from __future__ import annotations

from typing import Final

from toolcarry.types import Rule

PATH_KEYS: Final = ("file_path", "path", "filePath", "target_file", "notebook_path", "filename")
COMMAND_KEYS: Final = ("command", "cmd")

READ_TOOLS: Final = (
    "read",
    "read_file",
    "readfile",
    "view",
    "open_file",
    "cat_file",
    "notebookread",
    "str_replace_based_edit_tool:view",
    "str_replace_editor:view",
)
EDIT_TOOLS: Final = (
    "edit",
    "multiedit",
    "write",
    "write_file",
    "write_to_file",
    "create_file",
    "edit_file",
    "replace_in_file",
    "apply_diff",
    "notebookedit",
    "str_replace_based_edit_tool:create",
    "str_replace_based_edit_tool:str_replace",
    "str_replace_based_edit_tool:insert",
    "str_replace_editor:create",
    "str_replace_editor:str_replace",
    "str_replace_editor:insert",
)
COMMAND_TOOLS: Final = (
    "bash",
    "shell",
    "execute_bash",
    "execute_command",
    "run_terminal_cmd",
    "run_shell_command",
    "exec_command",
    "local_shell",
    "terminal",
)

DEFAULT_RULES: Final[tuple[Rule, ...]] = (
    Rule(READ_TOOLS, kind="read", key=PATH_KEYS, keep="last"),
    Rule(EDIT_TOOLS, kind="edit", key=PATH_KEYS, keep="last"),
    Rule(COMMAND_TOOLS, kind="command", key=COMMAND_KEYS, keep="last"),
)
