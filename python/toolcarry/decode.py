"""Bytes to objects: one decoder that both backends share, so that values and errors are the same.

orjson decides where it accepts. Where it refuses what JSON readers in the field accept (lone surrogates,
a byte-order mark, integers of hundreds of digits), a slower decoder decides values and error positions.
An integer beyond 64 bits that orjson takes is a float, as orjson reads it.
A body is one JSON document; everything else is JSONL, a record a line, where a bad line is skipped and counted.
"""

from __future__ import annotations

import codecs
import json
from typing import Any, NamedTuple, NoReturn

import orjson

from toolcarry.errors import InputError

MAX_DEPTH = 128
"""How deep arrays and objects may stand in one another."""


PASS_THROUGH = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS
CONTAINERS = (dict, list, tuple)


SKIPPED: dict[str, Any] = {}
"""What stands in place of a line that holds no object: a message that says nothing."""


class Decoded(NamedTuple):
    """The messages of a body; ``SKIPPED`` stands where a line was, so that an index is a line."""

    messages: list[Any]
    skipped_lines: tuple[int, ...]


def decode_messages(body: bytes | bytearray | memoryview) -> Decoded:
    """Read a request body, a JSON array or JSONL.

    >>> decode_messages(b'{"messages": [{"role": "user", "content": "hi"}]}').messages
    [{'role': 'user', 'content': 'hi'}]
    """
    data = bytes(body)
    try:
        document = loads(data)
    except InputError as error:
        return decode_lines(data, error)
    if isinstance(document, list):
        return Decoded(document, ())
    if not isinstance(document, dict):
        raise InputError(f"neither an object nor an array, but {type(document).__name__}")
    messages = document.get("messages", SKIPPED)
    if isinstance(messages, list):
        return Decoded(messages, ())
    if messages is not SKIPPED:
        raise InputError(f"messages is not an array, but {type(messages).__name__}")
    return Decoded([document], ())


def decode_lines(data: bytes, error: InputError) -> Decoded:
    """Read JSONL; raise ``error``, which the whole gave as one document, where it is no JSONL."""
    lines = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    if is_pretty(lines):
        raise error
    records: list[Any] = []
    skipped: list[int] = []
    for number, line in enumerate(lines, 1):
        record = loads_line(line)
        records.append(SKIPPED if record is None else record)
        if record is None and line.strip():
            skipped.append(number)
    readable = [index for index, record in enumerate(records) if record is not SKIPPED]
    if not readable:
        raise error
    for index in readable[1:]:
        if isinstance(records[index].get("messages"), list):
            raise InputError(f"line {index + 1} is a request of its own: many conversations", index)
    if isinstance(records[readable[0]].get("messages"), list):
        if len(readable) > 1:
            raise InputError(
                f"line {readable[0] + 1} is a request of its own: many conversations", readable[0]
            )
        return Decoded(records[readable[0]]["messages"], tuple(skipped))
    if not lines[-1].strip():
        records.pop()
    return Decoded(records, tuple(skipped))


def is_pretty(lines: list[bytes]) -> bool:
    """Whether lines look like one document, printed over several of them."""
    written = [line for line in lines[:64] if line.strip()][:2]
    opening = written[0].strip() if written else b""
    if opening in (b"{", b"["):
        return True
    return opening.endswith((b"{", b"[", b",")) and written[-1][:1] in (b" ", b"\t")


def loads_line(line: bytes) -> dict[str, Any] | None:
    """The object of one line, or ``None`` where there is none."""
    if not line or line.isspace():
        return None
    try:
        record = loads(line)
    except InputError:
        return None
    return record if isinstance(record, dict) else None


def loads(data: bytes) -> Any:
    """One JSON document; ``InputError`` with the byte offset."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        document = loads_slowly(data)
    if is_too_deep(document):
        raise_too_deep(data)
    return document


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
        return json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        position = offset + byte_length(text[: error.pos])
        raise InputError(f"not JSON at byte {position}: {error.msg.lower()}", position) from None
    except RecursionError:
        raise_too_deep(text.encode("utf-8", "surrogatepass"), offset)
    except ConstantError as error:
        position = offset + find_constant(text, str(error))
        raise InputError(f"not JSON at byte {position}: {error} is no number", position) from None
    except ValueError:  # an integer longer than Python converts
        raise InputError(
            f"not JSON at byte {offset}: an integer of too many digits", offset
        ) from None


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


def is_too_deep(document: object) -> bool:
    """Whether arrays and objects stand deeper than ``MAX_DEPTH`` in one another."""
    level: list[Any] = [document] if isinstance(document, CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            value
            for item in level
            for value in (item.values() if isinstance(item, dict) else item)
            if isinstance(value, CONTAINERS)
        ]
    return bool(level)


def raise_too_deep(data: bytes, offset: int = 0) -> NoReturn:
    """Raise the error for the bracket that opens level ``MAX_DEPTH + 1``."""
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
                break
        elif byte in b"]}":
            depth -= 1
        index += 1
    raise InputError(f"nested deeper than {MAX_DEPTH} at byte {offset + index}", offset + index)


def loads_arguments(raw: object) -> dict[str, Any]:
    """A call's arguments as an object: parsed where they are JSON text, under ``arguments`` where they are no object.

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
        raise InputError(f"nested deeper than {MAX_DEPTH}", None)
    try:
        return orjson.dumps(value, option=PASS_THROUGH).decode()
    except TypeError:
        return json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True
        )
