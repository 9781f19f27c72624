"""Parts of requests, made from the type definitions of a provider's SDK: every member, and every alternative."""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NotRequired, Required, Union, get_args, get_origin

from typing_extensions import ReadOnly, get_type_hints, is_typeddict

WRAPPERS: Final = (Required, NotRequired, ReadOnly)
PLAIN: Final[Mapping[Any, Any]] = {str: "x", int: 1, float: 1.5, bool: True, bytes: "iVBORw0KGgo="}
DEEPEST: Final = 6
"""Types may contain themselves: an object that is nested deeper is left empty."""
MOST_CHOICES: Final = 8
"""The most alternatives of a union that are tried in a place that holds one of them."""


def alternatives(kind: Any) -> list[Any]:
    """Return the types of a union, however nested; a type that is not a union is the only one."""
    if hasattr(kind, "__metadata__") or get_origin(kind) in WRAPPERS:
        return alternatives(get_args(kind)[0])
    if get_origin(kind) not in (Union, types.UnionType):
        return [] if kind is type(None) else [kind]
    return [inner for each in get_args(kind) for inner in alternatives(each)]


def typed_dicts(kind: Any) -> list[type]:
    """Return the objects of a union that a request may hold; the models of answers are left out."""
    return list(dict.fromkeys(each for each in alternatives(kind) if is_typeddict(each)))


def samples(kind: Any) -> Iterator[Any]:
    """Yield values of a type: in a place for one object each alternative in turn, in a list all of them."""
    seen: list[Any] = []
    for choice in range(MOST_CHOICES):
        found = sample(kind, choice)
        if found not in seen:
            seen.append(found)
            yield found


def sample(kind: Any, choice: int, name: str = "", depth: int = 0) -> Any:
    """Return a value of a type. ``choice`` selects among alternatives."""
    choices = alternatives(kind)
    kind = choices[choice % len(choices)]
    fields = fields_of(kind)
    if fields is not None:
        given = fields.items() if depth < DEEPEST else ()
        return {key: sample(inner, choice, key, depth + 1) for key, inner in given}
    origin = get_origin(kind)
    if origin is Literal:
        return get_args(kind)[choice % len(get_args(kind))]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {}
    if isinstance(origin, type) and issubclass(origin, Iterable):
        inner = alternatives(get_args(kind)[0])
        objects = [each for each in inner if is_typeddict(each)] or inner[:1]
        return [sample(each, choice, name, depth + 1) for each in objects]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return list(kind)[choice % len(kind)].value
    return "iVBORw0KGgo=" if name == "data" else PLAIN.get(kind, {})


def fields_of(kind: Any) -> dict[str, Any] | None:
    """Return the members of an object with their types, as they are written; ``None`` for other types."""
    if is_typeddict(kind):
        return get_type_hints(kind)
    fields = getattr(kind, "model_fields", None)
    if fields is None:
        return None
    return {field.alias or name: field.annotation for name, field in fields.items()}


def shape_samples(shape: Any) -> Iterator[Any]:
    """Yield values of a shape of botocore, as ``samples`` does."""
    seen: list[Any] = []
    for choice in range(MOST_CHOICES):
        found = shape_sample(shape, choice)
        if found not in seen:
            seen.append(found)
            yield found


def shape_sample(shape: Any, choice: int, depth: int = 0) -> Any:
    """Return a value of a shape of botocore; bytes are base64, as in the HTTP API."""
    kind = shape.type_name
    if kind == "structure":
        names = [] if shape.is_document_type else list(shape.members)
        if shape.is_tagged_union:
            names = [names[choice % len(names)]]
        return {name: shape_sample(shape.members[name], choice, depth + 1) for name in names}
    if kind == "list":
        inner = shape.member
        if inner.type_name != "structure" or not inner.is_tagged_union:
            return [shape_sample(inner, choice, depth + 1)]
        each = inner.members.items() if depth < DEEPEST else ()
        return [{name: shape_sample(member, choice, depth + 1)} for name, member in each]
    if kind == "string" and shape.enum:
        return shape.enum[choice % len(shape.enum)]
    return SHAPES.get(kind, {})


SHAPES: Final[Mapping[str, Any]] = {
    "string": "x", "blob": "iVBORw0KGgo=", "integer": 1, "long": 1, "float": 1.5, "double": 1.5, "boolean": True,
}  # fmt: skip
