"""Definitions in a Redis of 6.2 or newer, for several processes. It needs the extra ``redis``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from toolcarry.errors import ConfigError
from toolcarry.redact.logs import get_logger
from toolcarry.tool_cache.shared import SharedToolCache, StoreUnavailableError
from toolcarry.types import check_seconds

__all__ = ["RedisToolCache"]

logger = get_logger("toolcarry.tool_cache")

PREFIX: Final = "toolcarry:tools:"


class RedisToolCache(SharedToolCache):
    """Definitions in the Redis at ``url``, for ``ttl`` seconds from their last use on; the last ``max_entries`` that
    were used here also in memory, which has to do while Redis can't be had.

    Redis is waited for no longer than ``timeout`` seconds, once; after a failure it is left alone for ``pause`` seconds
    by ``clock``.
    Nothing connects before the first use. Raises ``ConfigError`` where the extra is not installed, or ``url`` is none.

    >>> cache = RedisToolCache("redis://127.0.0.1:1", timeout=0.01)
    >>> cache.get(("", "llama3")), cache.degraded
    (None, 1)
    """

    def __init__(
        self,
        url: str,
        *,
        ttl: float = 3_600.0,
        max_entries: int = 1_024,
        timeout: float = 0.03,
        pause: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(ttl=ttl, max_entries=max_entries, pause=pause, clock=clock)
        check_seconds("timeout", timeout)
        try:
            import redis  # noqa: PLC0415 - it takes a third of a second
            from redis.backoff import NoBackoff  # noqa: PLC0415
            from redis.retry import Retry  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise ConfigError("Redis needs more: pip install 'toolcarry[redis]'") from error
        self._refused: type[Exception] = redis.ResponseError
        self._ttl = max(1, round(ttl * 1_000))
        try:
            self._client: Any = redis.Redis.from_url(
                url,
                socket_timeout=timeout,
                socket_connect_timeout=timeout,
                retry=Retry(NoBackoff(), 0),
                health_check_interval=0,
            )
        except (ValueError, TypeError, LookupError) as error:
            raise ConfigError(
                "redis_url: is not allowed; allowed: redis://..., rediss://..., unix://..."
            ) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _read(self, name: str) -> bytes | None:
        found = self._ask(lambda: self._client.getex(PREFIX + name, px=self._ttl))
        return found if isinstance(found, bytes) else None

    def _write(self, name: str, value: bytes) -> None:
        self._ask(lambda: self._client.set(PREFIX + name, value, px=self._ttl))

    def _ask(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except self._refused as error:  # Redis is there, but what lies under the name is not ours
            self._degrade()
            logger.warning("Redis refuses: %s", type(error).__name__)
            return None
        except Exception as error:  # what is no Redis makes the client fail in any way
            raise StoreUnavailableError(type(error).__name__) from error
