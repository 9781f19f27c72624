"""The destinations of requests: the format of their messages, and what they refuse.

A destination is a provider, a gateway or a family of models. Its record is a file in ``_data/destinations``, with the
source of each rule. A record with a ``base`` has the fields of that record, except for its own ones. The rules are listed
in ``_data/rules.json``; the repair, which is in Rust, has them from the same files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from toolcarry._data import destination_names, read_destination
from toolcarry.types.destinations import Destination as OwnDestination


class IdRule(NamedTuple):
    """The rule for ids, or for names. One may be empty if ``at_least`` is 0."""

    at_least: int = 0
    at_most: int = 0
    """The most characters; 0 means any number."""
    is_word: bool = False
    """True if an id consists of ASCII letters, digits and ``marks``."""
    marks: str = ""
    begins_as_word: bool = False
    """True if the first character is a letter or ``_``."""

    def takes_id(self, call_id: str) -> bool:
        """Return true if an id, or a name, is allowed.

        >>> IdRule(at_least=1, is_word=True, marks="_").takes_id("call_1"), IdRule(at_most=2).takes_id("abc")
        (True, False)
        """
        is_word = re.fullmatch(f"[A-Za-z0-9{re.escape(self.marks)}]*", call_id) is not None
        has_room = not self.at_most or len(call_id) <= self.at_most
        is_begun = not self.begins_as_word or re.match("[A-Za-z_]", call_id) is not None
        is_allowed = has_room and is_begun and (is_word or not self.is_word)
        return len(call_id) >= self.at_least and is_allowed


class Destination(NamedTuple):
    """A destination: its format, and the record with its rules."""

    name: str
    """The name of its record."""
    shape: str
    """The name of the record without a base: the format of its messages."""
    tool_name: IdRule
    """The names of tools that it takes."""
    record: Mapping[str, Any]
    """All that its record says."""


def destination_of(record: Mapping[str, Any]) -> Destination:
    """Return the destination of a record."""
    rule = IdRule(**record.get("tool_name", {}))
    return Destination(record["name"], record["shape"], rule, record)


DESTINATIONS: Final = {name: destination_of(read_destination(name)) for name in destination_names()}
"""The destinations by their names."""


@lru_cache(maxsize=256)
def own_destination(given: OwnDestination) -> Destination:
    """Return the destination that a user defined."""
    return destination_of({**read_destination(given.base), **given.rules, "name": given.name})


def wanted_destination(wanted: str | OwnDestination) -> Destination:
    """Return the destination of a policy."""
    return DESTINATIONS[wanted] if isinstance(wanted, str) else own_destination(wanted)
