"""Tool definitions, kept for the requests that come without them.

Some clients send ``tools`` with the first request of a conversation alone. ``ToolCache`` keeps what a request brings
(``definitions``, read by ``styles``) for its model and its scope, and gives it back to those that bring none: from memory,
and from what several processes share (``shared``: Redis) or what outlives them (a file). The stores are imported when they
are asked for.
"""

from typing import TYPE_CHECKING

from toolcarry.tool_cache.cache import ToolCache, ToolResolution, cache_key
from toolcarry.tool_cache.definitions import convert_tools
from toolcarry.tool_cache.memory import MemoryToolCache
from toolcarry.tool_cache.styles import STYLES, Style

if TYPE_CHECKING:
    from toolcarry.tool_cache.redis import RedisToolCache
    from toolcarry.tool_cache.sqlite import SQLiteToolCache
else:
    LATE = {"RedisToolCache": "redis", "SQLiteToolCache": "sqlite"}

    def __getattr__(name: str) -> object:
        """A store that needs more than memory, when it is asked for."""
        if name not in LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - seldom wanted

        return getattr(import_module(f"toolcarry.tool_cache.{LATE[name]}"), name)


__all__ = [
    "STYLES",
    "MemoryToolCache",
    "RedisToolCache",
    "SQLiteToolCache",
    "Style",
    "ToolCache",
    "ToolResolution",
    "cache_key",
    "convert_tools",
]
