"""Settings from the environment: ``TOOLCARRY_``, the table, the key, as in ``TOOLCARRY_SERVE_PORT=9000``.

A text is a number, true or false, or a list (with commas between) where its setting is one. What isn't stays a text,
so that the check refuses it as it refuses a file's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, Final

from msgspec import inspect

from toolcarry._pure.text.sanitize import clean_line
from toolcarry.config.schema import KeyPath, alternatives, keys, type_at
from toolcarry.errors import ConfigError

__all__ = [
    "read_environment",
    "unknown_variables",
    "variable_of",
    "variables",
]

PREFIX: Final = "TOOLCARRY_"
OTHERS: Final = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "BACKEND",
        "CONFIG",
        "DB",
        "LONG",
        "REQUIRE_RUST",
        "REQUIRE_SERVICES",
        "WRITE_GOLDEN",
    )
)
"""What else is read from the environment, by the library, its command line and its tests."""

BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
INTEGER: Final = re.compile(r"[+-]?[0-9]{1,400}", re.ASCII)


def variable_of(path: KeyPath) -> str:
    """The variable that sets what stands at a path.

    >>> variable_of(("thinking", "summarize", "model"))
    'TOOLCARRY_THINKING_SUMMARIZE_MODEL'
    """
    return PREFIX + "_".join(map(str, path)).upper()


@cache
def variables() -> Mapping[str, KeyPath]:
    """Every variable that sets something, and what. Arrays of tables are for files."""
    return {variable_of(path): path for path in keys()}


def read_environment(environment: Mapping[str, str]) -> dict[KeyPath, Any]:
    """What the environment sets, by path.

    >>> read_environment({"TOOLCARRY_SERVE_PORT": "9000", "HOME": "/home/me"})
    {('serve', 'port'): 9000}
    """
    found: dict[KeyPath, Any] = {}
    for name, path in variables().items():
        text = environment.get(name)
        if text is None:
            continue
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ConfigError(f"{name}: the value is not allowed; allowed: UTF-8") from None
        found[path] = parse(text, type_at(path))
    return found


def unknown_variables(environment: Mapping[str, str], named: Collection[str] = ()) -> list[str]:
    """The variables that look like settings and are none, nor ``named`` by one; without their values.

    >>> unknown_variables({"TOOLCARRY_SERVE_PROT": "9000", "TOOLCARRY_BACKEND": "rust"})
    ['TOOLCARRY_SERVE_PROT']
    """
    known = {*variables(), *OTHERS, *named}
    return sorted(
        clean_line(name, 80)
        for name in environment
        if name.startswith(PREFIX) and name not in known
    )


def parse(text: str, kind: inspect.Type | None) -> object:
    """``text`` as a value of the kind, or as it is."""
    kinds = {type(each) for each in alternatives(kind)} if kind else set()
    plain = text.strip()
    if inspect.BoolType in kinds:
        return BOOLEANS.get(plain.lower(), text)
    if inspect.IntType in kinds and INTEGER.fullmatch(plain):
        return int(plain)
    if inspect.FloatType in kinds:
        try:
            return float(plain)
        except ValueError:
            return text
    if inspect.VarTupleType in kinds:
        return [item.strip() for item in text.split(",") if item.strip()]
    return text if inspect.StrType in kinds else plain
