"""Rows about conversations: one for each, even if it fails. ``toolcarry batch`` and the functions on tables share
them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from toolcarry._input.sources import check_content, read_source, reason_of
from toolcarry.api.context import carry
from toolcarry.api.inspection import inspect
from toolcarry.api.survey import count_context
from toolcarry.errors import InputError
from toolcarry.model.text.sanitize import clean_line
from toolcarry.types.policy import CarryPolicy

__all__ = [
    "CARRIED",
    "FILE_COLUMNS",
    "INSPECTED",
    "Row",
    "carried",
    "inspected",
    "make_row",
    "read_path",
    "stamp",
]

Row = dict[str, Any]

FILE_COLUMNS: Final[Mapping[str, type]] = {"file": str, "size": int, "modified": str, "error": str}
"""The first columns of each row."""
COUNTS: Final = (
    "messages", "calls", "results", "errors", "orphan_calls", "orphan_results", "duplicate_results", "repeated_records",
    "duplicates", "stale_reads", "side_chain_blocks", "other_branch_blocks", "bytes", "chars",
)  # fmt: skip
INSPECTED: Final[Mapping[str, type]] = {
    "shape": str,
    **dict.fromkeys(COUNTS, int),
    "skipped_lines": int,
    "unread": int,
    "tokens": int,
    "compacted": int,
    "exact": bool,
    "model": str,
    "session_id": str,
    "directory": str,
    "first": str,
    "last": str,
}
"""The columns of a survey."""
CARRIED: Final[Mapping[str, type]] = {
    "text": str,
    "shown": int,
    "walked": int,
    "left_out": int,
    "skipped_lines": int,
    "unread": int,
}
"""The columns of a carry-over context."""
LONGEST_ERROR: Final = 400


def make_row(columns: Mapping[str, type], facts: Row, job: Callable[[], Row]) -> Row:
    """Return a row with the facts about a file, and either the columns of a job or its error."""
    row = dict.fromkeys(columns) | facts
    try:
        row |= job()
    except InputError as error:
        row["error"] = clean_line(str(error), LONGEST_ERROR)
    except MemoryError:
        row["error"] = "does not fit into memory"
    return row


def inspected(data: bytes) -> Row:
    """Return the columns of a survey."""
    survey = inspect(data)
    context = count_context(data, None, survey.shape)
    facts = context.session.to_dict()
    return {
        "shape": survey.shape,
        **{each: getattr(survey, each) for each in COUNTS},
        "skipped_lines": len(survey.skipped_lines),
        "unread": survey.unread.count,
        **{each: getattr(context, each) for each in ("tokens", "compacted", "exact", "model")},
        **{each: facts[each] for each in ("session_id", "directory", "first", "last")},
    }


def carried(data: bytes, policy: CarryPolicy) -> Row:
    """Return the columns of a context."""
    found = carry(data, policy=policy)
    report = found.report
    counts = {each: getattr(report, each) for each in ("shown", "walked", "left_out")}
    counts["skipped_lines"] = len(report.skipped_lines)
    return {"text": found.text, **counts, "unread": report.unread.count}


def read_path(name: str) -> bytes:
    """Return the conversation of a path, decompressed. Raises ``InputError`` if it can't be read, or is empty."""
    if not name or "\0" in name:
        raise InputError("no such file", None)
    try:
        return check_content(read_source(Path(name)).body)
    except OSError as error:
        raise InputError(reason_of(error), None) from None


def stamp(name: str) -> tuple[int, str]:
    """Return the size and the modification time of a file; zero and an empty string if there is no file.

    ``STORE#ID`` has those of the store.
    """
    try:
        found = os.stat(name)  # noqa: PTH116 - a Path can't be made of every name, and an empty one is a folder
    except (OSError, ValueError):
        return stamp(name.rpartition("#")[0]) if "#" in name else (0, "")
    seconds, rest = divmod(found.st_mtime_ns, 1_000_000_000)
    return found.st_size, f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"
