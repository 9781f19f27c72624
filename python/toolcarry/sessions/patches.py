"""Patches as Codex applies them, for the edit or the write of a single file.

An edit has its old and its new text as the lines of a patch. If it replaced a part of a line, the patch shows this part as
the line: the same texts come back from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["edit_of", "patch_of"]

BEGIN: Final = "*** Begin Patch\n"
END: Final = "*** End Patch"
UPDATE: Final = "*** Update File: "
ADD: Final = "*** Add File: "


def patch_of(action: str, values: Mapping[str, Any]) -> str | None:
    """Return an edit or a write as a patch; ``None`` for anything else, and for what a patch cannot say exactly.

    >>> print(patch_of("edit", {"path": "barn.txt", "old": "hens", "new": "geese"}))
    *** Begin Patch
    *** Update File: barn.txt
    @@
    -hens
    +geese
    *** End Patch
    >>> patch_of("write", {"path": "barn.txt", "content": "no line break at the end"}) is None
    True
    """
    path = values.get("path")
    if not isinstance(path, str) or not path or "\n" in path or path != path.strip():
        return None
    if action == "write" and values.keys() == {"path", "content"}:
        content = values["content"]
        if not isinstance(content, str) or not content.endswith("\n") or "\r" in content:
            return None
        lines = [f"+{line}" for line in content[:-1].split("\n")]
        return joined(f"{ADD}{path}", lines)
    if action != "edit" or not values.keys() <= {"path", "old", "new"}:
        return None
    old, new = values.get("old"), values.get("new", "")
    if not isinstance(old, str) or not isinstance(new, str) or "\r" in old + new:
        return None
    if old == "" or (new == "" and (not old.endswith("\n") or old == "\n")):
        return None
    if new == "":
        return joined(f"{UPDATE}{path}", ["@@", *(f"-{line}" for line in old[:-1].split("\n"))])
    gone = [f"-{line}" for line in old.split("\n")]
    return joined(f"{UPDATE}{path}", ["@@", *gone, *(f"+{line}" for line in new.split("\n"))])


def joined(title: str, lines: list[str]) -> str:
    return BEGIN + "\n".join([title, *lines]) + f"\n{END}"


def edit_of(patch: object) -> tuple[str, dict[str, Any]] | None:
    """Return the action and its values, if a patch writes a new file or changes one place of a file.

    >>> edit_of(patch_of("edit", {"path": "barn.txt", "old": "hens", "new": "geese"}))
    ('edit', {'path': 'barn.txt', 'old': 'hens', 'new': 'geese'})
    """
    if not isinstance(patch, str) or not patch.startswith(BEGIN) or "\r" in patch:
        return None
    lines = patch.strip("\n").split("\n")[1:]
    if len(lines) < 3 or lines.pop() != END:
        return None
    title, *body = lines
    if title.startswith(ADD) and all(line.startswith("+") for line in body):
        content = "".join(f"{line[1:]}\n" for line in body)
        return "write", {"path": title.removeprefix(ADD), "content": content}
    if not title.startswith(UPDATE) or body[0] != "@@":
        return None
    if any(line[:1] not in ("-", "+", " ", "") for line in body[1:]):
        return None
    old = [line[1:] for line in body[1:] if not line.startswith("+")]
    new = [line[1:] for line in body[1:] if not line.startswith("-")]
    if not old:
        return None
    path = title.removeprefix(UPDATE)
    if not new:
        return "edit", {"path": path, "old": "".join(f"{line}\n" for line in old), "new": ""}
    return "edit", {"path": path, "old": "\n".join(old), "new": "\n".join(new)}
