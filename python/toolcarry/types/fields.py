"""The fields of a policy, as its dataclass and its docstring declare them.

The keys of the settings file, the environment variables, the command-line options and docs/reference/settings.md are
derived from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from difflib import get_close_matches
from functools import wraps
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, get_type_hints
from warnings import warn

from toolcarry.errors import ConfigError

CharLimit: TypeAlias = int | None
TokenLimit: TypeAlias = int | str | None
"""A number of tokens, or a share of the window such as ``"80%"``."""
Declared = TypeVar("Declared")


class Field(NamedTuple):
    """A field of a policy."""

    name: str
    hint: Any
    """Its type."""
    default: Any
    doc: str
    """Its meaning, in whole sentences."""
    is_token_limit: bool


_ENTRY: Final = re.compile(r"^ *``(\w+)``: (.*?)(?=^ *``\w+``: |^ *$|\Z)", re.MULTILINE | re.DOTALL)


def entries(docstring: str | None) -> list[tuple[str, str]]:
    """Return the entries of a docstring, each a name and its meaning. An entry begins on a new line.

    >>> entries("Words.\\n\\n    ``a``: One\\n    line.\\n    ``b``: Two.\\n")
    [('a', 'One line.'), ('b', 'Two.')]
    """
    return [(name, " ".join(text.split())) for name, text in _ENTRY.findall(docstring or "")]


def declared(kind: type[Declared]) -> type[Declared]:
    """Record the fields that a policy declares, its own ones first, and make the policy with all defaults."""
    policy: Any = kind
    hints = get_type_hints(kind)
    docs = {name: text for each in reversed(kind.__mro__) for name, text in entries(each.__doc__)}
    found = [
        Field(
            each.name,
            hints[each.name],
            each.default,
            docs[each.name],
            hints[each.name] == TokenLimit,
        )
        for each in fields(policy)
    ]
    inherited = [field.name for field in getattr(kind.__base__, "declared", ())]
    policy.declared = tuple(sorted(found, key=lambda field: field.name in inherited))
    policy.token_limits = tuple(field.name for field in found if field.is_token_limit)
    policy.__init__ = taking_old_names(policy)
    policy.plain = policy()
    return kind


def taking_old_names(kind: Any) -> Callable[..., None]:
    """Return the function that makes a policy, extended to accept field names of version 0.1.

    It raises ``TypeError`` for a name that is not a field, and suggests similar names.
    """
    make = kind.__init__

    @wraps(make)
    def init(self: object, **given: Any) -> None:
        for old in kind.old_names.keys() & given.keys():
            new = kind.old_names[old]
            if new in given:
                raise ConfigError(f"{old}: is the old name of {new}, which is set too; remove it")
            warn(
                f"{kind.__name__}: {old} is called {new} since version 0.2",
                DeprecationWarning,
                stacklevel=2,
            )
            given[new] = given.pop(old)
        check_names(kind, given)
        make(self, **given)

    return init


def check_names(kind: Any, given: Iterable[str]) -> None:
    """Raise ``TypeError`` for a name that is not a field of a policy, and suggest similar names.

    >>> from toolcarry.types.policy import CarryPolicy
    >>> check_names(CarryPolicy, ["max_token"])
    Traceback (most recent call last):
    TypeError: 'max_token' is not a field of CarryPolicy; did you mean 'max_tokens' or 'max_result_tokens'?
    """
    names = [field.name for field in kind.declared]
    for name in given:
        if name not in names:
            close = get_close_matches(name, names)
            hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise TypeError(f"{name!r} is not a field of {kind.__name__}{hint}")
