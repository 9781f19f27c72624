"""What makes a conversation shorter to read, and takes nothing away: summaries, compactions, omissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcarry.errors import ConfigError, InputError
from toolcarry.redact.logs import get_logger
from toolcarry.summarize import Summarizer, run_summarizer
from toolcarry.summarize.prompts import (
    CONVERSATION_SUMMARIZE_SYSTEM,
    TOOL_SUMMARIZE_SYSTEM,
    instructions_for,
)
from toolcarry.tract.checks import check_text
from toolcarry.tract.compress import compress, drop_failed, uncompress
from toolcarry.tract.compress_tools import compress_tool_calls, summary_draft
from toolcarry.tract.hooks import Handler, Hooks, Summarization
from toolcarry.tract.reader import Reader
from toolcarry.tract.reading import part_text
from toolcarry.tract.store.log import Log
from toolcarry.tract.threads import in_thread
from toolcarry.tract.values import CommitInfo, CompressResult
from toolcarry.types import check_limit, checked_list

__all__ = ["Shortening"]

logger = get_logger("toolcarry.tract")


class Shortening(Reader):
    """The part of ``Tract`` that lets shorter texts stand for longer ones."""

    def __init__(self, log: Log, summarizer: Summarizer | None) -> None:
        super().__init__(log)
        self._summarizer = summarizer
        self._hooks = Hooks(self.counts)

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
        """Let one text stand for messages: those named, those from one to another, or all; ``content``, or a summary.

        A call and its results are covered together, or preserved together; an earlier compaction is covered whole. What
        was not asked for and had to be covered is in ``widened``. ``system_prompt`` takes the place of
        ``CONVERSATION_SUMMARIZE_SYSTEM``, and ``instructions`` stand behind it.

        Raises ``ConfigError`` without content and summarizer, ``InputError`` for an empty text, and for what is no text or
        no list, ``UnknownCommitError``, and what the summarizer raises; then nothing is written.

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

        def write(transcript: str) -> tuple[str, dict[str, Any]]:
            if content is not None:
                return content, {"by": "caller"}
            system = system_prompt or CONVERSATION_SUMMARIZE_SYSTEM
            return self._summarize(
                transcript, instructions_for(system, instructions, target_tokens)
            )

        if content is None:
            self._check_summarizer("content")
        return compress(
            self._log,
            write=write,
            commits=None if commits is None else checked_list("commits", commits, "hashes"),
            from_commit=from_commit,
            to_commit=to_commit,
            preserve=checked_list("preserve", preserve, "hashes"),
        )

    def uncompress(self, commit_hash: str) -> CommitInfo:
        """Take back what ``compress``, ``compress_tool_calls`` or ``drop_failed_tool_turns`` did."""
        return uncompress(self._log, commit_hash)

    def compress_tool_calls(
        self,
        hashes: Sequence[str] | None = None,
        *,
        name: str | None = None,
        target_tokens: int | None = None,
    ) -> CompressResult:
        """Let a summary supersede each tool result of the turns named, or of all turns, where it is shorter.

        Roles, ids, names and ``is_error`` stay, and so does the final answer: what the model said last behind them.
        ``target_tokens`` is what one result should have at most. Errors are those of ``compress``.
        """
        check_limit("target_tokens", target_tokens, optional=True)
        self._check_summarizer("compress_tool_calls")
        given = None if hashes is None else checked_list("hashes", hashes, "hashes")

        def write(result: CommitInfo, text: str) -> tuple[str, dict[str, Any]]:
            return self._summarize(text, self._tool_instructions(result, None, target_tokens))

        return compress_tool_calls(self._log, given, name=name, write=write)

    def drop_failed_tool_turns(self, name: str | None = None) -> CompressResult:
        """Leave out, from what is compiled, the turns of which every result failed; nothing is deleted."""
        return drop_failed(self._log, name)

    def configure_tool_summarization(
        self,
        instructions: Mapping[str, str] | None = None,
        *,
        auto_threshold: int | None = None,
        default_instructions: str | None = None,
    ) -> None:
        """Summarize tool results as ``tool_result`` commits them; what ``append_many`` or an import brings stays as it is.

        Those of the tools named, each; with ``auto_threshold``, those of any tool that have more tokens and no others, by
        the tool's instructions where there are some, else by the default ones. The original is committed first, and stays.
        Without arguments, none are any more. A handler that ``on`` has set comes before this.
        """
        named = {} if instructions is None else instructions
        settings = Summarization(named, auto_threshold, default_instructions)
        is_on = bool(settings.instructions) or auto_threshold is not None
        if is_on:
            self._check_summarizer("configure_tool_summarization")
        self._hooks.summarization = settings if is_on else None

    def on(self, event: str, handler: Handler) -> None:
        """Call ``handler`` with a ``PendingToolResult`` for each new ``tool_result``, in place of the default.

        It may be a coroutine function. Results that come by ``append_many`` or an import fire nothing.
        """
        self._hooks.on(event, handler)

    def off(self, event: str) -> None:
        """Go back to the default: what ``configure_tool_summarization`` has set, if anything."""
        self._hooks.off(event)

    def summarize_result(self, commit_hash: str, instructions: str | None = None) -> CommitInfo:
        """Let a summary supersede a tool result. Errors are those of ``compress``, and ``InputError`` where it is no shorter."""
        self._check_summarizer("summarize_result")
        check_text("instructions", instructions, optional=True)
        root = self._result(commit_hash)
        text = part_text(root, self._log.content(root))
        short, provenance = self._summarize(text, self._tool_instructions(root, instructions, None))
        draft = summary_draft(root, short, provenance)
        if draft.token_count >= root.token_count:
            raise InputError("the summary is no shorter than the result", None)
        return self._log.append([draft])[0]

    acompress = in_thread(compress)
    auncompress = in_thread(uncompress)
    acompress_tool_calls = in_thread(compress_tool_calls)
    adrop_failed_tool_turns = in_thread(drop_failed_tool_turns)
    asummarize_result = in_thread(summarize_result)

    def _tool_instructions(
        self, result: CommitInfo, instructions: str | None, target_tokens: int | None
    ) -> str:
        settings = self._hooks.summarization
        if instructions is None and settings is not None:
            instructions = settings.instructions.get(
                result.name or "", settings.default_instructions
            )
        return instructions_for(TOOL_SUMMARIZE_SYSTEM, instructions, target_tokens)

    def _check_summarizer(self, key: str) -> Summarizer:
        if self._summarizer is None:
            raise ConfigError(f"{key}: needs a summarizer; give one to Tract.open(summarizer=...)")
        return self._summarizer

    def _summarize(self, text: str, instructions: str) -> tuple[str, dict[str, Any]]:
        """What the summarizer makes of a text, and where it comes from. Raises ``InputError`` where that is nothing."""
        summarizer = self._check_summarizer("summarizer")
        short = run_summarizer(summarizer, text, instructions)
        if not isinstance(short, str) or not short.strip():
            raise InputError("the summarizer returned nothing", None)
        provenance = {"by": "summarizer", "instructions": instructions}
        model = getattr(summarizer, "model", None)
        return short, {**provenance, "model": model} if isinstance(model, str) else provenance
