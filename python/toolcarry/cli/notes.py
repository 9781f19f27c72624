"""What is said of a file on stderr, in words."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry._util.plural import counted
from toolcarry.types import Report


def counts(report: Report) -> str:
    """What became of the blocks, on one line."""
    parts = [f"{report.shown:,} of {report.walked:,}{'' if report.walked_all else '+'} shown"]
    parts += [f"{report.cut:,} of them cut"] if report.cut else []
    for what, number in (
        ("superseded", sum(report.superseded.values())),
        ("excluded", sum(report.excluded.values())),
        ("left out", report.left_out),
    ):
        parts += [f"{number:,} {what}"] if number else []
    size = counted(report.chars_after, "character")
    if report.tokens_after is not None:
        size += f", {counted(report.tokens_after, 'token')}"
    return f"{', '.join(parts)}; {size}"


def notes(report: Report, *, is_strict: bool) -> list[str]:
    """What a reader of the context should know beside it; what ``--strict`` says is left to it."""
    found = []
    if report.budget_too_small:
        found.append("the limit is too small for a context")
    elif not report.chars_after:
        found.append("nothing to carry")
    if report.summary_cut and not report.budget_too_small:
        found.append("the summary was cut to half of the limit")
    if report.skipped_lines and not is_strict:
        found.append(skipped(report.skipped_lines))
    return found


def findings(calls: int, results: int, lines: Sequence[int]) -> str:
    """What ``--strict`` complains of; empty where there is nothing."""
    found = [f"{counted(calls, 'call')} without result"] if calls else []
    found += [f"{counted(results, 'result')} without call"] if results else []
    found += [skipped(lines)] if lines else []
    return ", ".join(found)


def skipped(lines: Sequence[int]) -> str:
    """Which lines were skipped: the first few by number."""
    listed = ", ".join(map(str, lines[:5])) + (", ..." if len(lines) > 5 else "")
    return f"{counted(len(lines), 'line')} skipped, no JSON object: {listed}"
