"""The changes that a call makes to files, read from its arguments: replacements, whole texts, removals and moves."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.fallback.context.handover.kinds import (
    LINE_KEYS,
    NEW_KEYS,
    OLD_KEYS,
    TABLE,
    TEXT_KEYS,
    first_text,
    words,
)

_EVERYWHERE: tuple[str, ...] = tuple(TABLE["everywhere_keys"])
FILE_LINES = {
    "*** Add File: ": "write",
    "*** Update File: ": "edit",
    "*** Delete File: ": "remove",
}
MOVE = "*** Move to: "


class Replacement(NamedTuple):
    """An old text and the new one in its place. Without an old text, the new one comes ``after`` a line."""

    old: str
    new: str
    is_everywhere: bool = False
    after: int = -1
    """The number of the line before the new text; -1 if it is not known."""


class FileChange(NamedTuple):
    """A change of a file: replacements, or its whole text, or its new path."""

    path: str
    action: Literal["edit", "write", "remove"]
    replacements: tuple[Replacement, ...] = ()
    text: str = ""
    moved_to: str = ""

    def within(self, folder: str) -> FileChange:
        """Return the change with full paths of files, which are relative to a folder."""
        start = f"{folder.rstrip('/')}/"
        path, moved_to = [
            f"{start}{each}" if each and not each.startswith(("/", "~")) else each
            for each in (self.path, self.moved_to)
        ]
        return self._replace(path=path, moved_to=moved_to)


def replacements_of(given: JsonObject) -> tuple[Replacement, ...]:
    """Return the replacements of an edit, one or several."""
    edits = [edit for edit in map(as_object, as_list(given.get("edits")) or ()) if edit is not None]
    return tuple(
        Replacement(
            first_text(edit, OLD_KEYS),
            first_text(edit, NEW_KEYS),
            any(edit.get(key) is True for key in _EVERYWHERE),
            next((edit[key] for key in LINE_KEYS if type(edit.get(key)) is int), -1),
        )
        for edit in edits or [given]
    )


_SEARCH_MARKS: Final = words("search_marks")
_REPLACE_MARKS: Final = words("replace_marks")
_DIVIDER: Final = "======="


def replacements_in_blocks(text: str) -> tuple[Replacement, ...]:
    """Return the replacements in blocks of a text to search for and one to replace it, as Cline and Roo Code write them.

    >>> replacements_in_blocks("------- SEARCH\\na\\n=======\\nb\\n+++++++ REPLACE")
    (Replacement(old='a', new='b', is_everywhere=False, after=-1),)
    """
    found: list[Replacement] = []
    old: list[str] = []
    new: list[str] | None = None
    is_open = False
    for line in text.split("\n"):
        if line.startswith(_SEARCH_MARKS):
            old, new, is_open = [], None, True
        elif not is_open:
            continue
        elif line.startswith(_REPLACE_MARKS):
            if new is not None:
                found.append(Replacement("\n".join(old), "\n".join(new)))
            is_open = False
        elif line.startswith(_DIVIDER) and new is None:
            new = []
        elif new is not None:
            new.append(line)
        elif line == "-------" and old and old[0].startswith(":start_line:"):
            old = []  # what came before are the line numbers of Roo Code
        else:
            old.append(line)
    return tuple(found)


def written_text(given: JsonObject) -> str:
    return first_text(given, TEXT_KEYS)


def changes_in_patch(patch: str) -> list[FileChange]:
    """Return the changes in a patch of ``apply_patch``, or in a unified diff.

    >>> changes_in_patch("*** Begin Patch\\n*** Update File: a\\n@@\\n x\\n-1\\n+2\\n*** End Patch")[0].replacements
    (Replacement(old='x\\n1', new='x\\n2', is_everywhere=False, after=-1),)
    """
    found: list[FileChange] = []
    reader: _PatchReader | None = None
    for line in patch.split("\n"):
        opened = _opened_by(line, reader)
        if opened is not None:
            if reader is not None:
                found.append(reader.change())
            reader = opened
        elif reader is not None:
            if line.startswith("*** End Patch"):
                break
            reader.add(line)
    if reader is not None:
        found.append(reader.change())
    return [change for change in found if change.path]


def _opened_by(line: str, reader: _PatchReader | None) -> _PatchReader | None:
    """Return the reader of the file that a line of a patch begins."""
    for start, action in FILE_LINES.items():
        if line.startswith(start):
            return _PatchReader(line[len(start) :].strip(), action)
    if line.startswith("--- ") and (reader is None or reader.is_unified):
        return _PatchReader(_plain_path(line[4:]), "edit", is_unified=True)
    return None


def _plain_path(path: str) -> str:
    """Return the path in a header of a unified diff."""
    path = path.partition("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


class _PatchReader:
    """The lines of a patch that are about one file."""

    def __init__(self, path: str, action: str, *, is_unified: bool = False) -> None:
        self.is_unified = is_unified
        self._path = path
        self._action = action
        self._moved_to = ""
        self._old: list[str] = []
        self._new: list[str] = []
        self._done: list[Replacement] = []

    def add(self, line: str) -> None:
        if self.is_unified and line.startswith("+++ "):
            path = _plain_path(line[4:])
            if self._path == "/dev/null":
                self._path, self._action = path, "write"
            elif path == "/dev/null":
                self._action = "remove"
        elif line.startswith(MOVE):
            self._moved_to = line[len(MOVE) :].strip()
        elif line.startswith("@@"):
            self._close()
        elif line.startswith("-"):
            self._old.append(line[1:])
        elif line.startswith("+"):
            self._new.append(line[1:])
        elif line.startswith(" ") or (not line and (self._old or self._new)):
            self._old.append(line[1:])
            self._new.append(line[1:])

    def _close(self) -> None:
        while self._old and self._new and not self._old[-1] and not self._new[-1]:
            del self._old[-1], self._new[-1]
        if self._old or self._new:
            self._done.append(Replacement("\n".join(self._old), "\n".join(self._new)))
        self._old, self._new = [], []

    def change(self) -> FileChange:
        if self._action == "write":
            return FileChange(self._path, "write", text="\n".join(self._new))
        self._close()
        if self._action == "remove":
            return FileChange(self._path, "remove")
        return FileChange(self._path, "edit", tuple(self._done), moved_to=self._moved_to)
