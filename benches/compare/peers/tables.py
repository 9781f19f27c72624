"""The rows that the scripts of this folder hand to their driver, and the two tables that are made of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from paired import duration, print_table

TIMES_HEADER = (
    "peer", "job", "new", "known", "known, range", "toolcarry, new", "toolcarry, known", "ratio, new", "ratio, known", "valid",
)  # fmt: skip
LEFT_HEADER = (
    "peer", "job", "messages", "left", "tokens", "left", "toolcarry: messages left", "tokens left", "what is refused first",
)  # fmt: skip


@dataclass
class Row:
    """The measurements of a pair: times and ratios for new and known conversations, messages and tokens of W66.

    ``range`` has the least and the most of the peer's times for known ones.
    ``valid`` counts the outputs that are, of so many ``judged``, and ``problem`` is what is refused in the first that
    is not; ``error`` says why a peer could not be measured at all.
    """

    peer: str
    version: str
    backend: str
    job: str
    seconds: Sequence[float] = ()
    range: Sequence[float] = ()
    our_seconds: Sequence[float] = ()
    ratios: Sequence[float] = ()
    given: Sequence[int] = ()
    left: Sequence[int] = ()
    our_left: Sequence[int] = ()
    judged: int = 0
    valid: int = 0
    problem: str = ""
    is_input_changed: bool = False
    error: str = ""


def print_rows(rows: Sequence[Row]) -> None:
    """Return the table of times and the table of sizes, under the name of toolcarry's backend."""
    backends = sorted({row.backend for row in rows if row.backend})
    print(f"toolcarry's backend: {', '.join(backends) or 'none ran'}\n")
    print_table(TIMES_HEADER, [times_of(row) for row in rows])
    print_table(LEFT_HEADER, [left_of(row) for row in rows if row.left])


def times_of(row: Row) -> list[str]:
    title = [f"{row.peer} {row.version}".strip(), row.job]
    if row.error:
        return [*title, *["-"] * 7, row.error]
    times = [*map(duration, row.seconds), " to ".join(map(duration, row.range))]
    ours = [*map(duration, row.our_seconds), *map(ratio, row.ratios)]
    return [*title, *times, *(ours or ["-"] * 4), verdict(row)]


def ratio(times: float) -> str:
    """Format a ratio, with two digits or more.

    >>> ratio(0.273), ratio(3.14), ratio(1234.5)
    ('0.27', '3.1', '1,234')
    """
    return f"{times:.2f}" if times < 1 else f"{times:,.{0 if times >= 10 else 1}f}"


def verdict(row: Row) -> str:
    if not row.judged:
        return "-"
    said = f"{row.valid} of {row.judged}"
    return f"{said}; it changes its input" if row.is_input_changed else said


def left_of(row: Row) -> list[str]:
    (messages, tokens), (left, tokens_left) = row.given, row.left
    counts = (messages, left, tokens, tokens_left, *row.our_left)
    return [row.peer, row.job, *[f"{count:,}" for count in counts], row.problem or "nothing"]
