"""``toolcarry project``: write a smaller request body or, with ``--diff``, show the replaced parts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from toolcarry import project_body, resolve
from toolcarry._util.plural import counted
from toolcarry.cli.exit_codes import FAILED
from toolcarry.cli.io import Output, for_each
from toolcarry.cli.request import Request, advice, as_request, counted_from_one, tell
from toolcarry.cli.terminal import (
    Screen,
    label,
    one_line,
    render,
    skipped_note,
    unread_code,
    unread_note,
)
from toolcarry.errors import InputError
from toolcarry.model.marker import marker_of
from toolcarry.types.mends import MENDS
from toolcarry.types.policy import ProjectPolicy
from toolcarry.types.results import ProjectedBody
from toolcarry.types.values import Decision, Mend, ProjectReport, Replacement

if TYPE_CHECKING:
    from rich.text import Text

LINES_SHOWN: Final = 3
"""The most removed lines that ``--diff`` shows of one result; the number of the others follows."""
REASONS: Final = {
    "later_read": "read again later",
    "later_edit": "edited again later",
    "later_run": "run again later",
    "later_call": "called again later",
    "earlier_call": "called before",
    "rule": "left out by a rule",
    "cut": "cut to its limit",
    "shortened": "shortened to its limit by its content",
    "terminal": "without colours and progress",
    "cut_text": "cut to its limit, with media kept",
    "cleared": "cleared to make room",
    "dropped": "dropped with its call",
    "read_again": "argument cleared, since the file was read later",
    "later_write": "argument cleared, since the file was written later",
    "applied_edit": "old text of an edit cleared",
    "failed_input": "argument of a failed call cleared",
}
"""The wording of each reason for replacing a result, or an argument of a call."""


def project_file(
    name: str,
    *,
    policy: ProjectPolicy,
    output: str | None,
    is_diff: bool,
    is_json: bool,
    is_strict: bool,
) -> int:
    """Write the projection of a body and return the exit code."""
    screen = Screen()

    def project_one(name: str, data: bytes) -> int:
        request = as_request(data, policy.destination)
        projected = project_body(request.body, policy=policy)
        report = projected.report
        if report.untouched and not report.blocks:  # else it was read
            raise InputError(f"is not a request: {report.untouched}{advice(data)}")
        if is_json:
            out.write_json({"file": name, "report": report.to_dict(), **request.to_dict()})
        elif is_diff:
            text = render(
                difference(request.body, projected), sys.stdout if out.is_terminal else None
            )
            if text:
                out.draw(text.encode("utf-8", "replace"))
        else:
            body = projected.body
            is_open = out.is_terminal and not body.endswith(b"\n")
            out.write(body + b"\n" if is_open else body)
        lines = [] if is_json else [*tell(request.losses), *summary(report)]
        complaints = faults(report, request) if is_strict else []
        notes = (unread_note(request.unread), unread_note(report.unread, "left unchanged"))
        for line in [*lines, *complaints, *filter(None, notes)]:
            screen.say(f"{label(name)}: {line}")
        codes = [unread_code(each, is_strict=is_strict) for each in (request.unread, report.unread)]
        return FAILED if complaints else max(codes)

    with Output(output, [name]) as out:
        return for_each([name], project_one, screen, is_free=not out.is_terminal)


def summary(report: ProjectReport) -> list[str]:
    """Return a few lines about the replacements, the repairs and the sizes."""
    counts = [f"{count:,} {REASONS[reason]}" for reason, count in report.reasons.items()]
    results = report.blocks - report.orphan_calls
    why = f" ({', '.join(counts)})" if counts else ""
    sizes = f"{counted(report.chars_before, 'character')} of results, now {report.chars_after:,}"
    lines = [f"{len(report.replacements):,} of {counted(results, 'result')} replaced{why}; {sizes}"]
    if report.older_images:
        lines.append(f"{counted(len(report.older_images), 'older image')} left out")
    if report.tokens_before is not None and report.tokens_after is not None:
        lines.append(f"{counted(report.tokens_before, 'token')}, now {report.tokens_after:,}")
    kinds: dict[str, int] = {}
    for mend in report.mends:
        kinds[mend.kind] = kinds.get(mend.kind, 0) + 1
    lines += [f"{MENDS[kind]}: {count:,}" for kind, count in kinds.items()]
    if report.untouched:
        lines.append(report.untouched)
    if report.not_repaired:
        rest = counted_from_one(report.not_repaired)
        lines.append(f"not repaired, because no rule covers this: {rest}")
    if report.over_budget:
        lines.append(f"the results exceed their total limit by {report.over_budget:,}")
    if report.over_request:
        lines.append(f"the request exceeds its limit by {counted(report.over_request, 'token')}")
    return lines


def faults(report: ProjectReport, request: Request) -> list[str]:
    """Return the problems that make ``--strict`` fail."""
    found = []
    if request.skipped_lines:
        found.append(skipped_note(request.skipped_lines))
    if not report.mends and (report.orphan_calls or report.orphan_results):
        found.append(
            f"calls without a result: {report.orphan_calls:,}, results without a call: {report.orphan_results:,}"
        )
    if report.over_budget or report.over_request:
        found.append("a limit is exceeded")
    return found


def difference(data: bytes, projected: ProjectedBody) -> list[Text]:
    """Return the replacements and repairs as lines that begin with ``-`` and ``+``."""
    lines: list[Text] = []
    report, made = projected.report, projected.decisions.made
    for replacement in report.replacements:
        lines += replaced(data, replacement, made.get(replacement.reference))
    for image in report.older_images:
        lines += styled(
            [
                (f"message {image.position + 1:,}: older image", "bold"),
                (f"+ {one_line(image.line, 400)}", "green"),
            ]
        )
    for mend in report.mends:
        lines += mended(mend)
    return lines


def replaced(data: bytes, replacement: Replacement, decision: Decision | None) -> list[Text]:
    """Return the removed lines of one result and the marker that replaces them."""
    size = replacement.end - replacement.start
    head = (
        f"message {replacement.position + 1:,}, {one_line(replacement.tool_name)} "
        f"{one_line(replacement.reference)}: {REASONS.get(replacement.reason, replacement.reason)}, "
        f"{size:,} of {counted(replacement.chars_before, 'character')}"
    )
    try:
        gone = resolve(data, replacement.reference)[replacement.start : replacement.end]
    except InputError:
        gone = ""
    rows = gone.splitlines()
    removed = [f"- {one_line(row)}" for row in rows[:LINES_SHOWN]]
    if len(rows) > LINES_SHOWN:
        removed.append(f"- ... {counted(len(rows) - LINES_SHOWN, 'more line')}")
    added: list[str] = []
    if decision is not None and replacement.reason != "dropped":
        marker = marker_of(decision, replacement.chars_before, replacement.reference)
        added.append(f"+ {one_line(marker, 400)}")
    return styled(
        [(head, "bold"), *((row, "red") for row in removed), *((row, "green") for row in added)]
    )


def mended(mend: Mend) -> list[Text]:
    """Return a line about one repair."""
    place = "" if mend.position is None else f"message {mend.position + 1:,}"
    call = f", call {one_line(mend.call_id)}" if mend.call_id else ""
    detail = f" ({one_line(mend.detail)})" if mend.detail else ""
    return styled([(f"{place}{call}: {MENDS[mend.kind]}{detail}", "yellow")])


def styled(rows: Sequence[tuple[str, str]]) -> list[Text]:
    from rich.text import Text  # noqa: PLC0415 - imports rich

    return [Text(row, style=style) for row, style in rows]
