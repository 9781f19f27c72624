"""Which files a conversation's tools read and changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from toolcarry._pure.dedupe.rules import name_forms
from toolcarry._pure.text.sanitize import clean_line
from toolcarry.summarize.tasks import call_arguments
from toolcarry.types import ToolBlock

__all__ = ["files_touched"]

PATCH_TOOLS: Final = frozenset(("apply_patch", "applypatch"))
PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)

LONGEST_PATH: Final = 200


def files_touched(blocks: Iterable[ToolBlock]) -> tuple[dict[str, int], dict[str, int]]:
    """How often each file was changed, and how often each other one was read; the last touched file last.

    ``blocks`` are oldest first. Those of sub-agents count; those that failed, and those of a branch that was left, don't.

    >>> edit = ToolBlock({"name": "Edit"}, {"content": "ok"}, "Edit", "edit:a.py")
    >>> read = ToolBlock({"name": "Read"}, {"content": "1"}, "Read", "read:b.py")
    >>> files_touched([edit, read, edit])
    ({'a.py': 2}, {'b.py': 1})
    """
    changed: dict[str, int] = {}
    read: dict[str, int] = {}
    for block in blocks:
        if block.is_error or block.tool_result is None:
            continue
        if not (block.notes.is_active or block.scope):
            continue
        kind, _, path = (block.dedup_key or "").partition(":")
        if kind in ("edit", "read") and path:
            count(changed if kind == "edit" else read, path)
        elif name_forms(block.tool_name)[-1] in PATCH_TOOLS:
            for patched in patched_files(block):
                count(changed, patched)
    return changed, {path: times for path, times in read.items() if path not in changed}


def count(files: dict[str, int], path: str) -> None:
    path = clean_line(path, LONGEST_PATH)
    files[path] = files.pop(path, 0) + 1


def patched_files(block: ToolBlock) -> list[str]:
    """The files that a patch names, which has no argument for them."""
    texts: list[str] = []
    for value in call_arguments(block).values():
        texts += [
            item
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, str)
        ]
    return [path.strip() for text in texts for path in PATCHED.findall(text)]
