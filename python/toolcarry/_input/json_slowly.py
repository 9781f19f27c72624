"""The slower decoder of JSON, which decides values and error positions of input that orjson refuses."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, Final, NoReturn

from toolcarry._input.objects import MAX_DEPTH
from toolcarry.errors import InputError

__all__ = [
    "TOO_DEEP",
    "byte_length",
    "find_too_deep",
    "loads_slowly",
    "loads_text",
    "parse_integer",
    "raise_too_deep",
    "without_constants",
]

TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
"""The beginning of the error for input that is nested too deep."""
STRING_OR_CONSTANT: Final = re.compile(rb'"(?:[^"\\]|\\.?)*+"?|(-?Infinity|NaN)', re.DOTALL)
"""A string, also one that does not end, so that no text is looked through twice; or a word that is no JSON."""


def loads_slowly(data: bytes) -> Any:
    """Decode input that common JSON readers accept. An error has the position at which all of them would stop."""
    body = data.removeprefix(codecs.BOM_UTF8)
    offset = len(data) - len(body)
    try:
        return loads_text(body.decode("utf-8"), offset)
    except UnicodeDecodeError as error:
        position = offset + error.start
        raise InputError(f"not UTF-8 at byte {position}", position) from None


def loads_text(text: str, offset: int = 0) -> Any:
    """Decode text as ``loads_slowly`` does. It begins at the byte ``offset`` and may hold lone surrogates."""
    try:
        return json.loads(text, parse_constant=refuse_constant, parse_int=parse_integer)
    except json.JSONDecodeError as error:
        position = offset + byte_length(text[: error.pos])
        # Some messages of the decoder end with "at" or "starting at", followed by their own position.
        wrong = error.msg.lower().removesuffix(" at").removesuffix(" starting")
        raise InputError(f"not JSON at byte {position}: {wrong}", position) from None
    except RecursionError:
        raise_too_deep(text.encode("utf-8", "surrogatepass"), offset)
    except ConstantError as error:
        position = offset + find_constant(text, str(error))
        raise InputError(
            f"not JSON at byte {position}: {error} is not a number", position
        ) from None
    except ValueError:  # an integer longer than Python converts
        raise InputError(
            f"not JSON at byte {offset}: an integer of too many digits", offset
        ) from None


def parse_integer(digits: str) -> int | float:
    """Return an integer as orjson does: beyond 64 bits as a float, unless it is too large for one."""
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
    """NaN or Infinity in place of a value; JSON has no such numbers."""


def refuse_constant(name: str) -> NoReturn:
    raise ConstantError(name)


def without_constants(data: bytes) -> tuple[bytes, list[int]]:
    """Return JSON with null in place of NaN and the infinities, and the positions at which they were."""
    if b"NaN" not in data and b"Infinity" not in data:
        return data, []
    found = [match.span(1) for match in STRING_OR_CONSTANT.finditer(data) if match[1]]
    ends = [0, *(end for _, end in found)]
    starts = [*(start for start, _ in found), len(data)]
    pieces = (data[end:start] for end, start in zip(ends, starts, strict=True))
    return b"null".join(pieces), starts[:-1]


def find_constant(text: str, name: str) -> int:
    """Return the byte offset of the first ``name`` outside of strings."""
    index = 0
    while True:
        quote, found = text.find('"', index), text.find(name, index)
        if quote < 0 or found < quote:
            return byte_length(text[:found])
        index = skip_string(text, quote)


def skip_string(text: str, quote: int) -> int:
    """Return the index after the string that opens at ``quote``."""
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
    """Return the index at which level ``MAX_DEPTH + 1`` opens in JSON; the length of the data if it never does."""
    depth, index, is_string = 0, 0, False
    while index < len(data):
        byte = data[index]
        if is_string:
            if byte == 0x5C:  # a backslash escapes the next byte
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
