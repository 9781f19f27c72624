"""Write the settings as TOML that can be loaded again, with the source of each value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import to_builtins

from toolcarry.config.mask import hide
from toolcarry.config.schema import KeyPath, has_mark
from toolcarry.config.tables import Config
from toolcarry.model.text.sanitize import DIRTY

__all__ = ["plain_values", "write_toml"]

ESCAPED: Final = re.compile(rf'[\x00-\x1f"\\]|{DIRTY.pattern}')
BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def plain_values(config: Config) -> dict[str, Any]:
    """Return the settings as dicts and lists, with hidden passwords, without those that are not set.

    >>> plain_values(Config())["dedup"]
    {'preset': 'default', 'rules': []}
    """
    values: dict[str, Any] = hidden(to_builtins(config), ())
    return values


def hidden(value: Any, path: KeyPath) -> Any:
    if isinstance(value, dict):
        return {key: hidden(v, (*path, key)) for key, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [hidden(item, (*path, index)) for index, item in enumerate(value)]
    return hide(value) if isinstance(value, str) and has_mark(path, "has_password") else value


def write_toml(config: Config, sources: Mapping[KeyPath, str] | None = None) -> str:
    """Write the settings as TOML; each setting that is in ``sources`` is followed by its origin.

    Terminal control characters are escaped. The same settings are loaded again, except for hidden passwords.

    >>> write_toml(Config()).splitlines()[:4]
    ['prices = []', '', '[thinking.summarize]', 'enabled = true']
    """
    return "\n\n".join(tables(plain_values(config), (), sources or {})) + "\n"


def tables(
    table: Mapping[str, Any], path: KeyPath, sources: Mapping[KeyPath, str]
) -> Iterator[str]:
    """Write a table with its values, then the tables in it."""
    own = {key: value for key, value in table.items() if not holds_tables(value)}
    if own or (path and not table):
        name = ".".join(toml_key(key) for key in path if isinstance(key, str))
        title = f"[[{name}]]" if path and isinstance(path[-1], int) else f"[{name}]"
        rows = [title] if path else []
        for key, value in own.items():
            source = sources.get((*path, key))
            rows.append(f"{toml_key(key)} = {toml(value)}" + (f"  # {source}" if source else ""))
        yield "\n".join(rows)
    for key, value in table.items():
        if isinstance(value, dict):
            yield from tables(value, (*path, key), sources)
        elif key not in own:
            for index, item in enumerate(value):
                yield from tables(item, (*path, key, index), sources)


def toml_key(key: str) -> str:
    """Return a key in TOML syntax, in quotes if it needs them.

    >>> toml_key("my-gateway"), toml_key("my gateway")
    ('my-gateway', '"my gateway"')
    """
    return key if BARE_KEY.fullmatch(key) else toml(key)


def holds_tables(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    )


def toml(value: object) -> str:
    """Return a value in TOML syntax.

    >>> toml(["a\\n", True, 1e16])
    '["a\\\\n", true, 1e+16]'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{ESCAPED.sub(escape, value)}"'
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return repr(value)


def escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return SHORT.get(match[0]) or (f"\\u{code:04x}" if code < 0x1_0000 else f"\\U{code:08x}")
