"""Changes of files that can't be replayed: by commands, or under another path.

A command is read word by word, and a doubt counts as a change. What its result says is believed: that nothing changed, or
which files did.
"""

from __future__ import annotations

from typing import Final

from toolcarry.fallback.context.handover.kinds import words
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.model.dedupe.shell import has_side_effects

_CHANGING: Final = frozenset(words("changing"))
_CHECKOUTS: Final = frozenset(words("checkouts"))
_VIEWS: Final = frozenset(words("views"))
_UNCHANGED: Final = words("unchanged")
_LISTED: Final = words("listed")
_FORMATTERS: Final = frozenset(words("formatters"))
_REWRITTEN: Final = words("rewritten")
_GIT_VALUES: Final = words("git_values")
_MOVING: Final = frozenset(words("moving"))
_RESETS: Final = frozenset(words("resets"))
_RECORDS: Final = frozenset(words("records"))
_REMOTE: Final = frozenset(words("remote"))
_NEW_BRANCH: Final = frozenset(words("new_branch"))
_UNNAMED: Final = frozenset(words("unnamed"))
_WRITERS: Final = frozenset(words("writers"))
_HOMES: Final = {home.partition("/")[0]: home.count("/") + 1 for home in words("homes")}
"""The first folder of the paths of homes, and the number of folders down to a home."""
_BETWEEN: Final = "\t\n;&|()<>'\"`"
_DIVIDERS: Final = ";&|\n"
_PATTERN: Final = frozenset("$*~{")
"""The characters of a word that the shell replaces."""


class OtherChanges:
    """The steps that may have changed files in a way that can't be replayed.

    They are kept by the name of a file, and looked up for the few files that may be shown, so that many commands and many
    files take time for each command and each file, and not for each pair.
    """

    def __init__(self) -> None:
        self.everywhere: list[tuple[str, Step]] = []
        """The steps that may have changed any file of a work tree, each with a directory of that tree."""
        self.by_name: dict[str, list[tuple[str, Step]]] = {}
        """The paths that commands named, by the names of the files."""
        self.by_folder: list[tuple[str, Step]] = []
        self.edits: dict[str, list[tuple[str, str, Step]]] = {}
        """The path and the key of each file that was changed, by its name."""

    def of(self, key: str, path: str) -> list[Step]:
        """Return the steps that may have changed a file."""
        name, full = name_of(path), _full(key, path)
        found = [step for other, step in self.by_name.get(name, ()) if _may_be_same(other, full)]
        if " " in name:  # words of a command end at a blank, also in quotes
            found += [step for _, step in self.by_name.get(name.rpartition(" ")[2], ())]
        found += [step for folder, step in self.everywhere if _may_share_tree(folder, full)]
        found += [step for folder, step in self.by_folder if _may_be_below(folder, full)]
        for other, own, step in self.edits.get(name, ()):
            if own != key and _may_be_same(other, full):
                found.append(step)
        return found

    def note(self, path: str, step: Step) -> None:
        """Note a step that may have changed the files whose paths may be the same as this one."""
        self.by_name.setdefault(name_of(path), []).append((path, step))

    def note_edit(self, key: str, path: str, step: Step) -> None:
        """Note a step that changed a file, for files that may be the same one under another path."""
        self.edits.setdefault(name_of(path), []).append((_full(key, path), key, step))


def name_of(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _full(key: str, path: str) -> str:
    """Return the whole path of a file if it is known."""
    return key if key.startswith("/") else path


def _may_be_same(one: str, other: str) -> bool:
    """Return true if two paths may be of one file: one is the end of the other, as where no directory is known.

    >>> _may_be_same("/w/a.py", "w/a.py"), _may_be_same("../w/a.py", "a.py"), _may_be_same("../w/a.py", "/w/a.py")
    (True, False, True)
    """
    leads_up = one.startswith("../") or other.startswith("../")
    if leads_up and not (one.startswith("/") or other.startswith("/")):
        return one == other
    one, other = _downwards(one), _downwards(other)
    return one.endswith(other) or other.endswith(one)


def _downwards(path: str) -> str:
    """Return a path without what leads to the root or up from an unknown folder, with one slash before it."""
    while path.startswith("../"):
        path = path[3:]
    return f"/{path.lstrip('/')}"


def _may_be_below(folder: str, path: str) -> bool:
    """Return true if a file may be in a folder. If both are relative, they are relative to one directory.

    >>> _may_be_below("app", "src/app/a.py"), _may_be_below("app", "/w/app/a.py"), _may_be_below("/w/app", "app/a.py")
    (False, True, True)
    """
    if (folder[:1] == "/") == (path[:1] == "/"):
        return path.startswith(f"{folder}/")
    return f"/{folder.strip('/')}/" in f"/{path}" or folder.endswith(f"/{path.partition('/')[0]}")


def _may_share_tree(folder: str, path: str) -> bool:
    """Return true if a file may be in the work tree of a folder: it is below, or both are below more than a home.

    >>> _may_share_tree("/home/me/app", "/home/me/.tool/a.md"), _may_share_tree("/app/web", "/app/a.md")
    (False, True)
    """
    if not (folder.startswith("/") and path.startswith("/")) or path.startswith(f"{folder}/"):
        return True
    own, others = folder.split("/")[1:], path.split("/")[1:]
    both = next(
        (at for at, (one, other) in enumerate(zip(own, others, strict=False)) if one != other),
        len(own),
    )
    return both > _HOMES.get(own[0], 0)


def note_command(step: Step, others: OtherChanges) -> None:
    """Note a command that may have changed files: those that it names, or all if it changes the work tree."""
    command = _without_bodies(step.command)
    found = _words(command)
    if not _FORMATTERS.isdisjoint(found) and _has_line(step, _REWRITTEN):
        others.everywhere.append((step.directory, step))
        return
    if _CHANGING.isdisjoint(found) and ">" not in command and "git" not in found:
        return
    if not has_side_effects(command):
        return
    parts = [(part, own) for part in _parts(command) if (own := _words(part))]
    directory = "" if any(own[0] == "cd" for _, own in parts) else step.directory
    trees = [own for _, own in parts if _changes_tree(own)]
    if trees and _unchanged_lines(step) < len(trees) and not _note_listed(trees, step, others):
        named = [_checked_out(own) for own in trees]
        if not all(named):
            others.everywhere += [(_tree_of(own, directory), step) for own in trees]
            return
        for path in [path for paths in named for path in paths]:
            others.note(_in(directory, path), step)
            others.by_folder.append((_in(directory, path).rstrip("/"), step))
    changed: list[str] = []
    for part, own in parts:
        if own[0] == "cp" and len(own) > 2:
            *sources, target = [word for word in own[1:] if not word.startswith("-")] or [""]
            changed.append(target)
            for name in map(name_of, sources):  # the target may be a folder
                others.note_edit("", _in(directory, f"{target.rstrip('/')}/{name}"), step)
        elif not _changes_tree(own) and _git_command(own) not in _RECORDS:
            changed += own if "<<" in command else _changed_words(part, own)
    if not _UNNAMED.isdisjoint(changed) or any(name_of(word)[:1] == "*" for word in changed):
        others.everywhere.append((directory, step))
    for word in dict.fromkeys(changed):
        others.note(_in(directory, word), step)
    if not _MOVING.isdisjoint(found):
        folders = dict.fromkeys([_in(directory, word).rstrip("/") for word in found])
        others.by_folder += [(folder, step) for folder in folders if folder.strip(".")]


def _in(directory: str, word: str) -> str:
    """Return the path that a word of a command names in a directory; only its last name if the rest is not certain.

    >>> _in("/w", "./a/b.py"), _in("", "a/b.py"), _in("/w", "$HOME/b.py"), _in("/w", "of=/x/b.py")
    ('/w/a/b.py', 'a/b.py', 'b.py', '/x/b.py')
    """
    path = word.replace("\\", "/").rpartition("=")[2].removeprefix("./")
    if ".." in path or ":" in path or not _PATTERN.isdisjoint(path):
        return name_of(path)
    is_below = directory.startswith("/") and path[:1] != "/"
    return f"{directory.rstrip('/')}/{path}" if is_below else path


def _tree_of(own: list[str], directory: str) -> str:
    """Return a directory in the work tree that a command of git changes; empty if it is not known."""
    if "-C" not in own:
        return directory
    given = own[own.index("-C") + 1 :][:1]
    return given[0] if given and given[0].startswith("/") else ""


def _changed_words(part: str, own: list[str]) -> list[str]:
    """Return the words of a part of a command line that may be files which it changes."""
    if not has_side_effects(part):
        return []
    if not _CHANGING.isdisjoint(own) or "git" in own:
        return own
    return [word for piece in part.split(">")[1:] for word in _words(piece)[:1]]


def _note_listed(trees: list[list[str]], step: Step, others: OtherChanges) -> bool:
    """Note the files that a merge says it changed; return false if it may not name them all."""
    if len(trees) > 1 or not _has_line(step, _LISTED):
        return False
    lines = step.text.split("\n")
    paths = [line.rpartition(" | ")[0].strip() for line in lines if " | " in line]
    totals = [found for line in lines if (found := line.split())[1:2] in (["file"], ["files"])]
    if [total[0] for total in totals] != [str(len(paths))]:
        return False
    paths = [path.removeprefix(".../") for path in paths]
    if any(path.startswith("...") for path in paths):
        return False
    for path in paths:
        if " => " not in path:
            others.note(path, step)
        for side in path.replace("}", "").split(" => ") if " => " in path else ():
            others.note(name_of(side.replace("{", "/")), step)
    return True


def _without_bodies(command: str) -> str:
    """Return a command without the lines behind each ``<<`` that are the text of a file, of a commit, or of a request."""
    kept, at = [], 0
    while True:
        found = command.find("<<", at)
        end = command.find("\n", found) if found >= 0 else -1
        if end < 0 or command.startswith("<<<", found):
            break
        line = command[found + 2 : end]
        start = _words(_parts(command[at:found])[-1])[:2] or [""]
        takes_text = start[0] in _REMOTE or start[-1] == "commit"
        if not takes_text and (start[0] not in _WRITERS or "|" in line):
            break
        mark = next(iter(line.split()), "").strip("-'\"\\")
        last = command.find(f"\n{mark}\n", end)
        kept += [command[at:found], line, "\n"]
        at = len(command) if last < 0 or not mark else last + len(mark) + 2
    return "".join([*kept, command[at:]])


def _has_line(step: Step, parts: tuple[str, ...]) -> bool:
    """Return true if a line of the result has one of these parts, and does not speak of what would be."""
    lines = step.ends().text.split("\n")
    return any("would" not in line and any(part in line for part in parts) for line in lines)


def _unchanged_lines(step: Step) -> int:
    """Return the number of lines of the result which say that nothing changed."""
    lines = step.ends().text.split("\n")
    return sum([any(part in line for part in _UNCHANGED) for line in lines])


def _checked_out(own: list[str]) -> list[str]:
    """Return the words that are paths which a command of git restores; none if it may change every file."""
    mark = next((mark for mark in ("--", "restore") if mark in own), None)
    rest = [] if mark is None else own[own.index(mark) + 1 :]
    paths = [path for path in rest if not path.startswith("-")]
    is_all = any("*" in path or not path.strip("./:") for path in paths)
    return [] if is_all else paths


def _parts(command: str) -> list[str]:
    """Return the simple commands of a command line, more or less: what stands between dividers outside of quotes."""
    parts, start, quote, at = [], 0, "", 0
    while at < len(command):
        sign = command[at]
        if sign == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in _DIVIDERS:
            parts.append(command[start:at])
            start = at + 1
        at += 1
    if not quote:
        return [*parts, command[start:]]
    for sign in _DIVIDERS:
        command = command.replace(sign, "\n")
    return command.split("\n")


def _changes_tree(own: list[str]) -> bool:
    """Return true if a command of git may change files of the work tree, and not only its index or its branches."""
    name = _git_command(own)
    if name not in _CHECKOUTS or not _VIEWS.isdisjoint(own):
        return False
    if name == "reset":
        return not _RESETS.isdisjoint(own)
    return _NEW_BRANCH.isdisjoint(own) and "--staged" not in own


def _git_command(own: list[str]) -> str:
    """Return the command of git among words; empty if there is none."""
    if "git" not in own:
        return ""
    words = iter(own[own.index("git") + 1 :])
    for word in words:
        if word in _GIT_VALUES:
            next(words, "")
        elif not word.startswith("-"):
            return word
    return ""


def _words(command: str) -> list[str]:
    """Return the words of a command. A blank after a backslash is a part of a word."""
    for sign in _BETWEEN:
        if sign in command:
            command = command.replace(sign, " ")
    if "\\ " not in command:
        return command.split()
    return [word.replace("\0", " ") for word in command.replace("\\ ", "\0").split()]
