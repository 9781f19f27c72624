"""The base class of the settings tables, and the keys that a table has for the fields of a policy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, cast

from msgspec import Struct, defstruct

from toolcarry.config.field_types import Count, Limit, Name, TokensOrShare, TokensShareOrAuto
from toolcarry.types.fields import CharLimit, Field, TokenLimit
from toolcarry.types.policy import NO_LIMIT, ResultPolicy

__all__ = ["HoldsPolicy", "Table", "holds", "limit"]


class Table(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the settings; it is checked when it is loaded.

    ``__post_init__`` checks keys that depend on one another. It raises a ``ValueError`` that begins with one of the
    keys and a colon; the loader adds the place of the table.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # msgspec 0.22 sometimes crashes when its data about a table are freed by the interpreter's last collection
        # (msgspec#717). A reference that is never released prevents that.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(cls))


def limit(value: Any) -> Any:
    """Return the value of a policy's field; ``"none"`` means no limit.

    >>> limit(2_000), limit("none") == NO_LIMIT, limit(None), limit("80%")
    (2000, True, None, '80%')
    """
    return NO_LIMIT if value == "none" else value


def holds(
    kind: type[ResultPolicy], *left_out: str, **defaults: Any
) -> Callable[[type[HoldsPolicy]], type[HoldsPolicy]]:
    """Add a key to a table, after its own keys, for each field of a policy except ``rules`` and those left out.

    The keys have the defaults given here, or those of the fields.
    """

    def give(table: type[HoldsPolicy]) -> type[HoldsPolicy]:
        given = [field for field in kind.declared if field.name not in ("rules", *left_out)]
        keys = [
            (each.name, key_type(each, kind), defaults.get(each.name, each.default))
            for each in given
        ]
        made = defstruct(
            table.__name__,
            keys,
            bases=(table,),
            module=table.__module__,
            namespace={
                "policy_kind": kind,
                "policy_keys": tuple(field.name for field in given),
                "__doc__": table.__doc__,
            },
            frozen=True,
            kw_only=True,
            forbid_unknown_fields=True,
        )
        return cast("type[HoldsPolicy]", made)

    return give


class HoldsPolicy(Table, frozen=True):
    """A table that has the keys of a policy (``holds``)."""

    policy_kind: ClassVar[type[ResultPolicy]]
    policy_keys: ClassVar[tuple[str, ...]]

    def fields(self) -> dict[str, Any]:
        """The fields of the policy, by their names. A destination is still only a name, which may be one that the user
        defined."""
        limits = {
            field.name
            for field in self.policy_kind.declared
            if field.hint in (TokenLimit, CharLimit)
        }
        given = {name: getattr(self, name) for name in self.policy_keys}
        return {name: limit(value) if name in limits else value for name, value in given.items()}


KEY_TYPES: Final[Mapping[str, Any]] = {
    "clear_tool_inputs": bool | tuple[Name, ...] | None,
    "destination": Name | None,
    "exclude_tools": tuple[Name, ...],
    "model": Name | None,
    "prices": Name | None,
    "window_tokens": Count | None,
}
"""The types of keys whose fields have values that a file can't hold, or checks that need a type of their own."""


def key_type(field: Field, kind: type[ResultPolicy]) -> Any:
    """Return the type of the key for a field of a policy."""
    if field.name in KEY_TYPES:
        return KEY_TYPES[field.name]
    if field.is_token_limit:
        return (TokensShareOrAuto if field.name in kind.auto_limits else TokensOrShare) | None
    if field.hint == CharLimit:
        return Limit | None
    return Count if field.hint is int else field.hint
