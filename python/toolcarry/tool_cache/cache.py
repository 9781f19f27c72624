"""``ToolCache``: the tools of a request, or, where it has none, those that came before."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal, TypeAlias, get_args

from toolcarry._pure.read import read_message
from toolcarry._pure.said import Said
from toolcarry.decode import loads
from toolcarry.encode import dump
from toolcarry.errors import InputError
from toolcarry.read import Messages
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache.definitions import read_definitions
from toolcarry.tool_cache.memory import MemoryToolCache, ToolKey, ToolStore
from toolcarry.tool_cache.styles import FORMS, STYLES, Style
from toolcarry.types import check_choice
from toolcarry.wire import as_object

__all__ = ["ToolCache", "ToolResolution", "When", "cache_key"]

When: TypeAlias = Literal["always", "tool_conversation", "never"]
Source: TypeAlias = Literal["request", "cache", "none"]
Tools: TypeAlias = Sequence[Mapping[str, Any]] | bytes

EMPTY: Final = b"[]"
LONG: Final = 64
"""Bytes of a list that is not empty, whatever white space is in it."""
MOST_WAIT: Final = 0.04
"""Seconds that a request waits for a store: behind them it goes on with what is in memory."""

MOST_THREADS: Final = 8
"""For how many requests a store is asked at a time."""

logger = get_logger("toolcarry.tool_cache")


def cache_key(model: str) -> str:
    """Under what a model's definitions are kept, within their scope.

    >>> cache_key("llama3")
    'model_llama3'
    """
    return f"model_{model}"


class ToolResolution:
    """The tools of a request, and where they are from: the ``request`` itself, the ``cache``, or nowhere (``none``)."""

    __slots__ = ("_data", "_tools", "source")

    def __init__(self, source: Source, data: bytes = EMPTY) -> None:
        self.source = source
        self._data = data
        self._tools: list[dict[str, Any]] | None = None

    def __repr__(self) -> str:
        return f"ToolResolution(source={self.source!r}, tools={self.tools!r})"

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The definitions, in the style that was asked for. They are the caller's, who may change them."""
        if self._tools is None:
            self._tools = loads(self._data)
        return self._tools

    def to_bytes(self) -> bytes:
        """The definitions as a JSON array."""
        return self._data


class ToolCache:
    """Keeps the tool definitions that requests bring, and gives them back to those that bring none.

    Models never share definitions, and neither do scopes: a tenant, a client, a conversation, or all of them in one string.
    ``when`` says when definitions come back: ``always``, only in a ``tool_conversation``, where the messages already hold
    a call or a result, or ``never``. ``empty_means_absent`` takes an empty list for none. ``backend`` is where they are
    kept: a ``MemoryToolCache``, or a ``RedisToolCache`` or ``SQLiteToolCache``.

    For many threads and tasks. No request fails by it: where a store fails, there is what is in memory, or nothing.
    ``counts`` has ``hit`` and ``miss``, ``store``, ``evict``, ``dropped`` (definitions that were invalid) and ``degrade``.

    >>> cache = ToolCache()
    >>> cache.resolve("llama3", [{"type": "function", "function": {"name": "f"}}]).source
    'request'
    >>> again = cache.resolve("llama3", None)
    >>> again.source, again.tools
    ('cache', [{'type': 'function', 'function': {'name': 'f'}}])
    >>> cache.resolve("qwen3", None).source
    'none'
    """

    def __init__(
        self,
        backend: ToolStore | None = None,
        *,
        when: When = "always",
        empty_means_absent: bool = True,
    ) -> None:
        check_choice("when", when, get_args(When))
        self._backend: ToolStore = MemoryToolCache() if backend is None else backend
        self._when = when
        self._empty_means_absent = empty_means_absent
        self._threads: ThreadPoolExecutor | None = None
        self._process = 0
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> Counter[str]:
        """What was done since it was made."""
        degraded = self._counts["degrade"] + self._backend.degraded
        return Counter({**self._counts, **({"degrade": degraded} if degraded else {})})

    def resolve(
        self,
        model: str,
        tools: Tools | None,
        *,
        messages: Messages | None = None,
        tool_choice: object = None,
        scope: str = "",
        style: Style = "openai",
    ) -> ToolResolution:
        """The tools of a request for ``model``, or those of an earlier one, as ``style`` writes them.

        ``tools`` may be a JSON array, as it stands in a request's body. Where ``tool_choice`` says that none may be
        called, none come back. Raises ``ConfigError`` for a style that is none, and nothing else.
        """
        key = key_of(scope, model)
        if not self._backend.is_waiting:
            return self._resolve(self._backend, key, tools, messages, tool_choice, style)
        asked = key, tools, messages, tool_choice, style
        try:
            return self._waiting().submit(self._resolve, self._backend, *asked).result(MOST_WAIT)
        except TimeoutError:
            self._gave_up()
            return self._resolve(self._backend.memory, *asked)

    async def aresolve(
        self,
        model: str,
        tools: Tools | None,
        *,
        messages: Messages | None = None,
        tool_choice: object = None,
        scope: str = "",
        style: Style = "openai",
    ) -> ToolResolution:
        """``resolve``, waiting for the store only, and not for long."""
        asked = key_of(scope, model), tools, messages, tool_choice, style
        if self._backend.is_waiting:
            found = self._waiting().submit(self._resolve, self._backend, *asked)
            try:
                async with asyncio.timeout(MOST_WAIT):
                    return await asyncio.wrap_future(found)
            except TimeoutError:
                self._gave_up()
        return self._resolve(self._backend.memory, *asked)

    def close(self) -> None:
        """Let go of the store."""
        if self._threads is not None:
            self._threads.shutdown(wait=False)
            self._process = 0
        self._backend.close()

    def _resolve(
        self,
        backend: ToolStore,
        key: ToolKey,
        tools: Tools | None,
        messages: Messages | None,
        tool_choice: object,
        style: Style,
    ) -> ToolResolution:
        if style not in FORMS:
            check_choice("style", style, STYLES)
        try:
            given = None if tools is None else as_bytes(tools)
            if given is None or (given == EMPTY and self._empty_means_absent):
                is_wanted = self._when != "never" and not (
                    tool_choice and refuses_tools(tool_choice)
                )
                if is_wanted and (self._when == "always" or holds_calls(messages)):
                    return self._restored(backend, key, style)
                return ToolResolution("none")
            return self._kept(backend, key, given, style)
        except InputError:
            self._count("degrade")
            logger.warning("the tools of a request can't be read")
            return ToolResolution("request")

    def _kept(self, backend: ToolStore, key: ToolKey, given: bytes, style: Style) -> ToolResolution:
        """The tools of the request itself, which are kept where they are others than before."""
        is_kept = bool(key[1]) and given != EMPTY and self._when != "never"
        known = backend.find(key, style, given) if is_kept else None
        if known is not None:
            return ToolResolution("request", known.data)
        found, dropped = read_definitions(given, style)
        if dropped:
            self._count("dropped", dropped)
        if is_kept and found.data != EMPTY:
            evicted = backend.set(key, found)
            self._count("store")
            logger.debug("kept the tools of model %r", key[1])
            if evicted:
                self._count("evict", evicted)
                logger.debug("%d entries had to go", evicted)
        return ToolResolution("request", found.data)

    def _restored(self, backend: ToolStore, key: ToolKey, style: Style) -> ToolResolution:
        """The tools that came before."""
        found = backend.get(key)
        data = EMPTY if found is None else found.to_bytes(style)
        if data == EMPTY:
            self._count("miss")
            logger.debug("no tools are known for model %r", key[1])
            return ToolResolution("none")
        self._count("hit")
        logger.debug("gave back the tools of model %r", key[1])
        return ToolResolution("cache", data)

    def _waiting(self) -> ThreadPoolExecutor:
        """Threads for what waits: own ones, so that a store that hangs takes none from others. A fork has none of them."""
        with self._lock:
            if self._threads is None or self._process != os.getpid():
                self._threads = ThreadPoolExecutor(MOST_THREADS, "toolcarry-tools")
                self._process = os.getpid()
            return self._threads

    def _gave_up(self) -> None:
        self._count("degrade")
        logger.warning("the tools in memory have to do: the store takes too long")

    def _count(self, what: str, number: int = 1) -> None:
        with self._lock:
            self._counts[what] += number


def key_of(scope: object, model: object) -> ToolKey:
    """Under what definitions are kept; nothing is where either is no text."""
    return (scope, model) if isinstance(scope, str) and isinstance(model, str) else ("", "")


def as_bytes(tools: Tools) -> bytes | None:
    """Tools as a JSON array; ``None`` for null. Raises ``InputError`` for what can't be written."""
    if not isinstance(tools, bytes):
        if not isinstance(tools, (list, tuple)):
            raise InputError("tools are no list", None)
        return dump([as_object(tool) or tool for tool in tools])
    data = tools.strip()
    if len(data) < LONG and data[:1] == b"[" and not data[1:].strip(b"] \t\r\n"):
        return EMPTY
    return None if data == b"null" else data


def refuses_tools(tool_choice: object) -> bool:
    """Whether a request says that no tool may be called.

    >>> [refuses_tools(choice) for choice in ("none", {"type": "none"}, "auto", None)]
    [True, True, False, False]
    """
    held = as_object(tool_choice)
    return tool_choice == "none" or (held is not None and held.get("type") == "none")


def holds_calls(messages: Messages | None) -> bool:
    """Whether messages hold a call or a result. They are looked at from the last one on."""
    try:
        for message in reversed(messages or ()):
            wire = as_object(message)
            if wire is not None:
                said = Said()
                read_message(wire, wire.get("role"), said)
                if said.calls or said.results:
                    return True
    except (InputError, TypeError, RecursionError):  # what is no message holds none
        return False
    return False
