"""The values that a history returns, frozen and compared by content."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any, Literal

from msgspec import Struct

from toolcarry.types.unread import NOTHING, Unread
from toolcarry.types.value import Value

__all__ = [
    "Archived",
    "Backfilled",
    "CommitInfo",
    "CompressResult",
    "Damage",
    "Hydrated",
    "ImportResult",
    "Kind",
    "LegacyResult",
    "Salvage",
    "Stats",
    "ToolMatch",
    "ToolTurn",
    "VerifyResult",
]


class Kind(IntEnum):
    """The kind of a commit. From ``EDIT`` on, a commit changes how earlier ones are read, and is not a message."""

    MESSAGE = 0
    CALL = 1
    """A message of the model with at least one tool call."""
    RESULT = 2
    RECORD = 3
    """Bytes of an imported file that are not a message."""
    EDIT = 4
    """A newer version of a result."""
    COMPACTION = 5
    UNDO = 6
    """The withdrawal of a compaction or an omission."""
    OMISSION = 7


class CommitInfo(Struct, frozen=True):
    """A commit without its content, which ``Tract.get_content`` reads.

    The ``metadata`` of a tool result contains ``name``, ``tool_call_id`` and ``is_error``. The ``metadata`` of a
    message with tool calls contains ``tool_calls``, each with ``id``, ``name`` and ``arguments``. ``sequence`` counts
    the commits of the conversation from 1. ``token_count`` is the number of tokens of the content, in o200k_base.
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
        """The name of the tool, for a tool result."""
        found = self.metadata.get("name")
        return found if isinstance(found, str) else None

    @property
    def tool_call_id(self) -> str | None:
        """The id of the call that a tool result answers."""
        found = self.metadata.get("tool_call_id")
        return found if isinstance(found, str) else None

    @property
    def is_error(self) -> bool:
        """True if it is a tool result that reports that the tool failed."""
        return self.metadata.get("is_error") is True

    @property
    def edits(self) -> str | None:
        """The hash of the original result, for a newer version of it."""
        found = self.metadata.get("edit")
        return found if isinstance(found, str) else None


class ToolTurn(Value, frozen=True):
    """The tool calls of one message, and their results in the order of the calls."""

    call: CommitInfo
    results: list[CommitInfo]
    tool_names: list[str]

    @property
    def all_hashes(self) -> list[str]:
        """The hashes of the call and of the results."""
        return [self.call.commit_hash, *self.result_hashes]

    @property
    def result_hashes(self) -> list[str]:
        return [result.commit_hash for result in self.results]

    @property
    def total_tokens(self) -> int:
        """The tokens of the call's text and of the results."""
        return self.call.token_count + sum(result.token_count for result in self.results)


class CompressResult(Value, frozen=True):
    """The outcome of a compaction. ``commit`` records it for ``Tract.uncompress``; ``None`` if there was nothing to do.

    ``covered`` has the hashes of the commits that it replaces, ``preserved`` those of the selected commits that stay
    unchanged, and ``widened`` those of the covered commits that were not selected, but belong to a selected turn or to
    an earlier compaction.
    """

    commit: CommitInfo | None
    covered: tuple[str, ...]
    preserved: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    widened: tuple[str, ...] = ()


class Damage(Value, frozen=True):
    """A damage in a store, with the commit that it affects, if any."""

    reason: str
    tenant: str = ""
    conversation: str = ""
    sequence: int | None = None
    commit_hash: str | None = None


class VerifyResult(Value, frozen=True):
    """The number of ``checked`` commits, the damage found, and the commits that an earlier repair recorded as lost."""

    checked: int
    damaged: tuple[Damage, ...] = ()
    lost: tuple[Damage, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not self.damaged and not self.lost


class Salvage(Value, frozen=True):
    """The number of commits that ``Tract.repair`` copied into the new file, and those that it could not copy."""

    saved: int
    lost: tuple[Damage, ...] = ()


class Archived(Value, frozen=True):
    """The conversations that ``Tract.archive`` moved, and the number of their commits."""

    conversations: tuple[str, ...]
    commits: int


class ImportResult(Value, frozen=True):
    """The counts of an import: ``lines`` and ``skipped`` lines that the history already had (messages, for a document),
    ``unread`` lines that are not JSON objects, and tool results that were ``truncated`` before the import.
    ``unread_messages`` is about the messages and records of the file whose structure no format knows: their bytes are
    stored, and nothing is read from them.
    """

    lines: int
    skipped: int
    commits: int
    unread: int
    truncated: int = 0
    unread_messages: Unread = NOTHING


class Hydrated(Value, frozen=True):
    """Messages with restored results. ``restored`` and ``refetch`` are the call ids that were found and not found."""

    messages: list[dict[str, Any]]
    restored: tuple[str, ...]
    refetch: tuple[str, ...]


class LegacyResult(Value, frozen=True):
    """A result that was cut before it was written: what left the ``mark``, and where its whole may be.

    ``source`` is ``record`` if the imported line has the whole next to the result, ``file`` if the host kept it in the
    file ``where``, and ``log`` if it has the id ``where`` in a log of the host; else it is empty.
    """

    commit: CommitInfo
    mark: str
    source: Literal["record", "file", "log", ""] = ""
    where: str = ""
    is_filled: bool = False
    """True if a backfill has put the whole in its place."""


class ToolMatch(Value, frozen=True):
    """A tool result that a search found: its first version, its ``reference`` for ``Tract.resolve``, and the part of the
    text in which the first word of the query is.
    """

    commit: CommitInfo
    reference: str
    snippet: str


class Backfilled(Value, frozen=True):
    """The newer versions that ``Tract.backfill`` wrote, and the results that are still cut."""

    filled: tuple[CommitInfo, ...]
    left: tuple[LegacyResult, ...]


class Stats(Value, frozen=True):
    """The counts of a conversation: commits by kind, tokens of its messages, and plain and stored bytes."""

    commits: int
    kinds: Mapping[str, int]
    tokens: int
    content_bytes: int
    stored_bytes: int
