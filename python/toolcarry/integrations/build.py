"""Build the pipeline, its parts and the identification of requests from the settings."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from toolcarry.config import Config
from toolcarry.config.tables import Summarize, is_this_machine
from toolcarry.errors import ConfigError
from toolcarry.integrations.identity import Identification, RequestView
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.redact import RedactionRule, Redactor
from toolcarry.summarize import ExtractiveSummarizer, LiteLLMSummarizer, Summarizer
from toolcarry.switch import MemorySessions, Sessions, SummarizeTransformer
from toolcarry.tool_cache import MemoryToolCache, RedisToolCache, ToolCache
from toolcarry.tool_cache.stores import ToolStore
from toolcarry.types.policy import ProjectPolicy

if TYPE_CHECKING:
    from toolcarry.integrations.recorder import Recorder
    from toolcarry.switch.history_sessions import HistorySessions

__all__ = [
    "identification_from",
    "pipeline_from",
    "recorder_from",
    "sessions_from",
    "tool_cache_from",
]

SINGLE_USER: Final = "single-user"
"""The name of the only tenant, if there is just one."""
SHORT_RESULT_CHARS: Final = 2_000
"""The limit on one result in a context that has no room for all of them, if the settings have no limit."""
BESIDE_SUMMARY: Final = 10.0
"""The time limit in seconds for a request in the pipeline, without the summarizer."""
MOST_WAIT: Final = 1.0
"""The seconds that a request waits for a shared store before it continues without it."""


def pipeline_from(
    config: Config,
    sessions: Sessions | None = None,
    tool_cache: ToolCache | None = None,
    recorder: Recorder | None = None,
    *,
    has_references: bool = False,
) -> RequestPipeline:
    """Return the pipeline for these settings. ``sessions`` and ``tool_cache`` are those of the previous pipeline, if there
    was one. Without a ``recorder``, as of ``recorder_from``, nothing is recorded. ``has_references``: markers name the
    calls whose results they shorten, because the host lets the model ask for these.

    Raises ``ConfigError`` if something is not available, such as an extra that is not installed, and ``StoreError`` if a
    store can't be opened.

    >>> pipeline_from(Config()).has_work
    True
    """
    settings = config.thinking.summarize
    transformer = None
    if settings.enabled:
        transformer = SummarizeTransformer(
            summarizer_from(settings),
            replace(config.carry_policy(), references=has_references),
            sessions_from(config) if sessions is None else sessions,
            short_result_chars=SHORT_RESULT_CHARS,
            include_tool_context=settings.include_tool_context,
            redact=redactor_from(config),
            instructions=settings.instructions,
            timeout=settings.timeout,
            retries=settings.retries,
        )
    return RequestPipeline(
        transformer=transformer,
        projection=projection_from(config, has_references=has_references),
        tool_cache=tool_cache_from(config) if tool_cache is None else tool_cache,
        recorder=recorder,
        ttl=config.sessions.ttl,
        timeout=settings.timeout + BESIDE_SUMMARY,
        compact_at=settings.compact_at,
        window_tokens=config.projection_policy().window_tokens,
        destinations=config.upstream_destinations(),
        prices=config.own_prices(),
    )


def sessions_from(
    config: Config, *, clock: Callable[[], float] = time.monotonic
) -> MemorySessions | HistorySessions:
    """Return the sessions of the switch: in the canonical history, if there is one."""
    bounds = config.sessions
    if not config.history.target:
        return MemorySessions(
            max_entries=bounds.max_entries, ttl=bounds.ttl, max_bytes=bounds.max_bytes, clock=clock
        )
    from toolcarry.switch.history_sessions import HistorySessions  # noqa: PLC0415 - imports apsw

    return HistorySessions(
        config.history.target,
        max_entries=bounds.max_entries,
        ttl=bounds.ttl,
        max_bytes=bounds.max_bytes,
        busy_timeout=min(config.history.busy_timeout, MOST_WAIT),
        clock=clock,
    )


def recorder_from(
    config: Config,
    *,
    has_references: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Recorder | None:
    """The recorder of the canonical history; ``None`` if the settings say ``off``.

    Raises ``StoreError`` if the store can't be opened.
    """
    settings = config.history
    if settings.canonical_mode == "off":
        return None
    from toolcarry.integrations.recorder import Recorder  # noqa: PLC0415 - imports apsw

    return Recorder(
        settings.target,
        mode=settings.canonical_mode,
        rollout_percent=settings.rollout_percent,
        on_truncated_write=settings.on_truncated_write,
        projection=projection_from(config, has_references=has_references),
        busy_timeout=settings.busy_timeout,
        ttl=config.sessions.ttl,
        clock=clock,
    )


def projection_from(config: Config, *, has_references: bool = False) -> ProjectPolicy | None:
    """The policy of projections; ``None`` if requests are not projected.

    If the model can ask for whole results, these are shortened when they are first sent, unless the settings have a limit.

    >>> from toolcarry.config.tables import Projection
    >>> projection_from(Config(projection=Projection(enabled=True)), has_references=True).is_limited_by_place
    True
    """
    if not config.projection.enabled:
        return None
    return replace(config.projection_policy(), references=has_references)


def tool_cache_from(
    config: Config, *, clock: Callable[[], float] = time.monotonic
) -> ToolCache | None:
    """Return the cache of tools for requests that come without tools; ``None`` if it is disabled."""
    settings = config.tool_cache
    if not settings.enabled:
        return None
    limits: dict[str, Any] = {
        "ttl": settings.ttl,
        "max_entries": settings.max_entries,
        "max_bytes": settings.max_bytes,
        "clock": clock,
    }
    backend: ToolStore = MemoryToolCache(**limits)
    if settings.redis_url:
        backend = RedisToolCache(settings.redis_url, **limits)
    if settings.path:
        from toolcarry.tool_cache import SQLiteToolCache  # noqa: PLC0415 - imports apsw

        backend = SQLiteToolCache(settings.path, **limits)
    return ToolCache(backend, when=settings.when, empty_means_absent=settings.empty_means_absent)


def summarizer_from(settings: Summarize) -> Summarizer | None:
    """Return the summarizer; ``None`` if there is none."""
    name = settings.summarizer
    if name == "none":
        return None
    if name == "extractive":
        return ExtractiveSummarizer()
    if name == "litellm":
        return LiteLLMSummarizer(settings.model)
    module, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"thinking.summarize.summarizer: {name!r} can't be imported: {error}"
        ) from None
    if not callable(found):
        raise ConfigError(f"thinking.summarize.summarizer: {name!r} is not callable")
    summarizer: Summarizer = found() if isinstance(found, type) else found
    return summarizer


def redactor_from(config: Config) -> Callable[[str], str] | None:
    """Return the redactor; ``None`` if redaction is disabled."""
    settings = config.redaction
    if not settings.enabled:
        return None
    rules = [RedactionRule(rule.name, rule.pattern, rule.keywords) for rule in settings.rules]
    return Redactor(rules=rules, use_default_rules=settings.use_default_rules)


def identification_from(
    config: Config, backend: str | Callable[[RequestView], str] = ""
) -> Identification:
    """Return the function that identifies requests; ``backend`` says where each request goes.

    >>> identification_from(Config()).tenant
    ''
    """
    return Identification(
        tenant=SINGLE_USER if config.sessions.single_user else "",
        tenant_header=config.serve.tenant_header,
        keyless_tenant=SINGLE_USER if is_for_one_user(config) else "",
        backend=backend,
        guess_conversation=config.sessions.guess_conversation,
    )


def is_for_one_user(config: Config) -> bool:
    """True if all requests without a key come from one user: by the settings, or because only this machine can send any.

    >>> is_for_one_user(Config())
    True
    """
    if config.sessions.single_user is not None:
        return config.sessions.single_user
    serve = config.serve
    return is_this_machine(serve.host) and not serve.tenant_header and not serve.allowed_hosts
