"""Values as text: in one spelling for hashes, and in lines for readers.

Fields of a report that have their defaults are left out, and the others are sorted by name, so that a new field or
another order of fields changes nothing that is frozen.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from msgspec import NODEFAULT, structs

from toolcarry.types.value import Value

LONGEST = 240
"""A longer string is shown by its ends, its length and its hash."""
SHOWN = 80

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def default_in(field: structs.FieldInfo) -> Any:
    """Return the default of a field of a struct; ``NODEFAULT`` for none."""
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


@cache
def defaults_of(kind: type[Any]) -> dict[str, Any]:
    """Return the defaults of a dataclass or a struct by the names of its fields, which are sorted."""
    if issubclass(kind, Value):
        return {
            field.name: default_in(field)
            for field in sorted(structs.fields(kind), key=lambda field: field.name)
        }
    found = {}
    for field in sorted(dataclasses.fields(kind), key=lambda field: field.name):
        factory = field.default_factory
        found[field.name] = field.default if factory is dataclasses.MISSING else factory()
    return found


def members_of(value: Any) -> dict[str, Any]:
    """Return the fields of a value that don't have their defaults."""
    return {
        name: found
        for name, default in defaults_of(type(value)).items()
        if (found := getattr(value, name)) != default
    }


def spelled(value: Any) -> Any:
    """Return a value that JSON does not know as one that it knows."""
    if isinstance(value, Value) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    ):
        return {"is": type(value).__name__, **members_of(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return {"set": sorted(map(written, value))}
    if isinstance(value, bytes):
        return {"bytes": value.decode("utf-8", "surrogateescape")}
    if isinstance(value, Exception):
        position = getattr(value, "position", None)
        return {"is": type(value).__name__, "text": str(value), "position": position}
    raise TypeError(f"no spelling for {type(value).__name__}")


def written(value: Any) -> str:
    """Return a value as JSON on one line, with the members of objects in their order."""
    return json.dumps(value, default=spelled)


def digest(text: str, length: int = 8) -> str:
    """Return the beginning of a hash, of this number of hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def outcome(job: Callable[[], Any]) -> Any:
    """Return a job's result, or the error that it raises."""
    try:
        return job()
    except Exception as error:  # noqa: BLE001  the error is what is frozen
        return error


def escaped(text: str) -> str:
    """Return a text without characters that a terminal or an editor would act on."""
    return CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def abridged(text: str, longest: int = LONGEST, shown: int = SHOWN) -> str:
    """Return a text, or its ends if it is long."""
    if len(text) <= longest:
        return text
    left_out = f"{len(text) - 2 * shown:,} of {len(text):,} characters, {digest(text)}"
    return f"{text[:shown]}<{left_out}>{text[-shown:]}"


def shortened(value: Any) -> Any:
    """Return a value with each long string in it abridged."""
    if isinstance(value, str):
        return abridged(value)
    if isinstance(value, (list, tuple)):
        return [shortened(item) for item in value]
    if isinstance(value, Mapping):
        return {name: shortened(item) for name, item in value.items()}
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return shortened(spelled(value))


def line_of(value: Any) -> str:
    """Return a value on one line, as a reader needs it."""
    return escaped(json.dumps(shortened(value), ensure_ascii=False))


def report_line(value: Any) -> str:
    """Return the fields of a report that don't have their defaults, on one line."""
    return ", ".join(f"{name} {line_of(member)}" for name, member in members_of(value).items())
