"""What the settings are made of: tables, and the kinds of values that stand in them.

A kind's ``description`` is what an error says is allowed, where its type alone doesn't say it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from toolcarry.policy import NO_LIMIT

__all__ = [
    "LONGEST_TIMEOUT",
    "Count",
    "Limit",
    "Name",
    "Positive",
    "Seconds",
    "Table",
    "Text",
    "TimeToLive",
    "VariableName",
    "WaitSeconds",
    "check_names",
    "limit",
]

LONGEST_TIMEOUT: Final = 1_000_000
"""Seconds: twelve days, and what both databases can wait."""
LONGEST_LIFE: Final = 1_000_000_000
"""Seconds: thirty years, so that infinity has to be meant."""
MOST: Final = 1_000_000_000_000
"""More than there is of anything that is counted, and within 64 bits."""

Count = Annotated[int, Meta(ge=0, le=MOST)]
Positive = Annotated[int, Meta(ge=1, le=MOST)]
Limit = Count | Literal["none"]
"""TOML has no null: ``"none"`` says that there is no limit."""
Seconds = Annotated[float, Meta(gt=0, le=LONGEST_TIMEOUT)]
WaitSeconds = Annotated[float, Meta(ge=0, le=LONGEST_TIMEOUT)]
TimeToLive = Annotated[float, Meta(gt=0, le=LONGEST_LIFE)]
Text = Annotated[str, Meta(pattern=r"\A[^\x00]*\Z", description="a text without NUL")]
Name = Annotated[
    str,
    Meta(pattern=r"\A[^\x00-\x1f\x7f]+\Z", description="a text that is not empty, on one line"),
]
VariableName = Annotated[
    str,
    Meta(
        pattern=r"\A([A-Za-z_][A-Za-z0-9_]*)?\Z",
        description="the name of an environment variable",
        extra={"is_secret": True},  # where it is wrong, it may be the secret itself
    ),
]


class Table(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the settings. What it says is checked where it is loaded.

    What two keys have to do with one another is checked in ``__post_init__``, by a ``ValueError`` that begins
    with one of the keys and a colon; the loader tells where that stands.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # msgspec 0.22 crashes now and then where what it knows of a table is freed by the interpreter's last collection
        # (msgspec#717): a reference that is never given back keeps it from that.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(cls))


def limit(value: int | str | None) -> int | None:
    """A limit as a ``Policy`` has it.

    >>> limit(2_000), limit("none") == NO_LIMIT, limit(None)
    (2000, True, None)
    """
    return NO_LIMIT if isinstance(value, str) else value


def check_names(table: str, names: Iterable[str]) -> None:
    """Raise ``ValueError`` where two entries of an array of tables have one name.

    >>> check_names("upstreams", ["a", "b", "a"])
    Traceback (most recent call last):
    ValueError: upstreams[2].name: 'a' is not allowed; allowed: a name that upstreams[0] does not have
    """
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if first.setdefault(name, index) != index:
            raise ValueError(
                f"{table}[{index}].name: {name!r:.80} is not allowed; "
                f"allowed: a name that {table}[{first[name]}] does not have"
            )
