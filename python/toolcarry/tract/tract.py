"""``Tract``: one conversation of the canonical history.

Every method that uses the store has an asynchronous twin with the prefix ``a``, which runs it in a thread. The modules
``query``, ``compile``, ``compaction``, ``threshold``, ``importing`` and ``maintenance`` implement the methods.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import chain, islice, zip_longest
from types import TracebackType
from typing import Any, Self

from toolcarry.api.context_usage import context_usage
from toolcarry.api.projection import matches_text, read_part, search_arguments
from toolcarry.errors import InputError
from toolcarry.summarize import Summarizer
from toolcarry.summarize.prompts import CONVERSATION_SUMMARIZE_SYSTEM
from toolcarry.tract import (
    compaction,
    hydration,
    importing,
    legacy,
    maintenance,
    query,
    threshold,
)
from toolcarry.tract.async_twins import in_thread, iterate_in_thread
from toolcarry.tract.canonical import FLAG, refuse_previews, result_draft, said_draft
from toolcarry.tract.commit_codec import part_text
from toolcarry.tract.compaction import edit_draft
from toolcarry.tract.compile import Style, compile_messages
from toolcarry.tract.guard import ON_TRUNCATED_WRITE, Guard, OnTruncatedWrite, is_flagged
from toolcarry.tract.hooks import Hooks, Summarization
from toolcarry.tract.outputs import Output, Summary, shorten_outputs
from toolcarry.tract.pending import PendingToolResult
from toolcarry.tract.result_index import ResultIndex
from toolcarry.tract.search import ToolSearch
from toolcarry.tract.store import open_database
from toolcarry.tract.store.lines import line_names
from toolcarry.tract.store.log import Draft, Log
from toolcarry.tract.store.types import (
    Archived,
    Backfilled,
    CommitInfo,
    CompressResult,
    Hydrated,
    ImportResult,
    LegacyResult,
    Salvage,
    Stats,
    ToolMatch,
    ToolTurn,
    VerifyResult,
)
from toolcarry.tract.store.validate import (
    check_callable,
    check_name,
    check_same,
    check_text,
    checked_call,
    free_metadata,
)
from toolcarry.tract.store.verify import verify
from toolcarry.tract.truncation import is_part_of, is_truncated
from toolcarry.tract.view import read_canonical
from toolcarry.types.policy import ProjectPolicy
from toolcarry.types.values import check_choice, check_limit, checked_list

__all__ = ["Tract", "hydrate"]


class Tract:
    """A conversation in the canonical history: all messages, calls and results, stored permanently and in full.

    Open one with ``Tract.open``. When a method returns, its writes are on disk. A tract may be used by several threads,
    and by a process that was forked from the one that opened it.

    >>> with Tract.open() as tract:
    ...     _ = tract.user("Run the tests.")
    ...     _ = tract.assistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": {"command": "pytest"}}])
    ...     result = tract.tool_result("t1", "Bash", "3 passed")
    ...     tract.get_content(result), len(tract.compile())
    ('3 passed', 3)
    """

    def __init__(
        self, log: Log, *, summarizer: Summarizer | None, on_truncated_write: OnTruncatedWrite
    ) -> None:
        self.counts: Counter[str] = Counter()
        """Counts of problems that raised no error: ``hook_failed`` and ``legacy_truncated``."""
        self._log = log
        self._results = ResultIndex(log)
        self._search = ToolSearch(log, self._results)
        self._lines: dict[str, Self] = {}
        self._summarizer = summarizer
        self._guard = Guard(on_truncated_write, self.counts)
        self._hooks: Hooks[PendingToolResult] = Hooks(self.counts)

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
        on_truncated_write: OnTruncatedWrite = "warn",
    ) -> Self:
        """Open a conversation in memory, in a file (created if it does not exist), or at ``postgresql://...``.

        ``busy_timeout`` is the time in seconds to wait for other writers. A tool result that was already cut before it
        is committed is stored unchanged, flagged ``legacy_truncated`` and counted. ``on_truncated_write="warn"`` also
        logs it, ``"count"`` does nothing else, and ``"raise"`` refuses it with ``InputError``. No other SQLite library
        in this process may open the file; Python's own ``sqlite3`` is kept from doing so.

        Raises ``ConfigError`` for a setting that is not allowed, ``StoreVersionError`` for a store written by a newer
        toolcarry, ``StoreDamagedError`` for a file that is not a database, and ``StoreError`` if it can't be opened.
        """
        for key, value in (("conversation", conversation), ("tenant", tenant)):
            check_name(key, value)
        check_choice("on_truncated_write", on_truncated_write, ON_TRUNCATED_WRITE)
        check_callable("summarizer", summarizer, optional=True)
        database = open_database(target, busy_timeout=busy_timeout, is_read_only=read_only)
        log = Log(database, tenant, conversation)
        return cls(log, summarizer=summarizer, on_truncated_write=on_truncated_write)

    def in_conversation(self, conversation: str) -> Self:
        """Return another conversation of the same tenant on the same connection; closing either closes both.

        It has the same summarizer, and its own hooks.

        >>> with Tract.open() as tract:
        ...     other = tract.in_conversation("other")
        ...     _ = other.user("Hello.")
        ...     len(tract.log()), len(other.log())
        (0, 1)
        """
        check_name("conversation", conversation)
        log = Log(self._log.database, self._log.tenant, conversation)
        return type(self)(log, summarizer=self._summarizer, on_truncated_write=self._guard.mode)

    def close(self) -> None:
        """Close the store. Later calls raise ``StoreError``."""
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
        """Commit a user message."""
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
        """Commit a message of the model with its tool calls.

        Each call has an ``id``, a ``name`` and ``arguments``, or is in a provider's format: a dict or an SDK's object.

        >>> with Tract.open() as tract:
        ...     use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
        ...     tract.assistant("I will.", tool_calls=[use]).metadata["tool_calls"]
        [{'arguments': {'command': 'pytest'}, 'id': 't1', 'name': 'Bash'}]
        """
        given = checked_list("tool_calls", () if tool_calls is None else tool_calls, "objects")
        calls = [checked_call(call, index) for index, call in enumerate(given)]
        return self._say("assistant", text, metadata, calls)

    def tool_result(
        self,
        call_id: str,
        name: str,
        content: str,
        *,
        is_error: bool | None = None,
        edit: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> CommitInfo:
        """Commit a tool result or, with ``edit``, a newer version of the result with that hash.

        A newer version keeps the role, id and name of the first version, which stays in the log. If ``is_error`` is not
        given, an edit keeps the mark of the version that ``edit`` names, and a new result counts as a success. Edits
        call no hook. A part of a result that the history has in full is not flagged as cut. Raises
        ``UnknownCommitError`` for an unknown hash, and ``InputError`` for a commit that is not a tool result, or if
        ``call_id`` or ``name`` is neither empty nor that of the result.

        >>> with Tract.open() as tract:
        ...     first = tract.tool_result("t1", "Bash", "3 passed in 0.1 s")
        ...     newer = tract.tool_result("t1", "Bash", "3 passed", edit=first.commit_hash)
        ...     [tract.get_content(commit) for commit in tract.history_of(newer.commit_hash)]
        ['3 passed in 0.1 s', '3 passed']
        """
        check_text("content", content)
        free = free_metadata(metadata)
        check_text("call_id", call_id)
        check_text("name", name)
        if edit is not None:
            root = query.original_result(self._log, edit)
            check_same("call_id", call_id, root.tool_call_id)
            check_same("name", name, root.name)
            if is_truncated(content) and not self._has_whole(root, content):
                free[FLAG] = True
            if is_error is None:
                is_error = self._log.find(edit).is_error
            return self._add_result(edit_draft(root, content, free, is_error=bool(is_error)))
        draft = result_draft(call_id, name, content, is_error=bool(is_error), free=free)
        commit = self._add_result(draft)
        if self._hooks.has_handler:
            self._hooks.run(PendingToolResult(self, commit, content))
        return commit

    def append_many(self, messages: Sequence[Mapping[str, Any]]) -> list[CommitInfo]:
        """Commit messages of any format, in one transaction. Messages that the history already ends with are skipped.

        So callers may pass the client's whole conversation each time, or only the new messages, and may repeat either;
        cache marks may move. Messages that a client rewrote in any other way are appended again. A single message equal
        to the newest one counts as a repetition and is skipped; ``user`` and similar methods always append.

        >>> with Tract.open() as tract:
        ...     asked = {"role": "user", "content": "Run the tests."}
        ...     first = tract.append_many([asked])
        ...     more = tract.append_many([asked, {"role": "assistant", "content": "They pass."}])
        ...     len(first), len(more)
        (1, 1)
        """
        return importing.append_messages(self._log, messages, self._guard).commits

    def import_transcript(
        self, path: str | os.PathLike[str], *, progress: importing.Progress | None = None
    ) -> ImportResult:
        """Import a session file or a request body; skip the part that the history already has.

        ``progress`` is called with the number of imported lines and the number of all lines. Raises ``InputError`` if
        the file is not a conversation, or if its imported part has changed, ``OSError`` if it can't be read, and
        ``ConfigError`` for an argument that is not allowed.
        """
        check_callable("progress", progress, optional=True)
        return importing.import_file(self._log, path, progress, self._guard)

    auser = in_thread(user)
    asystem = in_thread(system)
    aassistant = in_thread(assistant)
    atool_result = in_thread(tool_result)
    aappend_many = in_thread(append_many)
    aimport_transcript = in_thread(import_transcript)

    # Reading

    def log(self, limit: int | None = None) -> list[CommitInfo]:
        """Return the commits, newest first."""
        check_limit("limit", limit, optional=True)
        return list(self._log.newest(limit))

    def get_commit(self, commit_hash: str) -> CommitInfo:
        """Return the commit with this hash, or with its first eight or more digits. Raises ``UnknownCommitError``."""
        return self._log.find(commit_hash)

    def get_content(self, commit: str | CommitInfo) -> str:
        """Return the text of a commit; for an imported commit, the text of its message or result.

        Raises ``StoreDamagedError`` if the stored content differs from what was written, and ``UnknownCommitError``.
        """
        found = commit if isinstance(commit, CommitInfo) else self._log.find(commit)
        return part_text(found, self._log.content(found))

    def get_source(self, commit: str | CommitInfo) -> bytes:
        """Return the stored content of a commit; for an imported commit, its line."""
        found = commit if isinstance(commit, CommitInfo) else self._log.find(commit)
        return self._log.content(found)

    def history_of(self, commit_hash: str) -> list[CommitInfo]:
        """Return every version of a tool result, oldest first. The hash may be that of any version."""
        return query.result_versions(self._log, commit_hash)

    def compile(
        self, *, style: Style = "openai", policy: ProjectPolicy | None = None
    ) -> list[dict[str, Any]]:
        """Return the messages of the next request in a provider's format.

        Edits, compactions and omissions are applied. ``style`` is ``openai``, ``anthropic``, ``responses``, ``ollama``,
        ``gemini`` or ``bedrock``. If the format keeps the system prompt outside its messages, the prompt is returned as
        the first message, with the role ``system``. With a policy, the messages are projected.
        """
        return compile_messages(self._log, style, policy)

    def resolve(self, ref: str) -> str:
        """Return the full text for a marker's reference: the original result, or the messages that a compaction covers.

        A reference always names the same result, even after the result is compacted or left out. If this conversation
        does not have it, its other continuations that a recorder wrote are searched. Raises ``InputError`` if nothing
        has this reference.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     result = tract.tool_result("t1", "Bash", "3 passed in 0.1 s")
        ...     _ = tract.tool_result("t1", "Bash", "3 passed", edit=result.commit_hash)
        ...     tract.resolve("t1")
        '3 passed in 0.1 s'
        """
        try:
            return query.resolve_reference(self._log, ref)
        except InputError:
            for line in self._other_lines():
                with suppress(InputError):
                    return query.resolve_reference(line._log, ref)
            raise

    def read_tool_result(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a model's call of ``read_tool_result``, the tool of ``toolcarry.retrieval_tool``."""
        return read_part(self.resolve, arguments)

    def search_tool_results(self, query: str, *, limit: int = 10) -> list[ToolMatch]:
        """Return the tool results that contain all words of the query, ignoring case, best match first.

        Compacted, superseded and shortened results are searched in full, and so are other continuations of the
        conversation that a recorder wrote. A word with punctuation in it, such as a dot or a slash, is searched as a
        phrase. For a store in a file, the index is built in memory; on PostgreSQL, the first search creates the table
        ``tract_search``. Raises ``InputError`` for a query without words, and ``StoreError`` if SQLite has no FTS5.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     _ = tract.tool_result("t1", "Bash", "test_mean PASSED")
        ...     _ = tract.tool_result("t2", "Bash", "test_sum FAILED")
        ...     [found.commit.tool_call_id for found in tract.search_tool_results("failed")]
        ['t2']
        """
        check_text("query", query)
        check_limit("limit", limit)
        lines = (self, *self._other_lines())
        ranked = zip_longest(*(line._search.find(query, limit) for line in lines))
        found: dict[tuple[str | None, str], ToolMatch] = {}
        for match in chain.from_iterable(ranked):
            if match is not None:  # lines share the results from before they parted
                found.setdefault((match.commit.tool_call_id, match.commit.content_hash), match)
        return list(islice(found.values(), limit))

    def _other_lines(self) -> list[Self]:
        """Return the other lines of this conversation, newest first."""
        log = self._log
        names = line_names(log.database, log.tenant, log.conversation)
        self._lines = {
            name: self._lines.get(name) or self.in_conversation(name)
            for name in reversed(names)
            if name != log.conversation
        }
        return list(self._lines.values())

    def answer_search(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a model's call of ``search_tool_results``, the tool of ``toolcarry.search_tool``."""
        query, limit = search_arguments(arguments)
        return matches_text(
            [
                (found.reference, found.commit.name or "", found.snippet)
                for found in self.search_tool_results(query, limit=limit)
            ]
        )

    def hydrate(self, messages: Sequence[Mapping[str, Any]]) -> Hydrated:
        """Restore results that are missing, cleared or cut in messages, if the history has them in full.

        A result is restored if its call in the messages has the same id, name and arguments as a call in the history,
        and the match is certain: no other call has that id, or the neighbouring calls rule out all others. A result
        that has no call in either place is found by its id only. A missing result is inserted after its call, or into
        the next user message, if the history has it in the format of the call. ``refetch`` lists the calls whose
        results could not be restored.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     _ = tract.tool_result("t1", "Bash", "3 passed")
        ...     cut = {"role": "tool", "tool_call_id": "t1", "content": "[Old tool result content cleared]"}
        ...     tract.hydrate([cut]).messages
        [{'role': 'tool', 'tool_call_id': 't1', 'content': '3 passed'}]
        """
        return hydration.hydrate(self._log, self._results, messages)

    def needs_refetch(self, call: object) -> bool:
        """Return true if the history has no whole result for a call, given as an id or in any provider's format.

        A result that a projection cut, a compaction covers or an edit shortened need not be fetched again.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     _ = tract.tool_result("t1", "Bash", "")
        ...     tract.needs_refetch("t1"), tract.needs_refetch({"type": "tool_use", "id": "t2", "name": "Bash"})
        (False, True)
        """
        return hydration.needs_refetch(self._log, self._results, call)

    def legacy_results(self) -> list[LegacyResult]:
        """Return the results that were cut before they were written, oldest first, and where their full text may be."""
        return legacy.legacy_results(self._log)

    def backfill(self, source: legacy.BackfillSource = None) -> Backfilled:
        """Replace each cut result with its full text, as an edit whose metadata has the provenance.

        The full text comes from the imported line itself, if it is stored next to the result, or from ``source``: a
        folder in which the host kept files; a session file or a request that has the results in full; or a mapping or a
        function that returns texts by the id of the host's log or of the call. Files outside the folder are never read.
        A result stays cut if the source has only a part of it.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open(on_truncated_write="count") as tract:
        ...     _ = tract.tool_result("t1", "Bash", "3 pas... [truncated]")
        ...     done = tract.backfill({"t1": "3 passed"})
        ...     tract.resolve("t1"), done.filled[0].metadata["provenance"]
        ('3 passed', {'by': 'backfill', 'from': 'log t1'})
        """
        return legacy.backfill(self._log, source)

    def find_tool_results(
        self, name: str | None = None, after: str | None = None, before: str | None = None
    ) -> list[CommitInfo]:
        """Return the tool results, oldest first; optionally only those of one tool, after one commit and before
        another.

        An edited result is returned in its newest version, at the position of the first.
        """
        return list(query.find_results(self._log, name, after, before))

    def find_tool_calls(self, name: str | None = None) -> list[CommitInfo]:
        """Return the model's messages with a tool call, or with a call of this tool, oldest first."""
        return list(query.find_calls(self._log, name))

    def find_tool_turns(self, name: str | None = None) -> list[ToolTurn]:
        """Return the messages of ``find_tool_calls`` with their results, oldest first."""
        return query.find_turns(self._log, name)

    def export(self) -> Iterator[bytes]:
        """Yield the lines of imported files, byte for byte, and each other message as a line of JSON.

        An imported document is exported as a whole. If it does not end with a newline, one is added before the next
        line.
        """
        return query.export(self._log)

    async def aexport(self) -> AsyncIterator[bytes]:
        """``export``, in a thread."""
        async for line in iterate_in_thread(self.export()):
            yield line

    alog = in_thread(log)
    aget_commit = in_thread(get_commit)
    aget_content = in_thread(get_content)
    aget_source = in_thread(get_source)
    ahistory_of = in_thread(history_of)
    aresolve = in_thread(resolve)
    aread_tool_result = in_thread(read_tool_result)
    asearch_tool_results = in_thread(search_tool_results)
    aanswer_search = in_thread(answer_search)
    ahydrate = in_thread(hydrate)
    aneeds_refetch = in_thread(needs_refetch)
    alegacy_results = in_thread(legacy_results)
    abackfill = in_thread(backfill)
    acompile = in_thread(compile)  # noqa: A003 - the method's own name
    afind_tool_results = in_thread(find_tool_results)
    afind_tool_calls = in_thread(find_tool_calls)
    afind_tool_turns = in_thread(find_tool_turns)

    # Shortening

    def compress(
        self,
        *,
        commits: Sequence[str] | None = None,
        from_commit: str | None = None,
        to_commit: str | None = None,
        content: str | None = None,
        instructions: str | None = None,
        system_prompt: str | None = None,
        target_tokens: int | None = None,
        preserve: Sequence[str] = (),
    ) -> CompressResult:
        """Replace messages with one text: the given ``commits``, a range of commits, or all messages.

        The text is ``content``, or a summary if there is none. If preserved messages divide the covered ones, each run
        between them gets its own summary; ``content`` replaces all runs, at the place of the first. A call and its
        results are covered or preserved together, and an earlier compaction is covered as a whole. ``widened`` lists
        the messages that had to be covered in addition. ``system_prompt`` replaces ``CONVERSATION_SUMMARIZE_SYSTEM``,
        and ``instructions`` are appended to it.

        Raises ``ConfigError`` if there is neither content nor a summarizer, ``InputError`` for an empty text or an
        argument of the wrong type, ``UnknownCommitError``, and the summarizer's errors. After an error, nothing is
        written.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     for text in ("Fix the test.", "Which one?", "The second."):
        ...         _ = tract.user(text)
        ...     done = tract.compress(content="The user wants the second test fixed.")
        ...     len(tract.compile()), tract.uncompress(done.commit.commit_hash).role, len(tract.compile())
        (1, 'undo', 3)
        """
        check_limit("target_tokens", target_tokens, optional=True)
        check_text("content", content, optional=True)
        check_text("instructions", instructions, optional=True)
        check_text("system_prompt", system_prompt, optional=True)

        def say(_: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
            return [content or ""], {"by": "caller"}

        if content is None:
            compaction.needs_summarizer(self._summarizer, "content")
            system = system_prompt or CONVERSATION_SUMMARIZE_SYSTEM
            write = compaction.run_summarizers(
                self._summarizer, system, instructions, target_tokens
            )
        return compaction.compress(
            self._log,
            write=write if content is None else say,
            commits=None if commits is None else checked_list("commits", commits, "hashes"),
            from_commit=from_commit,
            to_commit=to_commit,
            preserve=checked_list("preserve", preserve, "hashes"),
        )

    def compact(
        self,
        *,
        limit: int | None = None,
        model: str | None = None,
        compact_at: float = 0.8,
        target: float = 0.5,
        instructions: str | None = None,
    ) -> CompressResult:
        """Compact the oldest messages if the conversation takes ``compact_at`` of the window, down to ``target`` of it.

        The window is ``limit`` tokens, by default that of ``model``, as for ``context_usage``. Call this before each
        request: below the threshold it does nothing. The system prompt, the last user message and the newest messages
        stay. Calls are never separated from their results, nor thinking loops divided. Each run between the messages
        that stay gets a summary from the tract's summarizer, and summaries of earlier compactions are summarized again.
        Without a summarizer, the covered messages are replaced with a hand-over (``carry``), or with excerpts if no
        tool was called. The newest messages stay even if they alone take more than the target.

        Raises ``ConfigError`` for shares that are not between 0 and 1 or a model whose window is not known, and the
        summarizer's errors. After an error, nothing is written.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open(summarizer=lambda text, instructions: "They counted.") as tract:
        ...     for number in range(20):
        ...         _ = tract.user(f"{number}, " * 50), tract.assistant(f"{number + 1}, " * 50)
        ...     done = tract.compact(limit=4_000)
        ...     len(done.covered), len(tract.compile()), tract.compact(limit=4_000).commit
        (30, 11, None)
        """
        check_text("instructions", instructions, optional=True)
        threshold.check_shares(compact_at, target)
        usage = context_usage(self.compile(), limit=limit, model=model)
        if usage.used < compact_at * usage.limit:
            return threshold.NOTHING_TO_DO
        return threshold.compact(
            self._log, usage.used, int(target * usage.limit), self._summarizer, instructions
        )

    def uncompress(self, commit_hash: str) -> CommitInfo:
        """Undo a ``compress``, ``compress_tool_calls`` or ``drop_failed_tool_turns``."""
        return compaction.uncompress(self._log, commit_hash)

    def compress_tool_calls(
        self,
        hashes: Sequence[str] | None = None,
        *,
        name: str | None = None,
        target_tokens: int | None = None,
    ) -> CompressResult:
        """Supersede each tool result of the given turns, or of all turns, with a summary if that is shorter.

        Each request to the summarizer holds as many results as fit into 8,000 tokens, separated by marker lines, and
        asks for an answer with the same lines. If the answer lacks them, each result is sent in a request of its own.
        Roles, ids, names and ``is_error`` stay, and so does the final answer, the model's last message after the turns.
        ``target_tokens`` is the intended limit for one result. Raises the errors of ``compress``.
        """
        check_limit("target_tokens", target_tokens, optional=True)
        compaction.needs_summarizer(self._summarizer, "compress_tool_calls")
        given = None if hashes is None else checked_list("hashes", hashes, "hashes")

        write = self._result_summarizer(None, target_tokens)
        return compaction.compress_tool_calls(self._log, given, name=name, write=write)

    def drop_failed_tool_turns(self, name: str | None = None) -> CompressResult:
        """Leave turns in which every result failed out of the compiled messages; nothing is deleted.

        A result failed if it is marked as failed, or if its wording leaves no doubt, as in ``Error: ENOENT: ...``.
        """
        return compaction.drop_failed(self._log, name)

    def configure_tool_summarization(
        self,
        instructions: Mapping[str, str] | None = None,
        *,
        auto_threshold: int | None = None,
        default_instructions: str | None = None,
    ) -> None:
        """Summarize tool results when ``tool_result`` commits them, but not results of ``append_many`` or an import.

        With ``auto_threshold``, the results of all tools that have more tokens than this are summarized, using the
        tool's instructions or the default ones. Without it, all results of the tools in ``instructions`` are
        summarized; ``grep`` also means ``Grep`` and ``mcp__server__grep``. The original is committed first, and stays.
        Without arguments, summarization is turned off. A handler set by ``on`` replaces this one.
        """
        named = {} if instructions is None else instructions
        settings = Summarization(named, auto_threshold, default_instructions)
        is_on = bool(settings.instructions) or auto_threshold is not None
        if is_on:
            compaction.needs_summarizer(self._summarizer, "configure_tool_summarization")
        self._hooks.summarization = settings if is_on else None

    def on(self, event: str, handler: Callable[[PendingToolResult], object]) -> None:
        """Call ``handler`` with a ``PendingToolResult`` for each new ``tool_result``, instead of the default handler.

        The handler may be a coroutine function. It is not called for results from ``append_many`` or an import.
        """
        self._hooks.on(event, handler)

    def off(self, event: str) -> None:
        """Restore the default handler, which ``configure_tool_summarization`` sets."""
        self._hooks.off(event)

    def summarize_result(self, commit_hash: str, instructions: str | None = None) -> CommitInfo:
        """Supersede a tool result with a summary.

        Raises the errors of ``compress``, and ``InputError`` if the summary is not shorter.
        """
        compaction.needs_summarizer(self._summarizer, "summarize_result")
        check_text("instructions", instructions, optional=True)
        root = query.original_result(self._log, commit_hash)
        write = self._result_summarizer(instructions, None)
        return compaction.summarize_result(self._log, root, write)

    acompress = in_thread(compress)
    acompact = in_thread(compact)
    auncompress = in_thread(uncompress)
    acompress_tool_calls = in_thread(compress_tool_calls)
    adrop_failed_tool_turns = in_thread(drop_failed_tool_turns)
    asummarize_result = in_thread(summarize_result)

    # Maintenance

    @property
    def conversation(self) -> str:
        """The name of the conversation."""
        return self._log.conversation

    def conversations(self) -> list[str]:
        """Return the names of the tenant's conversations, in the order in which they began."""
        return maintenance.conversation_names(self._log)

    def verify(self, *, all_tenants: bool = False) -> VerifyResult:
        """Recompute the hashes of all commits and contents of the tenant, and list all damage, including damage to
        files."""
        return verify(self._log.database, None if all_tenants else self._log.tenant)

    def repair(self, path: str | os.PathLike[str], *, all_tenants: bool = False) -> Salvage:
        """Copy the tenant's commits that can be verified into a new file; the others are listed, and recorded there as
        lost.

        The file gets its final name only when it is complete, so an interrupted repair leaves no file. The damaged
        store is not changed. Raises ``ConfigError`` if the path exists.
        """
        return maintenance.repair(self._log, path, None if all_tenants else self._log.tenant)

    def stats(self) -> Stats:
        """Return the counts of the conversation: commits, tokens and bytes."""
        return maintenance.count(self._log)

    def archive(self, target: str | os.PathLike[str], *, before: datetime) -> Archived:
        """Move the tenant's conversations that ended before ``before`` to another store.

        A conversation is deleted here only after its copy in the other store is complete and verified. Raises
        ``ConfigError`` if the other store is this one, under any name, or is in memory. Raises ``StoreError`` if the
        other store has a different conversation of the same name, after all others have been moved.
        """
        return maintenance.archive_conversations(self._log, target, before)

    def forget(self, conversation: str | None = None) -> bool:
        """Delete a conversation permanently, by default this one, and return true if it existed.

        Its contents are deleted too, unless another conversation of the tenant shares them. Raises ``StoreBusyError``
        if they are deleted, but remain in the file because of a running reader; then call this method again.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     _ = tract.user("My password is hunter2.")
        ...     tract.forget("default"), tract.log()
        (True, [])
        """
        return maintenance.forget_conversation(self._log, conversation)

    aconversations = in_thread(conversations)
    averify = in_thread(verify)
    arepair = in_thread(repair)
    astats = in_thread(stats)
    aarchive = in_thread(archive)
    aforget = in_thread(forget)

    def _has_whole(self, root: CommitInfo, cut: str) -> bool:
        """True if the history has the result whole that a cut text shows a part of."""
        whole = read_canonical(self._log).newest.get(root.commit_hash, root)
        return not is_flagged(whole) and is_part_of(cut, self.get_content(whole))

    def _add_result(self, draft: Draft) -> CommitInfo:
        """Commit a result; the guard refuses, counts or logs one that was cut before."""
        if not is_flagged(draft):
            return self._log.append([draft])[0]
        refuse_previews({}, (draft,), None)
        self._guard.check((draft,))
        (commit,) = self._log.append([draft])
        self._guard.tell((commit,))
        return commit

    def _say(
        self,
        role: str,
        text: str,
        metadata: Mapping[str, Any] | None,
        calls: Sequence[Mapping[str, Any]] = (),
    ) -> CommitInfo:
        check_text("text", text)
        return self._log.append([said_draft(role, text, free_metadata(metadata), calls)])[0]

    def _result_summarizer(
        self, instructions: str | None, target_tokens: int | None
    ) -> compaction.WriteSummaries:
        """Return a function that summarizes tool results, several of them with one request."""

        def write(results: Sequence[tuple[CommitInfo, str]]) -> list[Summary]:
            settings = self._hooks.summarization
            found = [
                Output(
                    result.name or "",
                    text,
                    result.token_count,
                    compaction.summary_instructions(result, settings, instructions, target_tokens),
                )
                for result, text in results
            ]
            return shorten_outputs(found, partial(compaction.summarize, self._summarizer))

        return write


def hydrate(messages: Sequence[Mapping[str, Any]], tract: Tract) -> Hydrated:
    """Restore the canonical results in messages that have previews, markers, nulls or placeholders in their place.

    This is ``Tract.hydrate``, whose documentation says how results are matched.

    >>> from toolcarry import preview
    >>> from toolcarry.tract import Tract, hydrate
    >>> with Tract.open() as tract:
    ...     _ = tract.tool_result("t1", "Bash", "3 passed in 0.02 s")
    ...     shown = preview("3 passed in 0.02 s", 8, reference="t1").text
    ...     hydrate([{"role": "tool", "tool_call_id": "t1", "content": shown}], tract).messages
    [{'role': 'tool', 'tool_call_id': 't1', 'content': '3 passed in 0.02 s'}]
    """
    return tract.hydrate(messages)
