"""The members of a request's body besides its messages. They are split off first, and decoded when they are asked for.

A proxy needs little of a body, and passes most requests on unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, overload

import msgspec
import orjson

from toolcarry._input.json import dump, loads
from toolcarry._input.value_count import has_many_values
from toolcarry.errors import InputError

__all__ = ["LazyMessages", "RequestFields", "read_fields"]

LISTS: Final = ("messages", "contents", "input")
"""The members of a request that may hold its messages."""


@dataclass(frozen=True, slots=True)
class RequestFields:
    """The members of a request's body that identify its conversation, unchanged; ``None`` if absent.

    ``tools`` are a JSON value. ``messages`` are those of the list ``key``, which is empty if there is no list. A user
    message that is a string is one message all the same. Nothing is read of a body that ``has_many_values``.
    """

    model: Any = None
    metadata: Any = None
    conversation: Any = None
    prompt_cache_key: Any = None
    tool_choice: Any = None
    tools: bytes | None = None
    key: str = ""
    messages: Sequence[Any] = ()
    has_many_values: bool = False


class LazyMessages(Sequence[Any]):
    """The messages of a body, each decoded when it is first asked for.

    Raises ``InputError`` at a message that is not JSON: to split the list, msgspec does not check every message fully.
    """

    def __init__(self, body: bytes, key: str, parts: list[msgspec.Raw]) -> None:
        self._body = body
        self._key = key
        self._parts = parts
        self._read: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if at < 0:
            at += len(self)
        if at not in self._read:
            self._read[at] = self._read_one(at)
        return self._read[at]

    def written(self, at: int) -> bytes:
        """Return a message as it is spelled in the body."""
        return bytes(self._parts[at])

    def _read_one(self, at: int) -> Any:
        try:
            return orjson.loads(memoryview(self._parts[at]))
        except orjson.JSONDecodeError:  # raises an error whose position is in the whole body
            return loads(self._body)[self._key][at]


NO_TOOLS: Final = msgspec.Raw()


class Frame(msgspec.Struct, gc=False):
    """The members of a body that are read; messages stay bytes."""

    model: Any = None
    metadata: Any = None
    conversation: Any = None
    prompt_cache_key: Any = None
    tool_choice: Any = None
    tools: msgspec.Raw = NO_TOOLS
    messages: list[msgspec.Raw] | None = None
    contents: list[msgspec.Raw] | None = None
    input: list[msgspec.Raw] | str | None = None


FRAME: Final = msgspec.json.Decoder(Frame)


def read_fields(body: bytes) -> RequestFields:
    """Return the members of a body that identify its conversation, and its messages. Never raises for a bad body.

    >>> fields = read_fields(b'{"model": "m", "input": "hi"}')
    >>> fields.model, list(fields.messages)
    ('m', [{'role': 'user', 'content': 'hi'}])
    >>> read_fields(b"[1, 2").model
    """
    if has_many_values(body):
        return RequestFields(has_many_values=True)
    try:
        frame: Any = FRAME.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return read_slowly(body)
    for key in LISTS:
        parts = getattr(frame, key)
        if isinstance(parts, list):
            return fields_of(frame, key, LazyMessages(body, key, parts))
    return fields_of(frame, *only_message(frame.input))


def read_slowly(body: bytes) -> RequestFields:
    """Read a body that msgspec refuses but other readers accept, such as one with half of a surrogate pair."""
    try:
        document = loads(body)
    except InputError:
        return RequestFields()
    if not isinstance(document, dict):
        return RequestFields()
    tools = msgspec.Raw(dump(document["tools"])) if "tools" in document else NO_TOOLS
    members = (name for name in Frame.__struct_fields__ if name != "tools")
    known = Frame(**{name: document.get(name) for name in members}, tools=tools)
    for key in LISTS:
        messages = document.get(key)
        if isinstance(messages, list):
            return fields_of(known, key, messages)
    return fields_of(known, *only_message(document.get("input")))


def only_message(said: object) -> tuple[str, Sequence[Any]]:
    """Return the one user message of a request whose input is a string."""
    return "", [{"role": "user", "content": said}] if isinstance(said, str) else []


def fields_of(frame: Frame, key: str, messages: Sequence[Any]) -> RequestFields:
    return RequestFields(
        frame.model,
        frame.metadata,
        frame.conversation,
        frame.prompt_cache_key,
        frame.tool_choice,
        None if frame.tools is NO_TOOLS else bytes(frame.tools),
        key,
        messages,
    )
