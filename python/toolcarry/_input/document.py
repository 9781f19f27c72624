"""Read a body as messages: one JSON document, or JSONL, whose lines are decoded when they are asked for."""

from __future__ import annotations

import codecs
import re
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, overload

import orjson

from toolcarry._data import read_table
from toolcarry._input.json import is_written_too_deep, loads, loads_any_depth
from toolcarry._input.json_parts import LARGE, loads_lazily
from toolcarry._input.objects import Body, JsonObject, Messages, as_object, dumped
from toolcarry._input.spans import Values, first_item
from toolcarry.errors import InputError

START: Final = 1 << 16
"""The bytes at the beginning of a body in which its form shows."""
ENOUGH_RECORDS: Final = 3
"""So many lines that begin an object are records, whatever stands between them."""
LINE_BREAK: Final = re.compile(rb"\n")
ARRAYS: Final = (list, tuple)
"""An array of a large document is a tuple, whose items are decoded one by one."""
SKIPPED: dict[str, Any] = {}
"""The stand-in for a line that is not a JSON object: an empty message."""


TABLE = read_table("documents")
LISTS: tuple[str, ...] = tuple(TABLE["lists"])
"""The members that may hold the messages of a document without ``messages``; the first one that is a list counts."""
MESSAGE_KEYS = frozenset(TABLE["message_keys"])
"""The members that only a document has that is one message, or one record."""
ANSWER_KEYS: tuple[str, ...] = tuple(TABLE["answer_keys"])
"""The members of a document that may hold the answer next to the request."""
MESSAGE_RECORDS = frozenset(TABLE["message_records"])
"""The types of records whose member ``message`` is a message."""
IMPORTED_WHOLE: tuple[tuple[str, str], ...] = tuple(
    (sign["key"], sign["value"]) for sign in TABLE["imported_whole"]
)
"""The members, with their values, of a document that an importer reads as a whole, though it has messages."""


class JsonLines(Sequence[Any]):
    """The records of a session file. ``SKIPPED`` replaces a line without an object, so that an index is a line."""

    def __init__(self, body: bytes, *, is_kept: bool = True) -> None:
        """Find the lines. ``is_kept`` is false for a job that reads them in order: no record is then kept."""
        self._is_kept = is_kept
        self._body = body  # lines are cut out when they are read: a list of them would take the memory of the body again
        ends = [match.start() for match in LINE_BREAK.finditer(body)]
        self._starts = array("Q", [0, *(end + 1 for end in ends)])
        if body[self._starts[-1] :].strip():
            self._starts.append(len(body) + 1)
        self._records: list[dict[str, Any] | None] = [None] * (len(self._starts) - 1)
        self._skipped: set[int] = set()

    @property
    def skipped_lines(self) -> tuple[int, ...]:
        """The numbers, from 1, of the lines that were read and hold no object."""
        return tuple(sorted(self._skipped))

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        record = self.read(index)
        if messages_of(record) is not None:
            raise many_conversations(index)
        return record

    def read(self, index: int) -> dict[str, Any]:
        """Return the record of a line, even if it is a whole request."""
        record = self._records[index]
        if record is None:
            line = self._body[self._starts[index] : self._starts[index + 1] - 1]
            found = loads_line(line)
            if found is None and line.strip():
                self._skipped.add(index + 1)
            record = SKIPPED if found is None else found
            if self._is_kept:
                self._records[index] = record
        return record

    def read_all(self) -> list[dict[str, Any]]:
        """Return all records. If lines are whole requests, the error names the one that a walk meets first.

        A walk reads from the end. At the first record with a ``uuid``, it reads all records, from the first one on.
        """
        for record in reversed(self):
            if isinstance(record.get("uuid"), str) and record.get("role") is None:
                break
        return list(self)

    def last_before(self, end: int) -> int | None:
        """Return the index of the last line before ``end`` that holds an object."""
        for index in range(end - 1, -1, -1):
            if self.read(index) is not SKIPPED:
                return index
        return None


class Opened(NamedTuple):
    """The messages of a body, and its lines if it is JSONL."""

    messages: Sequence[Any]
    lines: JsonLines | None = None

    @property
    def skipped_lines(self) -> tuple[int, ...]:
        """The numbers, from 1, of the lines that were read and hold no object."""
        return () if self.lines is None else self.lines.skipped_lines


def open_body(body: bytes, *, is_kept: bool = True) -> Opened:
    """Open a request body, a JSON array or JSONL. Raises ``InputError`` with the byte offset for any other input.

    ``is_kept`` is false for a job on a body that was already checked, and is large: its messages are decoded whenever
    they are asked for, and none is kept.

    >>> open_body(b'{"messages": [{"role": "user", "content": "hi"}]}').messages
    [{'role': 'user', 'content': 'hi'}]
    """
    if begins_as_lines(body):
        return open_lines(
            body, InputError("not JSON"), is_kept=is_kept
        )  # no error is raised, since there is an object
    try:
        document = loads(body) if is_kept or len(body) < LARGE else loads_large(body)
    except InputError as error:
        return open_lines(body, error, is_kept=is_kept)
    if isinstance(document, ARRAYS):
        check_single(document)
        return Opened(document)
    if not isinstance(document, dict):
        raise InputError(f"neither an object nor an array, but {type(document).__name__}")
    if is_imported_whole(document):
        return Opened([document])
    messages = messages_of(document)
    prompt = document.get("input")
    if messages is None and isinstance(prompt, str) and not is_message(document):
        messages = [{"role": "user", "content": prompt}]
    if messages is not None:
        return Opened(with_answer(document, messages))
    if "messages" in document:
        kind = type(document["messages"]).__name__
        raise InputError(f"messages is not an array, but {kind}")
    return Opened([document])


def with_answer(document: dict[str, Any], messages: Sequence[Any]) -> Sequence[Any]:
    """Return the messages of a request, with those of the answer that a document has next to it, if there is one."""
    if not any(document.get(key) for key in ANSWER_KEYS):
        return messages
    from toolcarry._input.exchange import conversation_of  # noqa: PLC0415 - rarely needed

    return conversation_of(document, messages, ANSWER_KEYS)


def loads_large(body: bytes) -> Any:
    """Decode a large body, whose arrays are then decoded item by item."""

    return loads_lazily(body)


def begins_as_lines(body: bytes) -> bool:
    """Return true if another line follows a first line that is a whole object, so that a body can't be one document."""
    end = body.find(b"\n")
    if end < 0 or not body[end : end + 256].strip():
        return False
    try:
        return isinstance(orjson.loads(body[:end]), dict)
    except orjson.JSONDecodeError:
        return False


def open_lines(data: bytes, error: InputError, *, is_kept: bool) -> Opened:
    """Open JSONL. If the data is not JSONL, raise ``error``, which is the error of the data as one document."""
    body = data.removeprefix(codecs.BOM_UTF8)
    if is_pretty(body[:START].split(b"\n")) or is_prose(body):
        raise error
    lines = JsonLines(body, is_kept=is_kept)
    last = lines.last_before(len(lines))
    if last is None:
        raise error
    record = lines.read(last)
    messages = messages_of(record)
    if messages is None:
        return Opened(lines, lines)
    if lines.last_before(last) is not None:
        raise many_conversations(last)
    return Opened(with_answer(record, messages), lines)


def messages_of(document: dict[str, Any]) -> Sequence[Any] | None:
    """Return the messages of a document that holds a conversation; ``None`` if the document is itself a message.

    SWE-agent keeps two lists: ``history`` counts if it contains calls, else the ``trajectory``.
    """
    messages = document.get("messages")
    if isinstance(messages, ARRAYS):
        return messages
    if is_message(document):
        return None
    lists = [found for key in LISTS if isinstance(found := document.get(key), ARRAYS)]
    if len(lists) > 1 and lists[0] is document.get("history"):
        has_calls = any(isinstance(item, dict) and "tool_calls" in item for item in lists[0])
        trajectory = document.get("trajectory")
        return lists[0] if has_calls or not isinstance(trajectory, ARRAYS) else trajectory
    return lists[0] if lists else None


def held_message(record: JsonObject) -> JsonObject | None:
    """Return the message in a record; ``None`` if it has none, or if its type says that it is not one.

    Clients copy messages into records about their requests, which are no part of the conversation.

    >>> held_message({"type": "user", "message": {"role": "user", "content": "Hi."}})
    {'role': 'user', 'content': 'Hi.'}
    >>> held_message({"type": "api-request-blob", "message": {"role": "user", "content": "Hi."}})
    """
    message = as_object(record.get("message"))
    kind = record.get("type")
    is_own = kind is None or (isinstance(kind, str) and kind in MESSAGE_RECORDS)
    return message if is_own else None


def is_message(document: dict[str, Any]) -> bool:
    """Return true if a document has a member that shows it to be one message, or one record."""
    return not MESSAGE_KEYS.isdisjoint(document)


def is_imported_whole(document: dict[str, Any]) -> bool:
    """Return true if an importer reads a document as a whole, since its messages alone don't say what they are."""
    return any(document.get(key) == value for key, value in IMPORTED_WHOLE)


def many_conversations(index: int) -> InputError:
    return InputError(f"line {index + 1} is a request of its own: many conversations", index)


def take(messages: Messages | Body) -> list[Any] | tuple[Any, ...] | bytes:
    """Return the input for a kernel: a list or tuple of objects, or bytes. Raises ``InputError`` for anything else."""
    if isinstance(messages, (bytes, bytearray, memoryview)):
        return messages if isinstance(messages, bytes) else bytes(messages)
    if isinstance(messages, (list, tuple)):
        check_single(messages)
        return dumped(messages)
    if isinstance(messages, Sequence) and not isinstance(messages, str):  # type: ignore[unreachable]
        check_single(messages[:1])
        return list(messages)
    raise InputError(
        f"messages must be a list of objects, bytes, text or a Path, not {type(messages).__name__}"
    )


def each_conversation(body: bytes) -> Iterator[bytes]:
    """Yield the bytes of each conversation in a body: an array of conversations and JSONL of requests have several.

    What holds a single one, or can't be read, is yielded as it is.

    >>> list(each_conversation(b'[{"messages": []}, {"messages": []}]'))
    [b'{"messages": []}', b'{"messages": []}']
    """
    if begins_as_lines(body):
        lines = [line for line in body.split(b"\n") if line.strip()]
        first = loads_line(lines[0].removeprefix(codecs.BOM_UTF8))
        yield from [body] if first is None or messages_of(first) is None else lines
        return
    start = first_item(body)
    try:
        is_single = start is None or not holds_conversations([loads(body[start.start : start.end])])
        if not is_single:
            loads(body)
    except InputError:
        is_single = True
    if is_single:
        yield body
        return
    document = Values(body)
    yield from map(document.copy, document.items(document.root))


def holds_conversations(messages: Sequence[Any]) -> bool:
    """Return true if a list holds whole conversations: lists of messages, or requests."""
    first = messages[0] if messages else None
    if isinstance(first, dict):
        is_own = "role" in first or is_imported_whole(first)
        return not is_own and messages_of(first) is not None
    return isinstance(first, (list, tuple)) and (not first or isinstance(first[0], dict))


def check_single(messages: Sequence[Any]) -> None:
    """Raise ``InputError`` if a list holds whole conversations."""
    if holds_conversations(messages):
        raise InputError("item 0 of the array is a conversation of its own: many conversations", 0)


def is_pretty(lines: list[bytes]) -> bool:
    """Return true if lines look like one document that is printed over several lines."""
    written = [line for line in lines[:64] if line.strip()][:2]
    opening = written[0].strip() if written else b""
    if opening in (b"{", b"["):
        return True
    return opening.endswith((b"{", b"[", b",")) and written[-1][:1] in (b" ", b"\t")


def is_prose(body: bytes) -> bool:
    """Return true for lines of which the first and nearly all others begin no object, as in Markdown with a record in it."""
    objects = others = 0
    for line in body.split(b"\n"):
        start = line.strip().removeprefix(codecs.BOM_UTF8)[:1]
        if start == b"{":
            objects += 1
            if others == 0 or objects == ENOUGH_RECORDS:
                return False
        else:
            others += start != b""
    return others > 2 * objects


def loads_line(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line, or ``None`` if there is no object."""
    if not line or line.isspace():
        return None
    try:
        record = loads_any_depth(line)
    except InputError:
        return None
    return record if isinstance(record, dict) and not is_written_too_deep(line, record) else None


def decode_messages(body: bytes) -> tuple[list[Any], tuple[int, ...]]:
    """Return all messages of a body as objects, and the numbers of the lines that hold no object."""
    opened = open_body(body)
    messages = opened.messages
    found = messages.read_all() if isinstance(messages, JsonLines) else list(messages)
    return found, opened.skipped_lines
