"""The members of a request's body besides its messages. They are split off first, and decoded when they are asked for.

A proxy needs little of a body, and passes most requests on unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, overload

from toolcarry import _backend
from toolcarry._input.json import loads

__all__ = ["LazyMessages", "RequestFields", "read_fields"]

READ: Final = ("model", "metadata", "conversation", "prompt_cache_key", "tool_choice")
"""The members that are decoded."""


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
    """The messages of a body, each decoded when it is first asked for."""

    def __init__(self, body: bytes, spans: list[tuple[int, int]]) -> None:
        self._body = body
        self.spans = spans
        self._read: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.spans)

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
            self._read[at] = loads(self.written(at))
        return self._read[at]

    def written(self, at: int) -> bytes:
        """Return a message as it is spelled in the body."""
        start, end = self.spans[at]
        return self._body[start:end]


def read_fields(body: bytes) -> RequestFields:
    """Return the members of a body that identify its conversation, and its messages. Never raises for a bad body.

    >>> fields = read_fields(b'{"model": "m", "input": "hi"}')
    >>> fields.model, list(fields.messages)
    ('m', [{'role': 'user', 'content': 'hi'}])
    >>> read_fields(b"[1, 2").model
    """
    if _backend.kernels.has_many_values(body):
        return RequestFields(has_many_values=True)
    split = _backend.kernels.split_body(body)
    if split is None:
        return RequestFields()
    members, key, items = split

    def written(name: str) -> bytes | None:
        start, end = members.get(name, (0, 0))
        return body[start:end] or None

    read = {name: loads(value) for name in READ if (value := written(name)) is not None}
    return RequestFields(
        **read,
        tools=written("tools"),
        key=key,
        messages=LazyMessages(body, items) if key else only_message(written("input")),
    )


def only_message(said: bytes | None) -> Sequence[Any]:
    """Return the one user message of a request whose input is a string."""
    if said is None or not said.startswith(b'"'):
        return []
    return [{"role": "user", "content": loads(said)}]
