"""``Tract``: one conversation of the canonical history, written and read.

Every method that touches the store has an ``a``-prefixed twin, which does the same in a thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self

from toolcarry._util.plural import counted
from toolcarry.redact.logs import get_logger
from toolcarry.summarize import Summarizer
from toolcarry.tokens import count_tokens
from toolcarry.tract.checks import (
    check_callable,
    check_name,
    check_text,
    checked_call,
    free_metadata,
)
from toolcarry.tract.compress_tools import edit_draft
from toolcarry.tract.imports import Progress, import_file
from toolcarry.tract.marks import count_truncated, flag_truncated, is_flagged, refuse_truncated
from toolcarry.tract.messages import append_messages
from toolcarry.tract.reading import encode_text, result_draft
from toolcarry.tract.shorten import Shortening
from toolcarry.tract.store.log import Draft, Log
from toolcarry.tract.store.target import open_database
from toolcarry.tract.threads import in_thread
from toolcarry.tract.upkeep import Upkeep
from toolcarry.tract.values import CommitInfo, ImportResult, Kind
from toolcarry.types import check_choice, checked_list

__all__ = ["Tract"]

logger = get_logger("toolcarry.tract")


class Tract(Shortening, Upkeep):
    """A conversation in the canonical history: everything that was said, called and returned, for good.

    Open one with ``Tract.open``. What was written is on the disk when a method returns. May be used by several threads,
    and by a process that was forked from the one that opened it.

    >>> with Tract.open() as tract:
    ...     _ = tract.user("Run the tests.")
    ...     _ = tract.assistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": {"command": "pytest"}}])
    ...     result = tract.tool_result("t1", "Bash", "3 passed")
    ...     tract.get_content(result), len(tract.compile())
    ('3 passed', 3)
    """

    def __init__(
        self, log: Log, *, summarizer: Summarizer | None, on_truncated: Literal["flag", "raise"]
    ) -> None:
        super().__init__(log, summarizer)
        self._on_truncated = on_truncated

    @classmethod
    def open(
        cls,
        target: str | os.PathLike[str] = ":memory:",
        *,
        conversation: str = "default",
        tenant: str = "",
        summarizer: Summarizer | None = None,
        busy_timeout: float = 10.0,
        read_only: bool = False,
        on_truncated: Literal["flag", "raise"] = "flag",
    ) -> Self:
        """Open a conversation in memory, in a file (made where there is none), or at ``postgresql://...``.

        ``busy_timeout`` is in seconds: how long to wait for other writers. ``on_truncated`` says what happens to a tool
        result that was cut before it came here: it is kept and flagged ``legacy_truncated``, or refused.
        The file must not be opened by another SQLite library in this process; Python's own is kept from it.

        Raises ``ConfigError`` for a setting that is not allowed, ``StoreVersionError`` for a store of a newer toolcarry,
        ``StoreDamagedError`` for a file that is none, and ``StoreError`` where it can't be opened.
        """
        for key, value in (("conversation", conversation), ("tenant", tenant)):
            check_name(key, value)
        check_choice("on_truncated", on_truncated, ("flag", "raise"))
        check_callable("summarizer", summarizer, optional=True)
        database = open_database(target, busy_timeout=busy_timeout, is_read_only=read_only)
        log = Log(database, tenant, conversation)
        return cls(log, summarizer=summarizer, on_truncated=on_truncated)

    def in_conversation(self, conversation: str) -> Self:
        """Another conversation of the same tenant, through the same connection, which either of them closes.

        It has the same summarizer, and hooks of its own.

        >>> with Tract.open() as tract:
        ...     other = tract.in_conversation("other")
        ...     _ = other.user("Hello.")
        ...     len(tract.log()), len(other.log())
        (0, 1)
        """
        check_name("conversation", conversation)
        log = Log(self._log.database, self._log.tenant, conversation)
        return type(self)(log, summarizer=self._summarizer, on_truncated=self._on_truncated)

    def close(self) -> None:
        """Let go of the store. What is used after that raises ``StoreError``."""
        self._log.database.close()

    @classmethod
    async def aopen(cls, target: str | os.PathLike[str] = ":memory:", **settings: Any) -> Self:
        """``open``, in a thread."""
        return await asyncio.to_thread(cls.open, target, **settings)

    aclose = in_thread(close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    # Writing

    def user(self, text: str, *, metadata: Mapping[str, Any] | None = None) -> CommitInfo:
        """Commit what the user said."""
        return self._say("user", text, metadata)

    def system(self, text: str, *, metadata: Mapping[str, Any] | None = None) -> CommitInfo:
        """Commit a system prompt."""
        return self._say("system", text, metadata)

    def assistant(
        self,
        text: str,
        *,
        tool_calls: Sequence[object] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> CommitInfo:
        """Commit what the model said, with the tools that it called: each an ``id``, a ``name`` and ``arguments``, or a call
        as a provider has it, an object or an SDK's.

        >>> with Tract.open() as tract:
        ...     use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
        ...     tract.assistant("I will.", tool_calls=[use]).metadata["tool_calls"]
        [{'arguments': {'command': 'pytest'}, 'id': 't1', 'name': 'Bash'}]
        """
        given = checked_list("tool_calls", () if tool_calls is None else tool_calls, "objects")
        calls = [checked_call(call, index) for index, call in enumerate(given)]
        return self._say("assistant", text, metadata, {"tool_calls": calls} if calls else None)

    def tool_result(
        self,
        call_id: str,
        name: str,
        content: str,
        *,
        is_error: bool = False,
        edit: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> CommitInfo:
        """Commit what a tool gave back; with ``edit``, a newer version of the result of that hash.

        A newer version keeps role, id, name and ``is_error`` of the first one, which stays in the log. It fires no hook.
        Raises ``UnknownCommitError`` for a hash that is none, and ``InputError`` for a commit that is no tool result.

        >>> with Tract.open() as tract:
        ...     first = tract.tool_result("t1", "Bash", "3 passed in 0.1 s")
        ...     newer = tract.tool_result("t1", "Bash", "3 passed", edit=first.commit_hash)
        ...     [tract.get_content(commit) for commit in tract.history_of(newer.commit_hash)]
        ['3 passed in 0.1 s', '3 passed']
        """
        check_text("content", content)
        free = free_metadata(metadata)
        if edit is not None:
            flag_truncated(free, content)
            return self._add_result(edit_draft(self._result(edit), content, free))
        check_text("call_id", call_id)
        check_text("name", name)
        draft = result_draft(call_id, name, content, is_error=bool(is_error), free=free)
        commit = self._add_result(draft)
        self._hooks.run(self, commit, content)
        return commit

    def append_many(self, messages: Sequence[Mapping[str, Any]]) -> list[CommitInfo]:
        """Commit messages of any shape, in one transaction. What the history ends with already is skipped.

        So a client's whole conversation may be given each time, or what is new of it, and either twice; marks for a
        provider's cache may move. What a client rewrites otherwise begins a new run. What is equal to
        the newest message and given alone is taken for that one, sent again: ``user`` and the others write it anew.

        >>> with Tract.open() as tract:
        ...     asked = {"role": "user", "content": "Run the tests."}
        ...     first = tract.append_many([asked])
        ...     more = tract.append_many([asked, {"role": "assistant", "content": "They pass."}])
        ...     len(first), len(more)
        (1, 1)
        """
        commits = append_messages(self._log, messages, self._check).commits
        self._tell_truncated(count_truncated(commits))
        return commits

    def import_transcript(
        self, path: str | os.PathLike[str], *, progress: Progress | None = None
    ) -> ImportResult:
        """Take in a session file or a request body; what of it is there already is skipped.

        ``progress`` is called with the number of lines that are done, and of all. Raises ``InputError`` where the file is
        no conversation, or is not the one that was imported here before, ``OSError`` where it can't be read, and
        ``ConfigError`` for what can be no path, or can't be called.
        """
        check_callable("progress", progress, optional=True)
        done = import_file(self._log, path, progress, self._check)
        self._tell_truncated(done.truncated)
        return done

    auser = in_thread(user)
    asystem = in_thread(system)
    aassistant = in_thread(assistant)
    atool_result = in_thread(tool_result)
    aappend_many = in_thread(append_many)
    aimport_transcript = in_thread(import_transcript)

    def _add_result(self, draft: Draft) -> CommitInfo:
        """Commit a result, and tell where it was cut before it came here."""
        is_cut = is_flagged(draft)
        if is_cut:
            self._check([draft])
        (commit,) = self._log.append([draft])
        if is_cut:
            self._tell_truncated(1)
        return commit

    def _check(self, drafts: Sequence[Draft]) -> None:
        """Raise ``InputError`` for results that were cut, where that was asked for."""
        if self._on_truncated == "raise":
            refuse_truncated(drafts)

    def _tell_truncated(self, count: int) -> None:
        """Count and log results that were cut before they came here."""
        if count:
            self.counts["legacy_truncated"] += count
            found = counted(count, "tool result")
            logger.warning("cut before coming here, and kept so: %s", found)

    def _say(
        self,
        role: str,
        text: str,
        metadata: Mapping[str, Any] | None,
        ours: dict[str, Any] | None = None,
    ) -> CommitInfo:
        check_text("text", text)
        found = {**free_metadata(metadata), **(ours or {})}
        kind = Kind.CALL if ours else Kind.MESSAGE
        draft = Draft(role, kind, encode_text(text), found, count_tokens(text))
        return self._log.append([draft])[0]
