"""The kinds of steps, and the arguments of calls by what they hold; names and words are those of ``_data/hand_over.json``.

A rule of the policy says first what a tool does, then its name, then the structure of its arguments. So a tool that
nobody has heard of is recognised if it takes a path with an old and a new text, or a list of items with states.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.model.dedupe.rules import bare_name, command_line
from toolcarry.model.pairing.block import Entry

StepKind = Literal[
    "read", "edit", "write", "patch", "command", "search", "listing", "plan", "question", "agent",
    "web", "other",
]  # fmt: skip
FILE_KINDS: Final = ("read", "edit", "write", "patch")
CHANGE_KINDS: Final = ("edit", "write", "patch")

TABLE: Final[dict[str, Any]] = read_table("hand_over")


def words(name: str) -> tuple[str, ...]:
    """Return a list of the table."""
    return tuple(TABLE[name])


_KINDS: Final[dict[str, StepKind]] = {
    name: kind for kind, names in TABLE["tools"].items() for name in names
}
PATH_KEYS: Final = words("path_keys")
OLD_KEYS: Final = words("old_keys")
NEW_KEYS: Final = words("new_keys")
TEXT_KEYS: Final = words("text_keys")
FILE_TEXT_KEYS: Final = words("file_text_keys")
COMMAND_KEYS: Final = words("command_keys")
LINE_KEYS: Final = words("line_keys")
QUERY_KEYS: Final = words("query_keys")
FILTER_KEYS: Final = words("filter_keys")
ITEM_STATES: Final = words("item_states")
ITEM_TEXTS: Final = words("item_texts")
PARTS_OF_PLAN: Final = frozenset(words("parts_of_plan"))
PATCH_START: Final = "*** Begin Patch"


def first_text(given: JsonObject, keys: tuple[str, ...]) -> str:
    """Return the first of these arguments that is a text; empty if none is."""
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def has_text(given: JsonObject, keys: tuple[str, ...]) -> bool:
    """Return true if one of these arguments is a text, which may be empty."""
    return any(isinstance(given.get(key), str) for key in keys)


def path_of(given: JsonObject) -> str:
    return first_text(given, PATH_KEYS)


def command_of(given: JsonObject) -> str:
    """Return the command of a call: a text, or a list of words as one; empty if it has none."""
    for key in COMMAND_KEYS:
        value = given.get(key)
        if isinstance(value, str) and value:
            return value
        listed = as_list(value)
        if listed and key == "commands":  # each is a command, and not a word of one
            return "\n".join([each for each in listed if isinstance(each, str)])
        if listed:
            return command_line(listed) or ""
    return ""


def patch_of(given: JsonObject, command: str) -> str:
    """Return the patch that a call holds: in an argument of its own, or in a command; empty if it has none."""
    if PATCH_START in command:
        return command[command.index(PATCH_START) :]
    for value in given.values():
        if isinstance(value, str) and (value.startswith(PATCH_START) or _is_diff(value)):
            return value
    return ""


def _is_diff(text: str) -> bool:
    return text.startswith(("diff --git ", "--- ")) and "\n+++ " in text and "\n@@" in text


def items_of(given: JsonObject) -> list[JsonObject]:
    """Return the items of a plan in the arguments: objects with a state and a text."""
    for value in given.values():
        items = [item for item in map(as_object, as_list(value) or ()) if item is not None]
        if items and all(first_text(item, ITEM_TEXTS) for item in items) and any(
            first_text(item, ITEM_STATES) for item in items
        ):  # fmt: skip
            return items
    return []


def kind_of(entry: Entry) -> StepKind:
    """Return the kind of a step. The entry is prepared by its rule."""
    given = entry.given if entry.call is not None else {}
    name = bare_name(entry.tool_name)
    named = _KINDS.get(name)
    if named == "plan" or name in PARTS_OF_PLAN:
        return "plan"
    if entry.kind == "command" and entry.value is not None:
        return "patch" if _applies_patch(entry.value) else "command"
    if entry.kind == "edit" and entry.value is not None:
        return _kind_of_change(given)
    if entry.kind == "read" and entry.value is not None:
        return "read"
    return named or _kind_by_structure(given)


def _kind_of_change(given: JsonObject) -> StepKind:
    if has_text(given, OLD_KEYS) or as_list(given.get("edits")) is not None:
        return "edit"
    if patch_of(given, ""):
        return "patch"
    return "write" if has_text(given, TEXT_KEYS) and not is_insert(given) else "edit"


def is_insert(given: JsonObject) -> bool:
    """Return true if the arguments insert a text into a file after a line."""
    return given.get("command") == "insert" or any(type(given.get(key)) is int for key in LINE_KEYS)


def _applies_patch(command: str) -> bool:
    head = command[: command.find(PATCH_START)] if PATCH_START in command else ""
    return "apply_patch" in head or "applypatch" in head


def _kind_by_structure(given: JsonObject) -> StepKind:
    if patch_of(given, ""):
        return "patch"
    if path_of(given) and has_text(given, NEW_KEYS):
        return "edit"
    if path_of(given) and has_text(given, FILE_TEXT_KEYS):
        return "write"
    if items_of(given):
        return "plan"
    if isinstance(given.get("question"), str) or as_list(given.get("questions")):
        return "question"
    if command_of(given):
        return "command"
    if isinstance(given.get("url"), str):
        return "web"
    if isinstance(given.get("prompt"), str):
        return "agent"
    return "search" if first_text(given, QUERY_KEYS) else "other"
