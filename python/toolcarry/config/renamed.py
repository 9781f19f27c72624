"""Keys of version 0.1 that have another name since 0.2. A file or a variable with the old name still works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolcarry.errors import ConfigError
from toolcarry.types.policy import CarryPolicy, ProjectPolicy

__all__ = ["RENAMED", "rename"]

RENAMED: Final[Mapping[tuple[str, ...], Mapping[str, str]]] = {
    ("thinking", "summarize"): CarryPolicy.old_names,
    ("projection",): ProjectPolicy.old_names,
}
"""The old keys of each table, with their new names."""


def rename(data: Mapping[str, Any], name: str) -> list[str]:
    """Give old keys of a settings file their new names, in place; return a line about each.

    Raises ``ConfigError`` for a table with both. ``name`` is that of the file.

    >>> rename({"projection": {"window": 200_000}}, "a.toml")
    ['a.toml: projection.window is called window_tokens since version 0.2']
    """
    found: list[str] = []
    for path, names in RENAMED.items():
        table: Any = data
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        for old, new in names.items() if isinstance(table, dict) else ():
            if old in table:
                place = ".".join((*path, old))
                if new in table:
                    raise ConfigError(
                        f"{name}: {place}: is not allowed together with {new}, which is its name since version 0.2"
                    )
                table[new] = table.pop(old)
                found.append(f"{name}: {place} is called {new} since version 0.2")
    return [*found, *drop_fill(data, name)]


def drop_fill(data: Mapping[str, Any], name: str) -> list[str]:
    """Take ``fill`` out of a settings file, in place; return a line about it.

    Of its two values, ``"newest"`` is a layout now; the contexts of ``"novel"`` are hand-overs.

    >>> drop_fill({"thinking": {"summarize": {"fill": "novel"}}}, "a.toml")
    ['a.toml: thinking.summarize.fill is not a setting since version 0.2; layout is set in its place']
    """
    thinking = data.get("thinking")
    table = thinking.get("summarize") if isinstance(thinking, dict) else None
    if not isinstance(table, dict) or "fill" not in table:
        return []
    table.setdefault("layout", "sections" if table.pop("fill") == "newest" else "auto")
    line = "thinking.summarize.fill is not a setting since version 0.2; layout is set in its place"
    return [f"{name}: {line}"]
