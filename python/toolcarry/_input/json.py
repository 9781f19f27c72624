"""JSON: one decoder that both backends share, so that values and errors are the same, and one encoder.

Input that orjson accepts is decoded by orjson. If it refuses input that common JSON readers accept (lone surrogates,
a byte-order mark, integers of hundreds of digits), a slower decoder decides values and error positions.
An integer beyond 64 bits becomes a float if a float can hold it, as in orjson.
"""

from __future__ import annotations

import json
from typing import Any, Final

import orjson

from toolcarry._input.json_parts import LARGE, loads_in_parts
from toolcarry._input.json_slowly import (
    TOO_DEEP,
    find_too_deep,
    loads_slowly,
    loads_text,
    raise_too_deep,
)
from toolcarry._input.objects import MAX_DEPTH, is_too_deep
from toolcarry.errors import InputError

PASS_THROUGH = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS
LEAST_PART: Final = 32
"""The bytes that a value of a large document has on average at least; smaller parts would cost more than they save."""
SAMPLE: Final = 1 << 16
"""The bytes in which values are counted: a count in all of them takes longer than the rest of a small job."""


def loads(data: bytes) -> Any:
    """Decode one JSON document. Raises ``InputError`` with the byte offset."""
    document = loads_any_depth(data)
    if count_brackets(data) > MAX_DEPTH and is_too_deep(document):
        raise_too_deep(data)
    return document


def refusal(data: bytes) -> str:
    """Return the reason why a body that the scan refuses can't be read, as a report names it.

    >>> refusal(b'{"messages": [}')
    'not JSON: byte 14'
    """
    try:
        loads(data)
    except InputError as error:
        reason = "nested too deep" if str(error).startswith(TOO_DEEP) else "not JSON"
        return f"{reason}: byte {error.position}"
    return "too long"


def loads_any_depth(data: bytes) -> Any:
    """Decode one JSON document. The caller must check the depth."""
    try:
        if len(data) >= LARGE and data.count(b",", LARGE - SAMPLE, LARGE) * LEAST_PART < SAMPLE:
            return loads_in_parts(data)
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return loads_slowly(data)


def is_written_too_deep(data: bytes, value: object) -> bool:
    """Apply ``is_too_deep`` to the JSON text, since a repeated key may hide deep members from the decoded value."""
    count = count_brackets(data)
    if count <= MAX_DEPTH:
        return False
    if is_too_deep(value):
        return True
    if count_brackets(compact_json(value).encode("utf-8", "replace")) == count:
        return False
    return find_too_deep(data) < len(data)


def count_brackets(data: bytes) -> int:
    return data.count(b"{") + data.count(b"[")


def loads_arguments(raw: object) -> dict[str, Any]:
    """Return a call's arguments as an object. JSON text is parsed; other values become the member ``arguments``.

    Text that is nested deeper than ``MAX_DEPTH`` stays text, like all text that can't be parsed.

    >>> loads_arguments('{"path": "a.py"}'), loads_arguments("not json"), loads_arguments(None)
    ({'path': 'a.py'}, {'arguments': 'not json'}, {})
    """
    if raw is None or raw == "":
        return {}
    value = raw
    if isinstance(raw, str):
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError:
            value = loads_text_or_itself(raw)
        if is_written_too_deep(raw.encode("utf-8", "surrogatepass"), value):
            value = raw
    return value if isinstance(value, dict) else {"arguments": value}


def loads_text_or_itself(raw: str) -> Any:
    try:
        return loads_text(raw)
    except InputError:
        return raw


def compact_json(value: object) -> str:
    """Return ``value`` as JSON on one line, keys in their order.

    >>> compact_json({"b": [1, 2.0], "a": None})
    '{"b":[1,2.0],"a":null}'
    """
    if is_too_deep(value):
        raise InputError(TOO_DEEP, None)
    try:
        return orjson.dumps(value, option=PASS_THROUGH).decode()
    except TypeError:
        return compact_parts(value)


def compact_parts(value: object) -> str:
    """Encode a value as ``compact_json`` does, if it contains something that orjson refuses."""
    if isinstance(value, dict):
        members = [(key_text(key), item) for key, item in value.items()]
        written = [
            f"{compact_scalar(key)}:{compact_parts(item)}"
            for key, item in members
            if key is not None
        ]
        return f"{{{','.join(written)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(compact_parts, value))}]"
    return compact_scalar(value)


def compact_scalar(value: object) -> str:
    try:
        return orjson.dumps(value, option=PASS_THROUGH).decode()
    except TypeError:  # lone surrogates, integers beyond 64 bits, objects of other types
        return json.dumps(value, ensure_ascii=False, default=str)


def key_text(key: object) -> str | None:
    """Return a key as JSON text has it; ``None`` if JSON can't have such a key."""
    if isinstance(key, str):
        return key
    return json.dumps(key) if key is None or isinstance(key, (int, float)) else None


encode_canonical: Final = json.JSONEncoder(
    ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def dump_canonical(value: object) -> bytes:
    """Return the one form of a value that is hashed: JSON in ASCII, keys in order, no white space.

    Raises ``TypeError`` or ``ValueError`` for values that JSON can't express.

    >>> dump_canonical({"name": "Read", "is_error": False})
    b'{"is_error":false,"name":"Read"}'
    """
    return encode_canonical(value).encode()


def dump(value: object, *, is_sorted: bool = False) -> bytes:
    """Return JSON without white space. Values that orjson refuses (lone surrogates, large integers) are encoded more
    slowly.

    Raises ``InputError`` for values that are nested too deep to be written, or have no form in JSON.

    >>> dump({"b": 1, "a": "\\ud800"}, is_sorted=True)
    b'{"a":"\\\\ud800","b":1}'
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if is_sorted else 0)
    except orjson.JSONEncodeError:
        try:
            text = json.dumps(value, separators=(",", ":"), sort_keys=is_sorted)
        except RecursionError:
            raise InputError(f"nested deeper than {MAX_DEPTH}", None) from None
        except (TypeError, ValueError) as error:  # an object without a form in JSON
            raise InputError(f"not JSON: {error}", None) from None
        return text.encode()
