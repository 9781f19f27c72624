"""The names of tools. One that a destination refuses is replaced, always in the same way."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from toolcarry.model.destinations import IdRule

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")


def new_names(names: Iterable[str], rule: IdRule) -> dict[str, str]:
    """Return the names that a rule refuses, each with another one. Equal names stay equal, and different ones different.

    >>> new_names(["files.read", "files_read", ""], IdRule(1, 64, True, "_-"))
    {'files.read': 'files_read_2'}
    """
    given = dict.fromkeys(names)
    refused = [name for name in given if name and not rule.takes_id(name)]
    if not refused:
        return {}
    taken = given.keys() - set(refused)
    found: dict[str, str] = {}
    for name in refused:
        found[name] = new_name(name, rule, taken)
        taken.add(found[name])
    return found


def new_name(name: str, rule: IdRule, taken: set[str]) -> str:
    """Return a name that a rule allows and that is not taken: refused characters become ``_``.

    >>> new_name("files.read", IdRule(1, 64, True, "_-"), {"files_read"})
    'files_read_2'
    """
    plain = _NOT_IN_NAMES.sub("_", name)
    if rule.begins_as_word and re.match("[A-Za-z_]", plain) is None:
        plain = f"_{plain}"
    plain = plain[: rule.at_most or None]
    new, number = plain, 2
    while new in taken:
        end = f"_{number}"
        new = f"{plain[: rule.at_most - len(end)] if rule.at_most else plain}{end}"
        number += 1
    return new
