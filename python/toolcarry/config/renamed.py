"""Keys of version 0.1 that were renamed in 0.2. Files and variables with the old names still work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolcarry.errors import ConfigError
from toolcarry.types.policy import CarryPolicy, ProjectPolicy

__all__ = ["RENAMED", "new_value", "rename"]

RENAMED: Final[Mapping[tuple[str, ...], Mapping[str, str]]] = {
    ("thinking", "summarize"): {**CarryPolicy.old_names, "fill": "layout"},
    ("projection",): ProjectPolicy.old_names,
}
"""The old keys of each table, with their new names."""

NEW_VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "fill": {"newest": "sections", "novel": "auto"}
}
"""The new values for the values of an old key."""


def new_value(old: str, value: Any) -> Any:
    """Return the new value for the value of an old key.

    >>> new_value("fill", "newest"), new_value("window", 5)
    ('sections', 5)
    """
    return NEW_VALUES.get(old, {}).get(value, value) if isinstance(value, str) else value


def rename(data: Mapping[str, Any], name: str) -> list[str]:
    """Rename old keys of a settings file in place; return a line about each.

    Raises ``ConfigError`` for a table with both names of a key. ``name`` is the name of the file.

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
                        f"{name}: {place}: is the old name of {new}, which is set too; remove it"
                    )
                table[new] = new_value(old, table.pop(old))
                found.append(f"{name}: {place} is called {new} since version 0.2")
    return found
