"""The bytes door: bytes are decoded, and the objects door does the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolcarry._pure.context import carry, extract_tool_blocks
from toolcarry._pure.dialogue import dialogue
from toolcarry._pure.inspect import inspect
from toolcarry._pure.text_history.job import RecountCounts, recount
from toolcarry._pure.tokens.messages import message_tokens
from toolcarry.body import open_body
from toolcarry.errors import InputError
from toolcarry.policy import Policy
from toolcarry.types import Counts, EncodingName, Survey, TextMessage, ToolBlock
from toolcarry.unpack import check_end, read_file

if TYPE_CHECKING:
    from pathlib import Path

CarriedBytes = tuple[bytes, Counts, tuple[int, ...]]
"""A context in UTF-8, the counts, and the numbers of the lines that were come by and hold no object."""


def carry_body(body: bytes, summary: str, policy: Policy) -> CarriedBytes:
    """The context of a conversation in bytes."""
    given = open_body(body)
    text, counts = carry(given.messages, summary, policy)
    return text.encode(), counts, given.skipped_lines


def carry_files(
    paths: Sequence[Path], summary: str, policy: Policy, _threads: int
) -> list[CarriedBytes | InputError | OSError]:
    """The context of each file, or why there is none. Python's threads would only wait for one another."""
    found: list[CarriedBytes | InputError | OSError] = []
    for path in paths:
        try:
            check_end(path)
            found.append(carry_body(read_file(path), summary, policy))
        except (InputError, OSError) as error:
            found.append(error)
    return found


def dialogue_body(body: bytes) -> str:
    """What was said in a conversation in bytes."""
    return dialogue(open_body(body).messages)


def extract_tool_blocks_body(body: bytes) -> list[ToolBlock]:
    """Every block of a conversation in bytes."""
    return extract_tool_blocks(open_body(body).messages)


def inspect_body(body: bytes) -> tuple[Survey, tuple[int, ...]]:
    """The survey of a conversation in bytes, and the numbers of the lines that hold no object."""
    given = open_body(body)
    survey = inspect(given.messages)
    return survey, given.skipped_lines


def message_tokens_body(body: bytes, encoding: EncodingName) -> list[int]:
    """The tokens of every message of a conversation in bytes."""
    given = open_body(body)
    counts = message_tokens(given.messages, encoding)
    if given.lines is not given.messages or given.lines is None:
        return counts
    last = given.lines.last_before(len(given.lines))
    return [] if last is None else counts[: last + 1]


def recount_body(
    body: bytes,
    turn_id: str,
    max_result_length: int,
    total: int | None,
    encoding: EncodingName | None,
) -> tuple[list[TextMessage], RecountCounts, tuple[int, ...]]:
    """The text history of a conversation in bytes, its counts, and the numbers of the lines that hold no object."""
    given = open_body(body)
    found, counts = recount(given.messages, (), turn_id, max_result_length, total, encoding)
    return found, counts, given.skipped_lines
