"""The tool cache: tool definitions of earlier requests, for requests that come without them.

Some clients send ``tools`` only with the first request of a conversation. ``ToolCache`` keeps the tools by model and
scope, and returns them for requests without tools. It keeps them in memory, and in a store that several processes share
(Redis) or that survives a restart (a file).
"""

from typing import TYPE_CHECKING

from toolcarry.tool_cache.cache import ToolCache, ToolResolution, cache_key
from toolcarry.tool_cache.definitions import STYLES, Style, convert_tools, renamed_tools
from toolcarry.tool_cache.stores import MemoryToolCache, RedisToolCache

if TYPE_CHECKING:
    from toolcarry.tool_cache.sqlite import SQLiteToolCache
else:

    def __getattr__(name: str) -> object:
        """Import the store in a file when it is used."""
        if name != "SQLiteToolCache":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from toolcarry.tool_cache.sqlite import SQLiteToolCache  # noqa: PLC0415 - imports apsw

        return SQLiteToolCache


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
    "renamed_tools",
]
