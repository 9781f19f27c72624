"""JSON: one decoder that both backends share, so that values and errors are the same, and one writer.

orjson decides where it accepts. Where it refuses what JSON readers in the field accept (lone surrogates,
a byte-order mark, integers of hundreds of digits), a slower decoder decides values and error positions.
An integer beyond 64 bits is a float where one can hold it, as orjson reads it.
"""

from __future__ import annotations

import codecs
import json
from typing import Any, NoReturn

import orjson

from toolcarry._input.objects import MAX_DEPTH, is_too_deep
from toolcarry.errors import InputError

PASS_THROUGH = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS
TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
"""How an error begins that says so."""


def loads(data: bytes) -> Any:
    """One JSON document; ``InputError`` with the byte offset."""
    document = loads_any_depth(data)
    if count_brackets(data) > MAX_DEPTH and is_too_deep(document):
        raise_too_deep(data)
    return document


def loads_any_depth(data: bytes) -> Any:
    """One JSON document, which the caller looks at for how deep it is."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return loads_slowly(data)


def loads_slowly(data: bytes) -> Any:
    """What JSON readers in the field accept, and the position where none of them would."""
    body = data.removeprefix(codecs.BOM_UTF8)
    offset = len(data) - len(body)
    try:
        return loads_text(body.decode("utf-8"), offset)
    except UnicodeDecodeError as error:
        position = offset + error.start
        raise InputError(f"not UTF-8 at byte {position}", position) from None


def loads_text(text: str, offset: int = 0) -> Any:
    """``loads_slowly`` for text that begins at the byte ``offset``; it may hold lone surrogates."""
    try:
        return json.loads(text, parse_constant=refuse_constant, parse_int=parse_integer)
    except json.JSONDecodeError as error:
        position = offset + byte_length(text[: error.pos])
        # Some of the decoder's sentences end with "at" or "starting at", before their own position.
        wrong = error.msg.lower().removesuffix(" at").removesuffix(" starting")
        raise InputError(f"not JSON at byte {position}: {wrong}", position) from None
    except RecursionError:
        raise_too_deep(text.encode("utf-8", "surrogatepass"), offset)
    except ConstantError as error:
        position = offset + find_constant(text, str(error))
        raise InputError(f"not JSON at byte {position}: {error} is no number", position) from None
    except ValueError:  # an integer longer than Python converts
        raise InputError(
            f"not JSON at byte {offset}: an integer of too many digits", offset
        ) from None


def parse_integer(digits: str) -> int | float:
    """An integer as orjson reads it; one that no float can hold stays as it is."""
    number = int(digits)
    if -(1 << 63) <= number < 1 << 64:
        return number
    try:
        return float(number)
    except OverflowError:
        return number


def byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class ConstantError(ValueError):
    """NaN or Infinity stands where JSON knows no such number."""


def refuse_constant(name: str) -> NoReturn:
    raise ConstantError(name)


def find_constant(text: str, name: str) -> int:
    """The byte offset of the first ``name`` outside of strings."""
    index = 0
    while True:
        quote, found = text.find('"', index), text.find(name, index)
        if quote < 0 or found < quote:
            return byte_length(text[:found])
        index = skip_string(text, quote)


def skip_string(text: str, quote: int) -> int:
    """The index behind the string that opens at ``quote``."""
    index = quote + 1
    while True:
        end = text.index('"', index)
        escapes = end
        while text[escapes - 1] == "\\":
            escapes -= 1
        index = end + 1
        if (end - escapes) % 2 == 0:
            return index


def raise_too_deep(data: bytes, offset: int = 0) -> NoReturn:
    """Raise the error for the bracket that opens level ``MAX_DEPTH + 1``."""
    position = offset + find_too_deep(data)
    raise InputError(f"{TOO_DEEP} at byte {position}", position)


def find_too_deep(data: bytes) -> int:
    """Where level ``MAX_DEPTH + 1`` is opened in JSON; its length where it never is."""
    depth, index, is_string = 0, 0, False
    while index < len(data):
        byte = data[index]
        if is_string:
            if byte == 0x5C:  # a backslash takes the next byte with it
                index += 1
            elif byte == 0x22:
                is_string = False
        elif byte == 0x22:
            is_string = True
        elif byte in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                return index
        elif byte in b"]}":
            depth -= 1
        index += 1
    return len(data)


def is_written_too_deep(data: bytes, value: object) -> bool:
    """``is_too_deep`` for what is written, which a later key of the same name may hide in the value."""
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
    """A call's arguments as an object: parsed where they are JSON text, under ``arguments`` where they are no object.

    What is nested deeper than ``MAX_DEPTH`` stays text, as all that can't be parsed.

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
    """``value`` as JSON on one line, keys in their order.

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
    """``compact_json`` where a part is nothing for orjson: the other parts are written as ever."""
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
    """A key as JSON has it; ``None`` where it can be none."""
    if isinstance(key, str):
        return key
    return json.dumps(key) if key is None or isinstance(key, (int, float)) else None


def dump(value: object, *, is_sorted: bool = False) -> bytes:
    """JSON, without white space. What orjson refuses (lone surrogates, large integers) is written with escapes.

    Raises ``InputError`` for what is nested so deep that nobody writes it, and for what is no JSON.

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
        except (TypeError, ValueError) as error:  # an object that is none of JSON's
            raise InputError(f"no JSON: {error}", None) from None
        return text.encode()
