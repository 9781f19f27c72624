"""Destinations of requests: the names of the built-in ones, and destinations that users define."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Final

from toolcarry._data import destination_names, read_destination, read_table
from toolcarry.errors import ConfigError
from toolcarry.types.values import check_choice

__all__ = ["RULES", "Destination", "check_destination"]

FLAG: Final = "True, False"
NUMBER: Final = "an integer >= 0"
TEXT: Final = "ASCII text"
TEXTS: Final = "a list of ASCII texts"
PAIRS: Final = "ASCII texts by their names"
LISTS: Final = "lists of ASCII texts by their names"
PLACES: Final = "a list of lists of ASCII texts"
ID_RULE: Final = {
    "at_least": NUMBER,
    "at_most": NUMBER,
    "is_word": FLAG,
    "marks": TEXT,
    "begins_as_word": FLAG,
}
ALLOWED: Final[Mapping[str, str | Mapping[str, str]]] = {
    "flag": FLAG,
    "number": NUMBER,
    "members": TEXTS,
    "members_by_type": LISTS,
    "texts": TEXTS,
    "text": TEXT,
    "places": PLACES,
    "id": ID_RULE,
    "item_ids": {
        "at_least": NUMBER,
        "at_most": NUMBER,
        "starts": PAIRS,
        "is_word": FLAG,
        "is_unique": FLAG,
    },
}
RULES: Final[Mapping[str, str | Mapping[str, str]]] = {
    name: ALLOWED[rule["value"]]
    for name, rule in sorted(read_table("rules")["rules"].items())
    if rule.get("is_free")
}
"""The rules that a destination may change from its base, with their allowed values. A rule with members replaces the
base's whole rule."""


FORMS: Final[Mapping[str, str]] = {
    name: rule["form"] for name, rule in read_table("rules")["rules"].items() if "form" in rule
}
"""For each rule that affects only one form of request, that form."""


@dataclass(frozen=True)
class Destination:
    """A destination of your own: the built-in one named ``base``, with other ``rules``.

    ``rules`` are those of the records in ``toolcarry/_data/destinations`` that say what is rejected: the keys of
    ``toolcarry.types.destinations.RULES``.

    >>> Destination("my-gateway", "openai-chat", {"cache_marks": 2, "user_ends": True}).base
    'openai-chat'
    >>> Destination("my-gateway", "openai-chat", {"cache_marks": -1})
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: cache_marks: -1 is not allowed; allowed: an integer >= 0
    """

    name: str
    base: str
    rules: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ConfigError(
                f"name: {self.name!r:.80} is not allowed; allowed: a non-empty string"
            )
        if self.name in destination_names():
            raise ConfigError(f"name: destination name {self.name!r} is already taken")
        check_choice("base", self.base, destination_names())
        check_rules("", self.rules, RULES)
        check_forms(self.base, self.rules)

    @cached_property
    def written(self) -> str:
        """The destination as JSON."""
        parts = {"name": self.name, "base": self.base, "rules": dict(self.rules)}
        return json.dumps(parts, sort_keys=True)

    def __hash__(self) -> int:
        return hash(self.written)


def check_rules(place: str, given: object, known: Mapping[str, str | Mapping[str, str]]) -> None:
    """Raise a ``ConfigError`` for a rule that does not exist, or whose value is not allowed."""
    if not isinstance(given, Mapping):
        key = place.removesuffix(".") or "rules"
        raise ConfigError(f"{key}: {given!r:.80} is not allowed; allowed: a mapping")
    for name, value in given.items():
        allowed = known.get(name)
        if allowed is None:
            nearest = get_close_matches(str(name), known, 1)
            meant = f"; did you mean {place}{nearest[0]}?" if nearest else ""
            names = ", ".join(known)
            raise ConfigError(
                f"{place}{name}: is not a rule of a destination{meant}; allowed: {names}"
            )
        if isinstance(allowed, Mapping):
            check_rules(f"{place}{name}.", value, allowed)
        elif not is_allowed(value, allowed):
            raise ConfigError(f"{place}{name}: {value!r:.80} is not allowed; allowed: {allowed}")


def check_forms(base: str, rules: Iterable[str]) -> None:
    """Raise a ``ConfigError`` for a rule that has no effect on requests in the base's form."""
    for name in rules:
        if name in FORMS and FORMS[name] != (form := read_destination(base)["form"]):
            useful = [each for each in RULES if FORMS.get(each, form) == form]
            nearest = get_close_matches(name, useful, 1)
            meant = f"; did you mean {nearest[0]}?" if nearest else ""
            raise ConfigError(
                f"{name}: is not a rule for {base!r}, whose requests have another form{meant}; "
                f"allowed: {', '.join(useful)}"
            )


def is_allowed(value: object, allowed: str) -> bool:
    """Return true if a value is allowed for a rule."""
    if allowed == FLAG:
        return isinstance(value, bool)
    if allowed == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if allowed == TEXT:
        return isinstance(value, str) and value.isascii()
    if allowed == TEXTS:
        return isinstance(value, (list, tuple)) and all(is_allowed(each, TEXT) for each in value)
    if allowed == PLACES:
        return isinstance(value, (list, tuple)) and all(is_allowed(each, TEXTS) for each in value)
    if allowed == LISTS:
        return isinstance(value, Mapping) and all(
            is_allowed(name, TEXT) and is_allowed(each, TEXTS) for name, each in value.items()
        )
    pairs = value.items() if isinstance(value, Mapping) else [()]
    return all(pair and all(is_allowed(each, TEXT) for each in pair) for pair in pairs)


def check_destination(
    key: str, value: object, own: Iterable[Destination] = ()
) -> str | Destination | None:
    """Return a destination in the form that ``ProjectPolicy`` stores: a built-in name, or a ``Destination``, which may
    be given by its name in ``own``.

    A mapping holds the ``name`` (default: ``own``), the ``base`` and the rules of a destination. Raises
    ``ConfigError``.
    """
    if value is None or isinstance(value, Destination):
        return value
    if isinstance(value, Mapping):
        rules = {name: each for name, each in value.items() if name not in ("name", "base")}
        return Destination(value.get("name", "own"), value.get("base", ""), rules)
    named = {each.name: each for each in own}
    if isinstance(value, str) and value in named:
        return named[value]
    check_choice(key, value, (*destination_names(), *named))
    return str(value)
