"""Find the place of a call: the server, host, session and working directory, the environment and the input of a command.

Blocks of two places are never about the same thing. A key names the place after the value, as in
``command:ls @ {"directory":"/w"}``; a key without one belongs to the conversation's own, unnamed place.
"""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.json import compact_json
from toolcarry._input.objects import JsonObject
from toolcarry.model.dedupe.paths import Directory, resolve
from toolcarry.model.pairing.block import Entry
from toolcarry.types.values import Rule

_TABLE = read_table("tool_arguments")
PLACE_KEYS: Final[dict[str, str]] = {
    name: part for part, names in _TABLE["place_keys"].items() for name in names
}
"""The arguments that say where and how a call runs, with the part of the place that each defines."""
FILE_PARTS: Final = frozenset(_TABLE["file_parts"])
"""The parts that matter to a file."""
ABSENT_VALUES: Final = frozenset(_TABLE["absent_values"])
"""The values, as JSON, of an argument that says nothing."""

MCP = "mcp__"
SEPARATOR = " @ {"


def server_of(name: str) -> str:
    """Return the MCP server in a tool's name, as in ``mcp__server__tool``; empty if it has none."""
    if name[: len(MCP)].lower() != MCP:
        return ""
    server, found, tool = name[len(MCP) :].partition("__")
    return server if found and tool else ""


_Parts = dict[str, list[str]]
"""The parts of a place, each with its values as JSON. There are several only if several arguments give one part."""


def locate(rule: Rule, entry: Entry, given: JsonObject) -> tuple[_Parts, Directory]:
    """Return the parts of a call's place, without its working directory, and that directory."""
    parts: _Parts = {}
    server = entry.server
    if rule.kind == "other":  # its key holds the name, and the rule chose the arguments
        return ({"server": [compact_json(server)]} if server else {}), ()
    server = server or server_of(entry.tool_name)
    if server:
        parts["server"] = [compact_json(server)]
    own = entry.directory
    directory = enter(own, ()) if own else ()
    if len(given) > 1:
        directory = add_arguments(rule, given, parts, directory)
    return parts, directory


def add_arguments(rule: Rule, given: JsonObject, parts: _Parts, directory: Directory) -> Directory:
    """Add the parts of the place that the arguments give, and return the working directory by the arguments."""
    is_command, has_directory = rule.kind == "command", False
    for name, value in given.items():
        part = PLACE_KEYS.get(name)
        if part is None or name in rule.key or not (is_command or part in FILE_PARTS):
            continue
        if part == "directory" and isinstance(value, str) and not has_directory:
            if value:
                directory, has_directory = enter(value, directory), True
            continue
        text = compact_json(value)
        if text not in ABSENT_VALUES:
            parts.setdefault("directories" if part == "directory" else part, []).append(text)
    return directory


def enter(path: str, directory: Directory) -> Directory:
    """Return the working directory after a change from ``directory`` to ``path``."""
    value, rest = resolve(path, directory)
    return rest if value == "." else (*rest, value)


def key_of(value: str, parts: _Parts, directory: Directory) -> str:
    """Return the key of a value in a place. No other pair of a value and a place has the same key."""
    if directory:
        names: str | Directory = directory[0] if len(directory) == 1 else directory
        parts["directory"] = [compact_json(names)]
    if not parts:
        is_ambiguous = value.endswith("}") and SEPARATOR in value
        return f"{value} @ {{}}" if is_ambiguous else value
    said = []
    for part, texts in sorted(parts.items()):
        text = texts[0] if len(texts) == 1 else f"[{','.join(texts)}]"
        said.append(f'"{part}":{text}')
    return f"{value} @ {{{','.join(said)}}}"


MOST_CHANGES = 8
_BLANKS = " \t"
_BARE: Final = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./~-"
)


def follow(command: str, directory: Directory) -> tuple[str, Directory]:
    """Return a command without the ``cd X &&`` before it, and the directory in which the rest runs.

    Only where the rest runs if every ``cd`` succeeds, and not otherwise.
    """
    if not command.startswith("cd") or not is_chain(command):
        return command, directory
    return follow_all(command, directory)


def follow_all(command: str, directory: Directory) -> tuple[str, Directory]:
    """Do the same for any command: the directory is that of its first part."""
    for _ in range(MOST_CHANGES):
        found = changed_directory(command)
        if found is None:
            break
        path, command = found
        directory = enter(path, directory)
    return command, directory


def changed_directory(command: str) -> tuple[str, str] | None:
    """Return the directory of the ``cd X &&`` before a command, and the command; ``None`` if there is none."""
    after = command[2:].lstrip(_BLANKS)
    if not command.startswith("cd") or len(after) == len(command) - 2:
        return None
    quote = after[:1]
    if quote in ("'", '"'):
        path, _, rest = after[1:].partition(quote)
        is_plain = quote == "'" or not any(letter in path for letter in "$`\\")
    else:
        size = next((at for at, letter in enumerate(after) if letter not in _BARE), len(after))
        path, rest, is_plain = after[:size], after[size:], True
    rest = rest.lstrip(_BLANKS)
    if not path or not is_plain or path[0] in "-~" or not rest.startswith("&&"):
        return None
    rest = rest[2:].lstrip(_BLANKS)
    return (path, rest) if rest else None


def is_chain(command: str) -> bool:
    """Return true if a command is parts and pipes joined by ``&&`` alone; quotes are not looked at."""
    if ";" in command or "\n" in command or "||" in command:
        return False
    at = command.find("&")
    while at >= 0:
        if command[at + 1 : at + 2] == "&":
            at += 1
        elif command[at + 1 : at + 2] != ">" and command[at - 1 : at] not in ("<", ">"):
            return False
        at = command.find("&", at + 1)
    return True
