"""The settings of what is remembered: ``[sessions]``, ``[tool_cache]`` and ``[history]``."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from toolcarry.config.values import Positive, Table, Text, TimeToLive, WaitSeconds

__all__ = ["History", "Sessions", "ToolCache"]

RedisURL = Annotated[
    str,
    Meta(
        pattern=r"\A((redis|rediss|unix)://[^\x00-\x20]+)?\Z",
        description="redis://..., rediss://..., unix://...",
        extra={"has_password": True},
    ),
]
Target = Annotated[Text, Meta(extra={"has_password": True})]


class Sessions(Table, frozen=True):
    """``[sessions]``: what is remembered of each conversation, to know a switch when it comes.

    ``max_entries`` (1024): how many conversations, >= 1; the one unused for longest goes first.
    ``ttl`` (86400.0): seconds after its last request for which a conversation is remembered, > 0.
    ``single_user`` (false): whether all requests are one user's, with whatever key they come, or with none. Else the key
    says whose they are, and without one nothing is remembered.
    ``guess_conversation`` (false): whether a conversation without an id is known by how it begins; two that begin alike
    are then taken for one.
    """

    max_entries: Positive = 1_024
    ttl: TimeToLive = 86_400.0
    single_user: bool = False
    guess_conversation: bool = False


class ToolCache(Table, frozen=True):
    """``[tool_cache]``: tool definitions, kept for the requests that come without them.

    ``enabled`` (true): whether definitions are kept at all.
    ``ttl`` (3600.0): seconds after their last use for which they are kept, > 0.
    ``max_entries`` (1024): how many are kept, >= 1; those unused for longest go first.
    ``when`` ("tool_conversation"): when they come back: ``"always"``, ``"tool_conversation"`` (where the conversation
    already holds tool calls) or ``"never"``. A client that sends its tools once for all needs ``"always"``.
    ``empty_means_absent`` (true): whether an explicit empty list of tools counts as none given.
    ``path`` (""): the SQLite file in which they outlive the process; empty for none.
    ``redis_url`` (""): the Redis, 6.2 or newer, that several processes share; empty for none. Not beside ``path``.
    """

    enabled: bool = True
    ttl: TimeToLive = 3_600.0
    max_entries: Positive = 1_024
    when: Literal["always", "tool_conversation", "never"] = "tool_conversation"
    empty_means_absent: bool = True
    path: Text = ""
    redis_url: RedisURL = ""

    def __post_init__(self) -> None:
        if self.path and self.redis_url:
            raise ValueError("path: is not allowed beside redis_url; allowed: one of them")


class History(Table, frozen=True):
    """``[history]``: where the canonical history is kept.

    ``target`` (""): a file, or ``postgresql://...``; empty for none.
    ``busy_timeout`` (10.0): seconds to wait for others who use it, >= 0.
    """

    target: Target = ""
    busy_timeout: WaitSeconds = 10.0
