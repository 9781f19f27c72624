"""Why settings are refused: where, and what is allowed there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import ValidationError

from toolcarry._pure.text.sanitize import clean_line
from toolcarry.config.schema import KeyPath, allowed, dotted, has_mark, item_of, struct_of, type_at
from toolcarry.config.secrets import shown

__all__ = ["place_of", "reason_of", "unknown_key"]

PLACE: Final = re.compile(r" - at `\$([^`]*)`\Z")
"""Where msgspec says that something stands; behind whatever it quotes, and only keys of ours are in it."""
STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")
MISSING: Final = re.compile(r"Object missing required field `(\w+)`")
LONGEST_KEY: Final = 80


def unknown_key(data: Any, path: KeyPath = ()) -> tuple[KeyPath, str] | None:
    """The first key that there is not, with the reason; ``None`` where all are known.

    >>> unknown_key({"serve": {"prot": 1}})[1].partition("allowed")[0]
    "unknown key; did you mean 'port'? "
    """
    kind = type_at(path)
    struct = struct_of(kind) if kind else None
    if struct and isinstance(data, Mapping):
        names = [field.name for field in struct.fields]
        for key, value in data.items():
            here = (*path, key)
            if key not in names:
                return here, f"unknown key; {meant(key, names)}allowed: {', '.join(names)}"
            if found := unknown_key(value, here):
                return found
    elif kind and item_of(kind) and isinstance(data, list):
        for index, value in enumerate(data):
            if found := unknown_key(value, (*path, index)):
                return found
    return None


def meant(key: str, names: list[str]) -> str:
    """The name that ``key`` may have been meant for, as a question."""
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    close = get_close_matches(key[:LONGEST_KEY], names, n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def place_of(path: KeyPath) -> str:
    """A path whose last key may be anything, as errors have it."""
    last = path[-1]
    if isinstance(last, int) or last.isidentifier():
        return clean_line(dotted(path), 4 * LONGEST_KEY)
    before = dotted(path[:-1])
    return f"{before}{'.' if before else ''}{clean_line(repr(last), LONGEST_KEY)}"


def reason_of(error: ValidationError, data: Mapping[str, Any]) -> tuple[KeyPath, str]:
    """What msgspec refused in ``data``: the path, and the reason in words of ours."""
    text = str(error)
    place = PLACE.search(text)
    path: KeyPath = tuple(
        name or int(index) for name, index in STEP.findall(place[1] if place else "")
    )
    if error.__cause__ is not None:  # a table's own check, which begins with the key
        key, _, reason = str(error.__cause__).partition(": ")
        inner = tuple(name or int(index) for name, index in STEP.findall(f".{key}"))
        return (*path, *inner), reason
    if missing := MISSING.match(text):
        path = (*path, missing[1])
        return path, f"is missing; allowed: {allowed(type_at(path))}"
    value = "the value" if has_mark(path, "is_secret") else shown(at(data, path))
    return path, f"{value} is not allowed; allowed: {allowed(type_at(path))}"


def at(data: Any, path: KeyPath) -> Any:
    """What stands at a path."""
    for key in path:
        data = data[key]
    return data
