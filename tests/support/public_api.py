"""The public names of a module as text: signatures, fields, values and members."""

import dataclasses
import inspect
import typing
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import Any

import msgspec

from toolcarry.config.table import HoldsPolicy
from toolcarry.types.policy import ResultPolicy

EMPTY = inspect.Parameter.empty
MARKS = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
SPECIAL = ("__call__", "__enter__", "__aenter__", "__iter__", "__len__")
"""The special methods that users call, by a call or by syntax."""


def describe(module: ModuleType) -> str:
    """Return the public API of a module: one paragraph per name, one line per member."""
    found = [describe_name(name, getattr(module, name)) for name in sorted(module.__all__)]
    return "\n\n".join([f"# {module.__name__}", *found]) + "\n"


def describe_name(name: str, value: Any) -> str:
    if inspect.isclass(value):
        return "\n".join([class_line(name, value), *[f"    {line}" for line in members(value)]])
    if inspect.isroutine(value):
        return function_line(name, value)
    if typing.get_origin(value) is not None or isinstance(value, (str, int)):
        return f"{name} = {short(value)}"
    return f"{name}: {type(value).__name__}"


def class_line(name: str, value: type) -> str:
    if issubclass(value, HoldsPolicy):  # its base is the class as it is written
        value = value.__bases__[0]
    bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
    return f"class {name}({bases})" if bases else f"class {name}"


def members(value: type) -> Iterator[str]:
    """Yield the values of an enumeration, else the fields in their order; then the other members by name."""
    if issubclass(value, Enum):
        yield from [f"{name} = {item.value!r}" for name, item in value.__members__.items()]
        return
    own = fields_of(value)
    if issubclass(value, ResultPolicy):
        yield "the fields in docs/reference/settings.md, which a test compares with their declarations"
    elif issubclass(value, HoldsPolicy):
        yield from (line for name, line in own.items() if name not in value.policy_keys)
        yield keys_line(value)
    else:
        yield from own.values()
    if not own and holder_of(value, "__init__").__module__.startswith("toolcarry"):
        yield function_line("__init__", value.__init__)  # type: ignore[misc]
    for name in sorted(dir(value)):
        if name in own or is_private(name):
            continue
        holder = holder_of(value, name)
        if holder.__module__.startswith("toolcarry"):
            yield member_line(name, vars(holder)[name])


def keys_line(table: type[HoldsPolicy]) -> str:
    """Return a line for the keys of a table that follow from the fields of a policy."""
    kind = table.policy_kind
    left_out = [field.name for field in kind.declared if field.name not in table.policy_keys]
    own = {item.name: item.default for item in msgspec.structs.fields(table)}
    changed = [
        f"{field.name} = {short(own[field.name])}"
        for field in kind.declared
        if field.name in table.policy_keys and own[field.name] != field.default
    ]
    line = f"a key for each field of {kind.__name__} but {', '.join(left_out)}"
    return f"{line}; defaults: {', '.join(changed)}" if changed else line


def holder_of(value: type, name: str) -> type:
    """Return the class that defines a member."""
    return next((each for each in value.__mro__ if name in vars(each)), object)


def is_private(name: str) -> bool:
    return name.startswith("_") and name not in SPECIAL


def fields_of(value: type) -> dict[str, str]:
    """Return a line for each public field of a dataclass, a struct or a named tuple."""
    if issubclass(value, msgspec.Struct):
        return {
            item.name: f"{item.name}: {annotation_of(value, item.name)}"
            f"{default_of(item, msgspec.NODEFAULT)}"
            for item in msgspec.structs.fields(value)
        }
    if dataclasses.is_dataclass(value):
        return {
            item.name: f"{item.name}: {shown(item.type)}{default_of(item, dataclasses.MISSING)}"
            for item in dataclasses.fields(value)
            if not item.name.startswith("_")
        }
    names: tuple[str, ...] = getattr(value, "_fields", ())
    return {name: f"{name}: {annotation_of(value, name)}" for name in names}


def annotation_of(value: type, name: str) -> str:
    """Return the annotation of a field as it is written."""
    return next(
        shown(each.__annotations__[name])
        for each in value.__mro__
        if name in inspect.get_annotations(each)
    )


def default_of(item: Any, missing: object) -> str:
    if item.default_factory is not missing:
        return f" = {item.default_factory.__name__}()"
    return "" if item.default is missing else f" = {short(item.default)}"


def member_line(name: str, member: Any) -> str:
    if isinstance(member, property):
        result = member.fget.__annotations__.get("return", EMPTY)
        return f"{name}: property{arrow(result)}"
    if isinstance(member, (classmethod, staticmethod)):
        return f"{type(member).__name__} {function_line(name, member.__func__)}"
    is_function = callable(member) and not isinstance(member, type)
    return function_line(name, member) if is_function else f"{name}: {type(member).__name__}"


def function_line(name: str, function: Any) -> str:
    is_async = inspect.iscoroutinefunction(function)
    signature = inspect.signature(function)
    return (
        f"{'async ' if is_async else ''}def {name}({arguments(signature)})"
        f"{arrow(signature.return_annotation)}"
    )


def arguments(signature: inspect.Signature) -> str:
    """Return parameters as they are written, with ``/`` and ``*`` between their kinds."""
    parameters = list(signature.parameters.values())
    written: list[str] = []
    for place, parameter in enumerate(parameters):
        kind = parameter.kind
        before = parameters[place - 1].kind if place else None
        if before is kind.POSITIONAL_ONLY and kind is not kind.POSITIONAL_ONLY:
            written.append("/")
        if kind is kind.KEYWORD_ONLY and before not in (kind.KEYWORD_ONLY, kind.VAR_POSITIONAL):
            written.append("*")
        annotation = "" if parameter.annotation is EMPTY else f": {shown(parameter.annotation)}"
        default = "" if parameter.default is EMPTY else f" = {short(parameter.default)}"
        written.append(f"{MARKS.get(kind, '')}{parameter.name}{annotation}{default}")
    if parameters and parameters[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        written.append("/")
    return ", ".join(written)


def arrow(annotation: object) -> str:
    return "" if annotation is EMPTY else f" -> {shown(annotation)}"


def shown(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def short(default: object) -> str:
    """Return a default as text; of a value with many fields only its class."""
    if inspect.isroutine(default) or inspect.isclass(default):
        return default.__name__
    is_record = dataclasses.is_dataclass(default) or isinstance(default, msgspec.Struct)
    if is_record or type(default).__repr__ is object.__repr__:
        return f"{type(default).__name__}()"
    text = repr(default)
    return text if len(text) <= 60 else f"{type(default).__name__}(...)"
