"""``toolcarry inspect``: survey conversations: counts, sizes and defects."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from toolcarry import inspect
from toolcarry.api.context import Inspection
from toolcarry.cli.exit_codes import FAILED
from toolcarry.cli.io import Output, check_stdin, for_each, json_line
from toolcarry.cli.terminal import (
    Screen,
    columns,
    label,
    render,
    strict_findings,
    unread_code,
    unread_note,
)


def inspect_files(names: Sequence[str], *, is_json: bool, is_strict: bool) -> int:
    """Survey every file and return the exit code."""
    screen = Screen()
    surveys: list[tuple[str, Inspection]] = []

    def inspect_one(name: str, data: bytes) -> int:
        survey = inspect(data)
        if is_json:
            out.write(json_line({"file": name, **survey.to_dict()}))
        else:
            surveys.append((name, survey))
        note = unread_note(survey.unread)
        if note:
            screen.say(f"{label(name)}: {note}")
        code = unread_code(survey.unread, is_strict=is_strict)
        found = strict_findings(survey.orphan_calls, survey.orphan_results, survey.skipped_lines)
        if not (is_strict and found):
            return code
        screen.say(f"{label(name)}: {found}")
        return FAILED

    check_stdin(names)
    out = Output()
    code = for_each(names, inspect_one, screen, is_free=not (is_json and out.is_terminal))
    if surveys:
        from toolcarry.cli.tables import survey_tables  # noqa: PLC0415 - imports rich

        out.draw(render(survey_tables(surveys, columns(sys.stdout)), sys.stdout).encode())
    return code
