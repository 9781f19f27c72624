"""A model request as it is looked at to know whose it is: its path, its headers, and the few members that tell.

Of a body no more is made than that: what is in the messages is skipped, and the body is read once, when it is asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec
import orjson

from toolcarry.decode import loads
from toolcarry.errors import InputError

__all__ = ["RequestFields", "RequestView", "opening", "read_fields"]

NOT_THE_MODEL: Final = frozenset(("user", "system", "developer"))


@dataclass(frozen=True, slots=True)
class RequestFields:
    """The members of a request's body that tell whose it is, as they came; ``None`` where one is not there.

    ``messages`` are its messages wherever they stand, each as it is written where that can be helped.
    """

    model: Any = None
    metadata: Any = None
    conversation: Any = None
    prompt_cache_key: Any = None
    messages: Any = None


class Frame(msgspec.Struct, gc=False):
    """What is read of a body; messages stay bytes."""

    model: Any = None
    metadata: Any = None
    conversation: Any = None
    prompt_cache_key: Any = None
    messages: list[msgspec.Raw] | None = None
    contents: list[msgspec.Raw] | None = None
    input: list[msgspec.Raw] | str | None = None

    @property
    def said(self) -> list[msgspec.Raw] | str | None:
        """The messages, wherever they stand."""
        lists = (self.messages, self.contents, self.input)
        return next((said for said in lists if said is not None), None)


FRAME: Final = msgspec.json.Decoder(Frame)


class RequestView:
    """A request as those see it who say whose it is: ``path``, ``headers`` by lower-case names, ``body`` as it came,
    and the ``scope`` that the host's own middleware may have put something into.

    >>> view = RequestView("/v1/messages", {"session-id": "s1"}, b'{"model": "m", "messages": []}')
    >>> view.headers.get("session-id"), view.fields.model
    ('s1', 'm')
    """

    def __init__(
        self,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        scope: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = path
        self.headers = headers
        self.body = body
        self.scope: Mapping[str, Any] = {} if scope is None else scope

    @cached_property
    def fields(self) -> RequestFields:
        """What the body says of itself; nothing where it can't be read."""
        return read_fields(self.body)


def read_fields(body: bytes) -> RequestFields:
    """The members of a body that tell whose it is. No body raises.

    >>> read_fields(b'{"model": "m", "input": "hi"}').model
    'm'
    >>> read_fields(b"[1, 2").model
    """
    try:
        frame = FRAME.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return read_slowly(body)
    return RequestFields(
        frame.model, frame.metadata, frame.conversation, frame.prompt_cache_key, frame.said
    )


def read_slowly(body: bytes) -> RequestFields:
    """What other readers accept: half of a surrogate pair above all, where a client cut a text in two."""
    try:
        document = loads(body)
    except InputError:
        return RequestFields()
    if not isinstance(document, dict):
        return RequestFields()
    lists = (document.get(name) for name in ("messages", "contents", "input"))
    return RequestFields(
        document.get("model"),
        document.get("metadata"),
        document.get("conversation"),
        document.get("prompt_cache_key"),
        next((said for said in lists if said is not None), None),
    )


def opening(fields: RequestFields) -> str:
    """A hash of what stands before the first message of the model's; empty where nothing does.

    It stays the same while a conversation grows. What clients move about doesn't count: cache marks, and whether a
    text is written as a string or as a part.

    >>> said = b'{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]}'
    >>> opening(read_fields(said)) == opening(read_fields(b'{"input": "hi"}'))
    True
    """
    state = hashlib.sha256(b"toolcarry opening 1")
    is_empty = True
    try:
        for message in first_messages(fields.messages):
            text = dump(message)
            state.update(len(text).to_bytes(8, "big"))
            state.update(text)
            is_empty = False
    except (msgspec.MsgspecError, InputError, UnicodeError, RecursionError):
        return ""
    return "" if is_empty else state.hexdigest()


def first_messages(said: Any) -> Iterator[Any]:
    """The messages before the first one of the model's, without what doesn't count."""
    if isinstance(said, str):
        yield bare({"role": "user", "content": said})
        return
    if not isinstance(said, list):
        return
    for item in said:
        message = loads(bytes(item)) if isinstance(item, msgspec.Raw) else item
        if not isinstance(message, dict):
            return
        role = message.get("role", "" if "type" in message else "user")
        if not isinstance(role, str) or role not in NOT_THE_MODEL:
            return
        yield bare(message)


def bare(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without marks for a cache."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if isinstance(content, list):
        content = [
            {key: value for key, value in part.items() if key != "cache_control"}
            for part in content
            if isinstance(part, dict) and "cachePoint" not in part
        ]
    return {"role": message.get("role", "user"), "content": content}


def dump(message: object) -> bytes:
    """A message as bytes, the same whatever order its members came in."""
    try:
        return orjson.dumps(message, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half of a surrogate pair, or an integer of many digits
        return json.dumps(message, sort_keys=True).encode()
