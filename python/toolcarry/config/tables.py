"""All settings."""

from __future__ import annotations

from toolcarry.config.carrying import Dedup, Projection, Thinking
from toolcarry.config.serving import Redaction, Serve
from toolcarry.config.storing import History, Sessions, ToolCache
from toolcarry.config.values import Table
from toolcarry.policy import Policy

__all__ = ["Config"]


class Config(Table, frozen=True):
    """All settings, as ``toolcarry.toml`` has them; every one has a default. Frozen, compared by content.

    The tables are documented each in its class: ``thinking`` (of which ``thinking.summarize`` is a ``Summarize``),
    ``dedup``, ``projection``, ``sessions``, ``tool_cache``, ``history``, ``redaction``, ``serve``.
    Values are checked where settings are loaded; a ``Config`` made in code is as good as what it is made of.

    >>> Config().thinking.summarize.max_tool_context_chars
    60000
    """

    thinking: Thinking = Thinking()
    dedup: Dedup = Dedup()
    projection: Projection = Projection()
    sessions: Sessions = Sessions()
    tool_cache: ToolCache = ToolCache()
    history: History = History()
    redaction: Redaction = Redaction()
    serve: Serve = Serve()

    def carry_policy(self) -> Policy:
        """What a switch of the backend carries: ``[thinking.summarize]`` and ``[dedup]``.

        >>> Config().carry_policy().max_tool_result_chars
        2000
        """
        return self.thinking.summarize.policy(self.dedup.policy_rules())

    def projection_policy(self) -> Policy:
        """How requests are projected: ``[projection]`` and ``[dedup]``.

        >>> Config().projection_policy().repair
        True
        """
        return self.projection.policy(self.dedup.policy_rules())
