"""The kernels of the fallback, under the same names as in ``toolcarry._backend._core``.

The kernels for bytes decode them, and call the kernels for objects. Those of jobs that exist in Rust alone refuse.
A kernel that meets what only an importer can read returns ``None``: ``toolcarry.importers.kernels`` stands in front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec.structs import replace

from toolcarry._input.archive import read_file
from toolcarry._input.body_spans import split_body
from toolcarry._input.document import JsonLines, open_body
from toolcarry._input.objects import are_plain
from toolcarry._input.value_count import has_many_values
from toolcarry.errors import BackendError, InputError
from toolcarry.fallback import context
from toolcarry.fallback import dialogue as spoken
from toolcarry.fallback.tokens import messages as tokens
from toolcarry.model.pairing import find_unread
from toolcarry.types.outcomes import CarryOutcome
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.unread import Unread
from toolcarry.types.values import EncodingName, ToolBlock

if TYPE_CHECKING:
    from pathlib import Path

from toolcarry.fallback.context import (
    deduplicate_tools,
    explain,
    format_tool_context,
)
from toolcarry.fallback.session_lines import read_lines
from toolcarry.fallback.tokens.count import count_texts, count_tokens, resize_token_memo
from toolcarry.fallback.tokens.truncate import truncate_tokens
from toolcarry.model.dedupe.shell import has_side_effects
from toolcarry.model.text.cut_words import has_cut_word
from toolcarry.model.text.truncate import truncate

__all__ = [
    "are_plain",
    "carry",
    "carry_files",
    "count_texts",
    "count_tokens",
    "deduplicate_tools",
    "dialogue",
    "explain",
    "extract_tool_blocks",
    "format_tool_context",
    "has_cut_word",
    "has_many_values",
    "has_side_effects",
    "inspect",
    "message_tokens",
    "project",
    "project_body",
    "read_lines",
    "recount",
    "resize_token_memo",
    "split_body",
    "truncate",
    "truncate_tokens",
    "unread",
]


def carry(given: Sequence[Any] | bytes, summary: str, policy: CarryPolicy) -> CarryOutcome | None:
    """Return the context of a conversation, and its report."""
    if not isinstance(given, bytes):
        return context.carry(given, summary, policy)
    opened = open_body(given)
    found = context.carry(opened.messages, summary, policy)
    if found is None:
        return None
    report = replace(found.report, skipped_lines=opened.skipped_lines)
    return CarryOutcome(str(found.context).encode(), report)


def carry_files(
    paths: Sequence[Path], summary: str, policy: CarryPolicy, _threads: int
) -> list[CarryOutcome | InputError | OSError | None]:
    """Return the context of each file, or its error. Threads are not used: they would only wait for one another."""
    found: list[Any] = []
    for path in paths:
        try:
            found.append(carry(read_file(path), summary, policy))
        except (InputError, OSError) as error:
            found.append(error)
    return found


def messages_in(given: Sequence[Any] | bytes) -> Sequence[Any]:
    """Return the messages of a conversation."""
    return open_body(given).messages if isinstance(given, bytes) else given


def dialogue(given: Sequence[Any] | bytes) -> str | None:
    """Return the spoken text of a conversation."""
    return spoken.dialogue(messages_in(given))


def extract_tool_blocks(given: Sequence[Any] | bytes) -> list[ToolBlock] | None:
    """Return every block of a conversation."""
    return context.extract_tool_blocks(messages_in(given))


def message_tokens(given: Sequence[Any] | bytes, encoding: EncodingName) -> list[int] | None:
    """Return the tokens of every message of a conversation; of JSONL, for every line up to the last message."""
    messages = messages_in(given)
    counts = tokens.message_tokens(messages, encoding)
    if counts is None or not isinstance(messages, JsonLines):
        return counts
    last = messages.last_before(len(messages))
    return [] if last is None else counts[: last + 1]


def unread(body: bytes) -> Unread | None:
    """Report the messages of a conversation in bytes whose structure no format knows."""
    return find_unread(open_body(body).messages)


def refuse(job: str) -> Callable[..., NoReturn]:
    """Return the kernel of a job that exists in Rust alone: it raises ``BackendError``."""

    def kernel(*_given: object) -> NoReturn:
        raise BackendError(job)

    return kernel


inspect = refuse("inspect")
project = project_body = refuse("project")
recount = refuse("recount")
