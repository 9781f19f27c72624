"""``toolcarry recount``: write a conversation as plain turns."""

from __future__ import annotations

from collections.abc import Iterator

from toolcarry import recount
from toolcarry._util.plural import counted
from toolcarry.api.text_history import MAX_RESULT_LENGTH, RecountReport
from toolcarry.cli.exit_codes import FAILED
from toolcarry.cli.io import Output, for_each
from toolcarry.cli.terminal import (
    Screen,
    label,
    skipped_note,
    strict_findings,
    unread_code,
    unread_note,
)
from toolcarry.types.policy import NO_LIMIT
from toolcarry.types.values import EncodingName


def recount_file(
    name: str,
    *,
    max_result_length: int | None,
    max_tokens: int | None,
    encoding: EncodingName,
    output: str | None,
    is_json: bool,
    is_strict: bool,
) -> int:
    """Write the text history of a file and return the exit code."""
    screen = Screen()
    length = MAX_RESULT_LENGTH if max_result_length is None else max_result_length
    total = None if max_tokens == NO_LIMIT else max_tokens

    def recount_one(name: str, data: bytes) -> int:
        recounted = recount(data, max_result_length=length, max_tokens=total, encoding=encoding)
        report = recounted.report
        if is_json:
            record = {"file": name, "messages": recounted.messages, "report": report.to_dict()}
            out.write_json(record)
        else:
            out.write_json(recounted.messages)
            for note in notes(report, is_strict=is_strict):
                screen.say(f"{label(name)}: {note}")
        lines = report.skipped_lines
        found = (
            strict_findings(report.orphan_calls, report.orphan_results, lines) if is_strict else ""
        )
        for line in filter(None, (unread_note(report.unread), found)):
            screen.say(f"{label(name)}: {line}")
        return FAILED if found else unread_code(report.unread, is_strict=is_strict)

    with Output(output, [name]) as out:
        return for_each([name], recount_one, screen, is_free=not out.is_terminal)


def notes(report: RecountReport, *, is_strict: bool) -> Iterator[str]:
    """Yield lines about the messages and results that were cut or left out.

    With ``--strict``, skipped lines are reported as findings instead.
    """
    size = counted(report.chars_after, "character")
    if report.tokens_after is not None:
        size += f", {counted(report.tokens_after, 'token')}"
    yield f"{counted(report.messages, 'message')}, {counted(report.calls, 'call')}; {size}"
    fates = (
        (report.cut, "cut to the limit for one result"),
        (report.cut_further, "cut further to fit the total limit"),
        (report.shortened, "left out to fit the total limit, except for the call"),
    )
    for number, what in fates:
        if number:
            yield f"{counted(number, 'result')} {what}"
    if report.left_out:
        gone = counted(report.calls_left_out, "call")
        yield f"{counted(len(report.left_out), 'message')} left out to fit the total limit, with {gone}"
    if report.budget_too_small:
        yield "the limit is too small for a history"
    if report.skipped_lines and not is_strict:
        yield skipped_note(report.skipped_lines)
