"""The schema of the settings: their keys, and their allowed values, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from msgspec import inspect

from toolcarry.config.tables import Config

__all__ = [
    "KeyPath",
    "allowed",
    "alternatives",
    "dotted",
    "has_mark",
    "item_of",
    "keys",
    "root",
    "struct_of",
    "type_at",
]

KeyPath = tuple[str | int, ...]
"""The path of a setting: keys, and positions in arrays."""

WORDS: Final[Mapping[type[inspect.Type], str]] = {
    inspect.BoolType: "true, false",
    inspect.VarTupleType: "a list of strings",
    inspect.StructType: "a table",
    inspect.DictType: "tables",
}


@cache
def root() -> inspect.Type:
    """The path of the settings as a whole."""
    return inspect.type_info(Config)


def dotted(path: KeyPath) -> str:
    """Return a path in the form that errors show.

    >>> dotted(("serve", "upstreams", 0, "url"))
    'serve.upstreams[0].url'
    """
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


def alternatives(kind: inspect.Type) -> Iterator[inspect.Type]:
    """Return the types that a value may have, without constraints, and without null, which TOML does not have."""
    if isinstance(kind, inspect.Metadata):
        yield from alternatives(kind.type)
    elif isinstance(kind, inspect.UnionType):
        for each in kind.types:
            yield from alternatives(each)
    elif not isinstance(kind, inspect.NoneType):
        yield kind


def struct_of(kind: inspect.Type) -> inspect.StructType | None:
    """Return the table type that a value may have."""
    return next((each for each in alternatives(kind) if isinstance(each, inspect.StructType)), None)


def item_of(kind: inspect.Type) -> inspect.Type | None:
    """Return the types of the items of a value, if it may be an array."""
    arrays = (each for each in alternatives(kind) if isinstance(each, inspect.VarTupleType))
    return next((each.item_type for each in arrays), None)


def type_at(path: KeyPath) -> inspect.Type | None:
    """Return the type allowed at a path; ``None`` if there is none.

    >>> allowed(type_at(("serve", "port")))
    'an integer from 0 to 65,535'
    """
    kind: inspect.Type | None = root()
    for key in path:
        if kind is None:
            return None
        if isinstance(key, int):
            kind = item_of(kind)
        else:
            struct = struct_of(kind)
            fields = struct.fields if struct else ()
            kind = next((field.type for field in fields if field.name == key), None)
    return kind


def keys(kind: inspect.Type | None = None, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Return the paths of all settings except those in arrays of tables, and in tables whose names users choose.

    >>> ("history", "busy_timeout") in set(keys())
    True
    """
    struct = struct_of(kind or root())
    for field in struct.fields if struct else ():
        here = (*path, field.name)
        if struct_of(field.type):
            yield from keys(field.type, here)
        elif not isinstance(field.type, inspect.DictType) and (
            not (item := item_of(field.type)) or not struct_of(item)
        ):
            yield here


def has_mark(path: KeyPath, mark: str) -> bool:
    """True if the type at a path has a mark such as ``is_secret``."""
    kind = type_at(path)
    while isinstance(kind, inspect.Metadata):
        if (kind.extra or {}).get(mark):
            return True
        kind = kind.type
    return False


def allowed(kind: inspect.Type | None) -> str:
    """Describe the values that a type allows."""
    if isinstance(kind, inspect.Metadata):
        description = (kind.extra_json_schema or {}).get("description")
        return str(description) if description else allowed(kind.type)
    if isinstance(kind, inspect.UnionType):
        parts = (each for each in kind.types if not isinstance(each, inspect.NoneType))
        return ", ".join(map(allowed, parts))
    if isinstance(kind, inspect.LiteralType):
        return ", ".join(map(repr, kind.values))
    if isinstance(kind, inspect.IntType):
        return f"an integer {interval(kind)}"
    if isinstance(kind, inspect.FloatType):
        return f"a number {interval(kind)}"
    if isinstance(kind, inspect.StrType):
        return "a non-empty string" if kind.min_length else "a string"
    if isinstance(kind, inspect.VarTupleType) and struct_of(kind.item_type):
        return "an array of tables"
    return "nothing" if kind is None else WORDS[type(kind)]


def interval(kind: inspect.IntType | inspect.FloatType) -> str:
    """Describe the range of a number."""
    if kind.gt is not None:
        return f"> {kind.gt:,} and <= {kind.le:,}"
    return f"from {kind.ge:,} to {kind.le:,}"
