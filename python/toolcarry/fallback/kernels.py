"""The kernels of the fallback, under the same names as in ``toolcarry._backend._core``.

The kernels for bytes decode them, and call the kernels for objects. Those of jobs that exist in Rust alone refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec.structs import replace

from toolcarry._input.archive import read_file
from toolcarry._input.body_spans import split_body
from toolcarry._input.document import open_body
from toolcarry._input.objects import are_plain
from toolcarry._input.value_count import has_many_values
from toolcarry.errors import BackendError, InputError, NeedsImport
from toolcarry.fallback.context import carry, extract_tool_blocks
from toolcarry.fallback.dialogue import dialogue
from toolcarry.fallback.tokens.messages import message_tokens
from toolcarry.model.pairing import find_unread
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.unread import Unread
from toolcarry.types.values import CarriedBytes, EncodingName, ToolBlock

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
    "carry_body",
    "carry_files",
    "count_texts",
    "count_tokens",
    "deduplicate_tools",
    "dialogue",
    "dialogue_body",
    "explain",
    "extract_tool_blocks",
    "extract_tool_blocks_body",
    "format_tool_context",
    "has_cut_word",
    "has_many_values",
    "has_side_effects",
    "inspect",
    "inspect_body",
    "message_tokens",
    "message_tokens_body",
    "project",
    "project_body",
    "read_lines",
    "recount",
    "recount_body",
    "resize_token_memo",
    "split_body",
    "truncate",
    "truncate_tokens",
    "unread_body",
]


def carry_body(body: bytes, summary: str, policy: CarryPolicy) -> CarriedBytes:
    """Return the context of a conversation in bytes."""
    given = open_body(body)
    text, report = carry(given.messages, summary, policy)
    return text.encode(), replace(report, skipped_lines=given.skipped_lines)


def carry_files(
    paths: Sequence[Path], summary: str, policy: CarryPolicy, _threads: int
) -> list[CarriedBytes | InputError | OSError]:
    """Return the context of each file, or its error. Threads are not used: they would only wait for one another.

    For a file that must be imported, the list has a ``NeedsImport``, which ``toolcarry.importers`` replaces.
    """
    found: list[Any] = []
    for path in paths:
        body = b""
        try:
            body = read_file(path)
            found.append(carry_body(body, summary, policy))
        except NeedsImport:
            is_here_again = path.is_file() or path.is_dir()
            found.append(NeedsImport(None if is_here_again else body))
        except (InputError, OSError) as error:
            found.append(error)
    return found


def dialogue_body(body: bytes) -> str:
    """Return the spoken text of a conversation in bytes."""
    return dialogue(open_body(body).messages)


def extract_tool_blocks_body(body: bytes) -> list[ToolBlock]:
    """Return every block of a conversation in bytes."""
    return extract_tool_blocks(open_body(body).messages)


def message_tokens_body(body: bytes, encoding: EncodingName) -> list[int]:
    """Return the tokens of every message of a conversation in bytes."""
    given = open_body(body)
    counts = message_tokens(given.messages, encoding)
    if given.lines is not given.messages or given.lines is None:
        return counts
    last = given.lines.last_before(len(given.lines))
    return [] if last is None else counts[: last + 1]


def unread_body(body: bytes) -> Unread:
    """Report the messages of a conversation in bytes whose structure no format knows."""
    return find_unread(open_body(body).messages)


def refuse(job: str) -> Callable[..., NoReturn]:
    """Return the kernel of a job that exists in Rust alone: it raises ``BackendError``."""

    def kernel(*_given: object) -> NoReturn:
        raise BackendError(job)

    return kernel


inspect = inspect_body = refuse("inspect")
project = project_body = refuse("project")
recount = recount_body = refuse("recount")
