"""What happens when a tool result comes in: it is committed, and then somebody may put a shorter one beside it.

Whatever goes wrong here, the original stands. What is caught is logged and counted.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from toolcarry.errors import ConfigError, StoreError
from toolcarry.redact.logs import get_logger
from toolcarry.summarize.protocol import finished
from toolcarry.tract.checks import check_callable, check_text
from toolcarry.tract.compress_tools import edit_draft
from toolcarry.tract.values import CommitInfo
from toolcarry.types import check_limit

if TYPE_CHECKING:
    from toolcarry.tract.tract import Tract

__all__ = ["EVENT", "Handler", "Hooks", "PendingToolResult", "Summarization"]

logger = get_logger("toolcarry.tract")

EVENT: Final = "tool_result"


class PendingToolResult:
    """A tool result that was committed, for a handler to look at before anybody reads it.

    A handler may do one of four things with it, once; if it does none, the result passes as it is. What failed was not done.
    """

    __slots__ = ("_is_settled", "commit", "content", "token_count", "tool_name", "tract")

    def __init__(self, tract: Tract, commit: CommitInfo, content: str) -> None:
        self.tract = tract
        self.commit = commit
        self.tool_name = commit.name or ""
        self.content = content
        self.token_count = commit.token_count
        self._is_settled = False

    def summarize(self, instructions: str | None = None) -> CommitInfo:
        """Let the tract's summarizer shorten it; the summary supersedes it, with where it comes from.

        Raises ``ConfigError`` without a summarizer, ``InputError`` where it returns nothing, and what it raises.
        """
        return self._settle(
            lambda: self.tract.summarize_result(self.commit.commit_hash, instructions)
        )

    def edit(self, text: str) -> CommitInfo:
        """Let another text supersede it."""
        return self._settle(lambda: self._supersede(text, {"by": "handler"}))

    def approve(self) -> CommitInfo:
        """Let it pass as it is."""
        return self._settle(lambda: self.commit)

    def reject(self, reason: str) -> CommitInfo:
        """Let a line that gives the reason supersede it."""
        line = f"[toolcarry: result rejected: {reason}]"
        return self._settle(lambda: self._supersede(line, {"by": "handler", "reason": reason}))

    def _supersede(self, text: str, provenance: dict[str, Any]) -> CommitInfo:
        """Written to the log itself: ``tool_result`` would take what a handler cuts for what was cut before it came here."""
        check_text("text", text)
        draft = edit_draft(self.commit, text, {"provenance": provenance})
        return self.tract._log.append([draft])[0]

    def _settle(self, do: Callable[[], CommitInfo]) -> CommitInfo:
        if self._is_settled:
            raise StoreError("the tool result is settled already", self.commit.commit_hash)
        done = do()
        self._is_settled = True
        return done


Handler: TypeAlias = Callable[[PendingToolResult], object]


@dataclass(frozen=True, slots=True)
class Summarization:
    """Which results are summarized by default, and how."""

    instructions: Mapping[str, str] = field(default_factory=dict)
    auto_threshold: int | None = None
    default_instructions: str | None = None

    def __post_init__(self) -> None:
        check_limit("auto_threshold", self.auto_threshold, optional=True)
        if not isinstance(self.instructions, Mapping):
            raise refused("instructions", self.instructions, "texts by the names of tools")
        for name, text in self.instructions.items():
            if not isinstance(name, str) or not isinstance(text, str):
                raise refused(f"instructions[{name!r:.80}]", text, "a text by the name of a tool")
        if not isinstance(self.default_instructions, str | None):
            raise refused("default_instructions", self.default_instructions, "a text, None")
        object.__setattr__(self, "instructions", dict(self.instructions))

    def __call__(self, pending: PendingToolResult) -> None:
        """The default handler."""
        is_named = pending.tool_name in self.instructions
        is_long = self.auto_threshold is not None and pending.token_count > self.auto_threshold
        if is_long or (is_named and self.auto_threshold is None):
            pending.summarize(self.instructions.get(pending.tool_name, self.default_instructions))


class Hooks:
    """Who is told of a tool result, and how often that went wrong."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self.summarization: Summarization | None = None
        self._handler: Handler | None = None

    def on(self, event: str, handler: Handler) -> None:
        """Let a handler take the place of the default and of the one before."""
        check_event(event)
        check_callable("handler", handler)
        self._handler = handler

    def off(self, event: str) -> None:
        """Go back to the default."""
        check_event(event)
        self._handler = None

    def run(self, tract: Tract, commit: CommitInfo, content: str) -> None:
        """Tell the handler of a result. Nothing that it does can hurt it: it is on the disk."""
        handler = self._handler or self.summarization
        if handler is None:
            return
        pending = PendingToolResult(tract, commit, content)
        try:
            finished(handler(pending))
        except Exception as error:  # noqa: BLE001 - a stranger's code: counted, and logged without its words
            self._counts["hook_failed"] += 1
            logger.warning(
                "the handler of the tool result of %s failed with %s; the original stands:\n%s",
                pending.tool_name,
                type(error).__name__,
                "".join(traceback.format_tb(error.__traceback__)),
            )


def check_event(event: str) -> None:
    if event != EVENT:
        raise refused("event", event, repr(EVENT))


def refused(key: str, value: object, allowed: str) -> ConfigError:
    return ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: {allowed}")
