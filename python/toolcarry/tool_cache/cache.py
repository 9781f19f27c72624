"""``ToolCache``: the tools of a request, or those of an earlier request if it has none."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from toolcarry._input.json import dump, loads_any_depth
from toolcarry._input.objects import Messages, as_object
from toolcarry.errors import InputError
from toolcarry.importers.read import read_message
from toolcarry.model.formats.message import MessageParts
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache.definitions import EMPTY, STYLES, Style, read_definitions, style_named
from toolcarry.tool_cache.stores import MemoryToolCache, ToolKey, ToolStore
from toolcarry.types.values import check_choice

__all__ = ["ToolCache", "ToolResolution", "cache_key"]

T = TypeVar("T")
Tools: TypeAlias = Sequence[Mapping[str, Any]] | bytes

LONG: Final = 64
"""Bytes of a list that is not empty, whatever white space is in it."""


def as_bytes(tools: Tools) -> bytes | None:
    """Return tools as a JSON array; ``None`` for null. Raises ``InputError`` for values that can't be written."""
    if not isinstance(tools, bytes):
        if not isinstance(tools, (list, tuple)):
            raise InputError("tools must be a list", None)
        return dump([as_object(tool) or tool for tool in tools])
    data = tools.strip()
    if len(data) < LONG and data[:1] + data[-1:] == EMPTY and not data[1:-1].strip():
        return EMPTY
    return None if data == b"null" else data


def own_tools(tools: Tools | None) -> ToolResolution:
    """Return the tools of a request that can't be read or written, each one unchanged."""
    if isinstance(tools, bytes):
        return ToolResolution("request", tools, [])
    if not isinstance(tools, (list, tuple)):
        return ToolResolution("request", EMPTY, [])
    written = []
    for tool in tools:
        with suppress(
            Exception
        ):  # objects of SDKs may fail in any way; this one stays in ``tools`` nevertheless
            written.append(dump(as_object(tool) or tool))
    return ToolResolution("request", b"[" + b",".join(written) + b"]", list(tools))


def refuses_tools(tool_choice: object) -> bool:
    """True if a request says that no tool may be called.

    >>> [refuses_tools(choice) for choice in ("none", {"type": "none"}, "auto", None)]
    [True, True, False, False]
    """
    held = as_object(tool_choice)
    return tool_choice == "none" or (held is not None and held.get("type") == "none")


def holds_calls(messages: Messages | None) -> bool:
    """True if messages hold a call or a result. They are read from the last to the first."""
    try:
        for message in reversed(messages or ()):
            wire = as_object(message)
            if wire is not None:
                said = MessageParts()
                read_message(wire, wire.get("role"), said)
                if said.calls or said.results:
                    return True
    except (InputError, TypeError, RecursionError):  # it is not a message, so it holds none
        return False
    return False


When: TypeAlias = Literal["always", "tool_conversation", "never"]
Source: TypeAlias = Literal["request", "cache", "none"]

MOST_WAIT: Final = 0.04
"""Seconds that a request waits for a store; after that it uses the tools in memory."""

MOST_THREADS: Final = 8
"""The number of requests that may access a store at the same time."""

logger = get_logger("toolcarry.tool_cache")


def cache_key(model: str) -> str:
    """Return the key of a model's definitions within their scope.

    >>> cache_key("llama3")
    'model_llama3'
    """
    return f"model_{model}"


class ToolResolution:
    """The tools of a request, and their source: the ``request`` itself, the ``cache``, or ``none``."""

    __slots__ = ("_data", "_tools", "source")

    def __init__(
        self, source: Source, data: bytes = EMPTY, tools: list[dict[str, Any]] | None = None
    ) -> None:
        self.source = source
        self._data = data
        self._tools = tools

    def __repr__(self) -> str:
        return f"ToolResolution(source={self.source!r}, tools={self.tools!r})"

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Return the definitions in the requested style. The caller may change them.

        If one definition of the request can't be written as JSON, all of them are the caller's own objects.
        """
        if self._tools is None:
            self._tools = loads_any_depth(self._data)
        return self._tools

    def to_bytes(self) -> bytes:
        """Return the definitions as a JSON array, without those that can't be written; a body that is not JSON is unchanged."""
        return self._data


Resolved: TypeAlias = tuple[ToolResolution, Mapping[str, int]]
"""The tools for a request, and the events to count."""
NOTHING: Final[Mapping[str, int]] = {}
HIT: Final = {"hit": 1}
MISS: Final = {"miss": 1}


class ToolCache:
    """Caches the tool definitions of requests, and returns them for requests that have none.

    Different models never share definitions, and neither do different scopes; a scope is a string that names a tenant,
    a client, a conversation, or all of these. ``when`` says when cached definitions are returned: ``always``; only in a
    ``tool_conversation``, whose messages already have a call or a result; or ``never``. ``empty_means_absent`` treats
    an empty list like a missing one. ``backend`` is the store: a ``MemoryToolCache``, or a ``RedisToolCache`` or
    ``SQLiteToolCache``.

    It is safe to use from many threads and tasks. It never makes a request fail, and a request never loses its own
    tools: if a store fails, or a definition can't be written as JSON, the tools are returned unchanged. A request
    without tools then gets those in memory, or none. ``counts`` has ``hit`` and ``miss``, ``store``, ``evict``,
    ``dropped`` (definitions that were invalid) and ``degrade``.

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
        """The counts since the cache was made."""
        degraded = self._counts["degrade"] + self._backend.degraded
        return +Counter({**self._counts, "degrade": degraded})

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
        """Return the tools of a request for ``model``, or those of an earlier one, in ``style``.

        ``tools`` may be the JSON array of a request's body. If ``tool_choice`` forbids calls, no cached tools are
        returned. Raises ``ConfigError`` for an unknown style, and nothing else.
        """
        asked = (style, key_of(scope, model), tools, messages, tool_choice)
        if not self._backend.is_waiting:
            return self._noted(self._resolve(self._backend, *asked))
        begun = time.monotonic()
        waited_for = self._waiting().submit(self._resolve, self._backend, *asked, begun)
        try:
            return self._noted(waited_for.result(MOST_WAIT))
        except TimeoutError:
            self._give_up(waited_for)
            return self._noted(self._resolve(self._backend.memory, *asked, begun))

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
        """Run ``resolve`` without blocking the event loop, and wait for the store only briefly."""
        asked = (style, key_of(scope, model), tools, messages, tool_choice)
        if not self._backend.is_waiting:
            return self._noted(self._resolve(self._backend, *asked))
        begun = time.monotonic()
        waited_for = self._waiting().submit(self._resolve, self._backend, *asked, begun)
        try:
            async with asyncio.timeout(MOST_WAIT):
                return self._noted(await asyncio.wrap_future(waited_for))
        except TimeoutError:
            self._give_up(waited_for)
            return self._noted(self._resolve(self._backend.memory, *asked, begun))

    def close(self) -> None:
        """Close the store."""
        if self._threads is not None:
            self._threads.shutdown(wait=False)
            self._process = 0
        self._backend.close()

    def _resolve(
        self,
        backend: ToolStore,
        style: Style,
        key: ToolKey,
        tools: Tools | None,
        messages: Messages | None,
        tool_choice: object,
        begun: float = 0.0,
    ) -> Resolved:
        if style not in STYLES:
            style = style_named("style", style)
        try:
            given = None if tools is None else as_bytes(tools)
            if given is None or (given == EMPTY and self._empty_means_absent):
                is_wanted = self._when != "never" and not (
                    tool_choice and refuses_tools(tool_choice)
                )
                if is_wanted and (self._when == "always" or holds_calls(messages)):
                    return self._restored(backend, key, style)
                return ToolResolution("none"), NOTHING
            return self._cached(backend, key, given, style, begun)
        except Exception as error:  # noqa: BLE001 - counted and logged: objects of SDKs and stores may fail in any way
            logger.warning("the tools of a request can't be read: %s", type(error).__name__)
            return ToolResolution("none") if tools is None else own_tools(tools), {"degrade": 1}

    def _cached(
        self, backend: ToolStore, key: ToolKey, given: bytes, style: Style, begun: float
    ) -> Resolved:
        """Return the tools of the request itself, which are stored if they have changed."""
        is_kept = bool(key[1]) and given != EMPTY and self._when != "never"
        counts: Counter[str] = Counter()
        known = asked(counts, lambda: backend.find(key, style, given)) if is_kept else None
        if known is not None:
            return ToolResolution("request", known.data), counts
        found, counts["dropped"] = read_definitions(given, style)
        found.asked_at = begun or found.asked_at
        if is_kept and found.data != EMPTY:
            evicted = asked(counts, lambda: backend.set(key, found))
            if evicted is not None:
                counts.update(evict=evicted, store=1)
                logger.debug("stored the tools of model %r; %d were evicted", key[1], evicted)
        return ToolResolution("request", found.data), counts

    def _restored(self, backend: ToolStore, key: ToolKey, style: Style) -> Resolved:
        """Return the tools of an earlier request."""
        found = backend.get(key) if key[1] else None
        data = EMPTY if found is None else found.to_bytes(style)
        if data == EMPTY:
            logger.debug("no tools are known for model %r", key[1])
            return ToolResolution("none"), MISS
        logger.info("restored the tools of model %r", key[1])
        return ToolResolution("cache", data), HIT

    def _noted(self, resolved: Resolved) -> ToolResolution:
        """Count the work for a request that still waits for it."""
        found, counts = resolved
        if counts:
            self._count(counts)
        return found

    def _count(self, counts: Mapping[str, int]) -> None:
        with self._lock:
            for what in counts:
                self._counts[what] += counts[what]

    def _waiting(self) -> ThreadPoolExecutor:
        """Return threads for calls that wait. They are separate, so that a hanging store blocks nothing else. A fork has none."""
        with self._lock:
            if self._threads is None or self._process != os.getpid():
                self._threads = ThreadPoolExecutor(MOST_THREADS, "toolcarry-tools")
                self._process = os.getpid()
            return self._threads

    def _give_up(self, waited_for: Future[Resolved]) -> None:
        waited_for.cancel()
        self._count({"degrade": 1})
        logger.warning("using the tools in memory: the store takes too long")


def asked(counts: Counter[str], ask: Callable[[], T]) -> T | None:
    """Return the answer of a store; ``None`` if it raises, which is counted and logged."""
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - counted and logged: a store of the caller may fail in any way
        counts["degrade"] += 1
        logger.warning("the store of tool definitions failed: %s", type(error).__name__)
        return None


def key_of(scope: object, model: object) -> ToolKey:
    """Return the key of definitions; the key of no definitions if either is not a string."""
    return (scope, model) if isinstance(scope, str) and isinstance(model, str) else ("", "")
