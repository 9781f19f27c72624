"""``Tract``'s questions: everything that reads, and changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from toolcarry.errors import InputError
from toolcarry.policy import Policy
from toolcarry.projection import read_part
from toolcarry.tract.compile import Style, compile_messages
from toolcarry.tract.find import hydrate, resolve_reference
from toolcarry.tract.messages import export
from toolcarry.tract.reading import part_text
from toolcarry.tract.threads import in_thread, iterate_in_thread
from toolcarry.tract.turns import find_calls, find_results, find_turns
from toolcarry.tract.upkeep import Upkeep
from toolcarry.tract.values import CommitInfo, Hydrated, Kind, ToolTurn
from toolcarry.tract.view import CHANGES, original
from toolcarry.types import check_limit

__all__ = ["Reader"]


class Reader(Upkeep):
    """The part of ``Tract`` that reads."""

    def log(self, limit: int | None = None) -> list[CommitInfo]:
        """The commits, newest first."""
        check_limit("limit", limit, optional=True)
        return list(self._log.newest(limit))

    def get_commit(self, commit_hash: str) -> CommitInfo:
        """The commit of a hash, or of the first eight digits of it or more. Raises ``UnknownCommitError``."""
        return self._log.find(commit_hash)

    def get_content(self, commit: str | CommitInfo) -> str:
        """The text of a commit: of an imported one, what was said, or what came back.

        Raises ``StoreDamagedError`` where what is stored is not what was written, and ``UnknownCommitError``.
        """
        found = commit if isinstance(commit, CommitInfo) else self._log.find(commit)
        return part_text(found, self._log.content(found))

    def get_source(self, commit: str | CommitInfo) -> bytes:
        """The content of a commit as it is kept: of an imported one, the line."""
        found = commit if isinstance(commit, CommitInfo) else self._log.find(commit)
        return self._log.content(found)

    def history_of(self, commit_hash: str) -> list[CommitInfo]:
        """Every version of a tool result, oldest first, whichever of them is named."""
        root = self._result(commit_hash)
        newer = [each for each in self._log.commits(CHANGES) if each.edits == root.commit_hash]
        return [root, *newer]

    def compile(
        self, *, style: Style = "openai", policy: Policy | None = None
    ) -> list[dict[str, Any]]:
        """The messages of the next request, in a provider's shape: newest versions, compactions, nothing that was dropped.

        ``style`` is ``openai``, ``anthropic``, ``responses``, ``ollama``, ``gemini`` or ``bedrock``; where that keeps the
        system prompt beside the messages, it stands as the first of them, with the role ``system``. With a policy, they
        are projected.
        """
        return compile_messages(self._log, style, policy)

    def resolve(self, ref: str) -> str:
        """What a marker's reference names, in full: a result as the tool gave it, or what a compaction covers.

        It names the same result for good, also where that is compacted or left out by now.
        Raises ``InputError`` where nothing has this reference.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     result = tract.tool_result("t1", "Bash", "3 passed in 0.1 s")
        ...     _ = tract.tool_result("t1", "Bash", "3 passed", edit=result.commit_hash)
        ...     tract.resolve("t1")
        '3 passed in 0.1 s'
        """
        return resolve_reference(self._log, ref)

    def read_tool_result(self, arguments: Mapping[str, Any] | str) -> str:
        """Answer a model's call of ``read_tool_result``, the tool of ``toolcarry.retrieval_tool``."""
        return read_part(self.resolve, arguments)

    def hydrate(self, messages: Sequence[Mapping[str, Any]]) -> Hydrated:
        """Messages in which results that are missing, cleared or cut are whole again, as far as the history has them.

        What is worth fetching anew is named: the calls for which there is no whole result here, or none that is theirs for
        certain, where ids repeat and the messages have not all of them.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     _ = tract.tool_result("t1", "Bash", "3 passed")
        ...     cut = {"role": "tool", "tool_call_id": "t1", "content": "[Old tool result content cleared]"}
        ...     tract.hydrate([cut]).messages
        [{'role': 'tool', 'tool_call_id': 't1', 'content': '3 passed'}]
        """
        return hydrate(self._log, messages)

    def find_tool_results(
        self, name: str | None = None, after: str | None = None, before: str | None = None
    ) -> list[CommitInfo]:
        """The tool results, oldest first; of a tool, behind one commit and before another.

        Of an edited result the newest version stands in the place of the first.
        """
        return list(find_results(self._log, name, after, before))

    def find_tool_calls(self, name: str | None = None) -> list[CommitInfo]:
        """What the model said with a tool call, or with one of this tool, oldest first."""
        return list(find_calls(self._log, name))

    def find_tool_turns(self, name: str | None = None) -> list[ToolTurn]:
        """Each of ``find_tool_calls`` with the results that came back, oldest first."""
        return find_turns(self._log, name)

    def export(self) -> Iterator[bytes]:
        """The lines of imported files, byte for byte, and each other message as a line of JSON.

        What is imported as one document is given as one; where it ends in no newline, one stands before what follows it.
        """
        return export(self._log)

    async def aexport(self) -> AsyncIterator[bytes]:
        """``export``, each of them in a thread."""
        async for line in iterate_in_thread(self.export()):
            yield line

    alog = in_thread(log)
    aget_commit = in_thread(get_commit)
    aget_content = in_thread(get_content)
    aget_source = in_thread(get_source)
    ahistory_of = in_thread(history_of)
    aresolve = in_thread(resolve)
    aread_tool_result = in_thread(read_tool_result)
    ahydrate = in_thread(hydrate)
    acompile = in_thread(compile)  # noqa: A003 - the method's own name
    afind_tool_results = in_thread(find_tool_results)
    afind_tool_calls = in_thread(find_tool_calls)
    afind_tool_turns = in_thread(find_tool_turns)

    def _result(self, commit_hash: str) -> CommitInfo:
        """The first version of a tool result. Raises ``InputError`` where the commit is none."""
        found = original(self._log, commit_hash)
        if found.kind is not Kind.RESULT:
            raise InputError(f"commit {commit_hash}: is no tool result, but {found.role}", None)
        return found
