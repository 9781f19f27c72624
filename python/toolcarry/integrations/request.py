"""A model request as it is looked at to know whose it is: its path, its headers, and the few members that tell.

The body is read once, when it is asked for, and of its messages those before the first one of the model's alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import orjson

from toolcarry._input.request_fields import RequestFields, read_fields
from toolcarry.errors import InputError
from toolcarry.tool_cache import Style

__all__ = ["RequestView", "opening"]

NOT_THE_MODEL: Final = frozenset(("user", "system", "developer"))


STYLE_OF_PATH: Final[tuple[tuple[str, Style], ...]] = (
    ("/messages", "anthropic"),
    ("/messages/count_tokens", "anthropic"),
    ("/chat/completions", "openai"),
    ("/responses", "responses"),
    ("/responses/input_tokens", "responses"),
    ("/api/chat", "ollama"),
)
"""How a path ends at which requests write their tools in a style."""


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

    @property
    def style(self) -> Style | None:
        """How tools are written in requests to the path; ``None`` where that is not known.

        >>> RequestView("/openai/v1/chat/completions", {}, b"").style
        'openai'
        """
        path = self.path.rstrip("/")
        return next((style for end, style in STYLE_OF_PATH if path.endswith(end)), None)

    @cached_property
    def fields(self) -> RequestFields:
        """What the body says of itself; nothing where it can't be read."""
        return read_fields(self.body)


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
    except (InputError, UnicodeError, RecursionError):
        return ""
    return "" if is_empty else state.hexdigest()


def first_messages(messages: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The messages before the first one of the model's, without what doesn't count."""
    for message in messages:
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
