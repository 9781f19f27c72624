"""What counts as an object, a list or a text of the wire. Shared by both backends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Wire = Mapping[str, Any]


def as_object(value: object) -> Wire | None:
    """``value`` as an object of the wire: a dict, another mapping, or a dumped SDK object; else None."""
    if isinstance(value, dict):
        return value
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        dumped = dump()
        return dumped if isinstance(dumped, dict) else None
    return dict(value) if isinstance(value, Mapping) else None


def as_list(value: object) -> list[Any] | tuple[Any, ...] | None:
    return value if isinstance(value, (list, tuple)) else None


def text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


def first_given(wire: Wire, *names: str) -> object:
    """The first member of these names that is there and not null."""
    for name in names:
        value = wire.get(name)
        if value is not None:
            return value
    return None
