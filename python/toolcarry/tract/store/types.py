"""The values that a history returns: frozen, compared by content, without behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any

__all__ = [
    "Archived",
    "CommitInfo",
    "CompressResult",
    "Damage",
    "Hydrated",
    "ImportResult",
    "Kind",
    "Salvage",
    "Stats",
    "ToolTurn",
    "VerifyResult",
]


class Kind(IntEnum):
    """What a commit is. From ``EDIT`` on, it says how earlier ones are to be read, and is no message itself."""

    MESSAGE = 0
    CALL = 1
    """What the model said, with at least one tool call."""
    RESULT = 2
    RECORD = 3
    """Bytes of an imported file that are no message."""
    EDIT = 4
    """A newer version of a result."""
    COMPACTION = 5
    UNDO = 6
    """Of a compaction, or an omission."""
    OMISSION = 7


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """One commit, without its content, which ``Tract.get_content`` reads.

    ``name`` and ``tool_call_id`` are those of a tool result, and ``metadata`` has them as well, with ``is_error``;
    for what the model said it has ``tool_calls``, each with ``id``, ``name`` and ``arguments``.
    ``sequence`` counts the commits of the conversation from 1; ``token_count`` is that of the content, in o200k_base.
    """

    commit_hash: str
    parent_hash: str | None
    conversation: str
    sequence: int
    role: str
    kind: Kind
    content_hash: str
    metadata: Mapping[str, Any]
    token_count: int
    created_at: datetime

    @property
    def name(self) -> str | None:
        """Of the tool, for a tool result."""
        found = self.metadata.get("name")
        return found if isinstance(found, str) else None

    @property
    def tool_call_id(self) -> str | None:
        """Of the call that a tool result answers."""
        found = self.metadata.get("tool_call_id")
        return found if isinstance(found, str) else None

    @property
    def is_error(self) -> bool:
        """True if it is a tool result that says of itself that the tool failed."""
        return self.metadata.get("is_error") is True

    @property
    def edits(self) -> str | None:
        """The hash of the result that this is a newer version of."""
        found = self.metadata.get("edit")
        return found if isinstance(found, str) else None


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """What the model called at once, and the results that came back, in the order of the calls."""

    call: CommitInfo
    results: tuple[CommitInfo, ...]
    tool_names: tuple[str, ...]

    @property
    def all_hashes(self) -> list[str]:
        """Of the call, then of the results."""
        return [self.call.commit_hash, *self.result_hashes]

    @property
    def result_hashes(self) -> list[str]:
        return [result.commit_hash for result in self.results]

    @property
    def total_tokens(self) -> int:
        """Of the call's text and of the results."""
        return self.call.token_count + sum(result.token_count for result in self.results)


@dataclass(frozen=True, slots=True)
class CompressResult:
    """What a compaction did: ``commit`` is its record, which ``Tract.uncompress`` takes back; ``None`` where there was
    nothing to do.

    ``covered`` are the hashes of the commits that it stands for, ``preserved`` of those among them that stay as they
    are, and ``widened`` of those that were not asked for, but belong to a call or a result that was.
    """

    commit: CommitInfo | None
    covered: tuple[str, ...]
    preserved: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    widened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong in a store, and with which commit, where it is one's."""

    reason: str
    tenant: str = ""
    conversation: str = ""
    sequence: int | None = None
    commit_hash: str | None = None


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """How many commits were ``checked``, what is ``damaged``, and what is known to be ``lost`` since a repair."""

    checked: int
    damaged: tuple[Damage, ...] = ()
    lost: tuple[Damage, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not self.damaged and not self.lost


@dataclass(frozen=True, slots=True)
class Salvage:
    """What ``Tract.repair`` brought into the new file, and what it could not."""

    saved: int
    lost: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class Archived:
    """The conversations that ``Tract.archive`` moved, and how many commits they had."""

    conversations: tuple[str, ...]
    commits: int


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import added. ``skipped`` counts lines (of a document, messages) that were there already, ``unread`` those
    that are no object, and ``truncated`` the tool results that were cut before they came here.
    """

    lines: int
    skipped: int
    commits: int
    unread: int
    truncated: int = 0


@dataclass(frozen=True, slots=True)
class Hydrated:
    """Messages with their results put back: those of the calls ``restored``. The history has none for ``refetch``."""

    messages: list[dict[str, Any]]
    restored: tuple[str, ...]
    refetch: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """What a conversation holds: commits by kind, tokens of its messages, and bytes of its contents, plain and stored."""

    commits: int
    kinds: Mapping[str, int]
    tokens: int
    content_bytes: int
    stored_bytes: int
