"""A tool result that was committed, and that a handler sees before it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from toolcarry.errors import StoreError
from toolcarry.tract.compaction import edit_draft
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.types import CommitInfo
from toolcarry.tract.store.validate import check_text


class Keeper(Protocol):
    """The part of a ``Tract`` that a handler's calls need."""

    _log: Log

    def summarize_result(self, commit_hash: str, instructions: str | None = None) -> CommitInfo:
        """Supersede a result with a summary."""


class PendingToolResult:
    """A committed tool result that a handler may shorten before it is read.

    A handler may call one of the four methods, once; if it calls none, the result stays unchanged. A call that raises
    does not count. ``tract`` is the ``Tract``, ``commit`` the committed result.
    """

    __slots__ = ("_is_settled", "commit", "content", "token_count", "tool_name", "tract")

    def __init__(self, tract: Keeper, commit: CommitInfo, content: str) -> None:
        self.tract = tract
        self.commit = commit
        self.tool_name = commit.name or ""
        self.content = content
        self.token_count = commit.token_count
        self._is_settled = False

    def summarize(self, instructions: str | None = None) -> CommitInfo:
        """Supersede the result with a summary by the tract's summarizer; its metadata records the provenance.

        Raises ``ConfigError`` without a summarizer, ``InputError`` if the summary is empty or not shorter, and the
        summarizer's own errors.
        """
        return self._settle(
            lambda: self.tract.summarize_result(self.commit.commit_hash, instructions)
        )

    def edit(self, text: str) -> CommitInfo:
        """Supersede the result with another text."""
        return self._settle(lambda: self._supersede(text, {"by": "handler"}))

    def approve(self) -> CommitInfo:
        """Leave the result unchanged."""
        return self._settle(lambda: self.commit)

    def reject(self, reason: str) -> CommitInfo:
        """Supersede the result with a line that gives the reason."""
        line = f"[toolcarry: result rejected: {reason}]"
        return self._settle(lambda: self._supersede(line, {"by": "handler", "reason": reason}))

    def _supersede(self, text: str, provenance: dict[str, Any]) -> CommitInfo:
        """Append the newer version to the log directly, since ``tool_result`` would flag a handler's cut."""
        check_text("text", text)
        draft = edit_draft(
            self.commit, text, {"provenance": provenance}, is_error=self.commit.is_error
        )
        return self.tract._log.append([draft])[0]

    def _settle(self, do: Callable[[], CommitInfo]) -> CommitInfo:
        if self._is_settled:
            raise StoreError("the tool result is already settled", self.commit.commit_hash)
        done = do()
        self._is_settled = True
        return done
