"""The lines of a chat session of VS Code: a document, and changes of it.

microsoft/vscode, src/vs/workbench/contrib/chat/common/model/objectMutationLog.ts
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import MAX_DEPTH, JsonObject, as_list, as_object, plain
from toolcarry.errors import InputError

__all__ = ["replayed"]

SET, PUSH, DELETE = 1, 2, 3
"""The kinds of lines that change the document of the first line, whose kind is 0."""


def replayed(document: object, lines: Sequence[Any]) -> JsonObject:
    """Return a copy of the document of the first line, as the other lines change it.

    >>> replayed({"requests": []}, [{}, {"kind": 2, "k": ["requests"], "v": [{"message": {}}]}])
    {'requests': [{'message': {}}]}
    """
    try:
        root: Any = plain({"v": document}, 0)
    except RecursionError:
        raise InputError(f"message 0 is nested deeper than {MAX_DEPTH}") from None
    for item in lines[1:]:
        entry = as_object(item) or {}
        path = as_list(entry.get("k")) or ()
        holder: Any = root
        for key in ("v", *path[:-1]):
            holder = member(holder, key)
        if path:
            change(holder, path[-1], entry)
    return as_object(root["v"]) or {}


def member(holder: Any, key: Any) -> Any:
    is_index = isinstance(holder, list) and isinstance(key, int) and 0 <= key < len(holder)
    is_name = isinstance(holder, dict) and isinstance(key, str)
    return holder[key] if is_index else holder.get(key) if is_name else None


def change(holder: Any, key: Any, entry: JsonObject) -> None:
    """Apply a line to the object or the list that holds what it changes. What doesn't fit changes nothing."""
    kind, value = entry.get("kind"), entry.get("v")
    is_name = isinstance(holder, dict) and isinstance(key, str)
    is_index = isinstance(holder, list) and isinstance(key, int) and 0 <= key < len(holder)
    if kind == SET and (is_name or is_index):
        holder[key] = value
    elif kind == DELETE and is_name:
        holder.pop(key, None)
    elif kind == PUSH:
        found, length = member(holder, key), entry.get("i")
        if found is None and is_name:
            found = holder[key] = []
        if isinstance(found, list):
            if isinstance(length, int) and length >= 0:
                del found[length:]
            found.extend(as_list(value) or ())
