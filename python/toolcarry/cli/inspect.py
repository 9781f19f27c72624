"""``toolcarry inspect``: what is in a conversation, what it weighs, and what is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from toolcarry import inspect
from toolcarry.cli.codes import FAILED
from toolcarry.cli.files import check_stdin, for_each
from toolcarry.cli.notes import findings
from toolcarry.cli.output import Output, json_line
from toolcarry.cli.screen import Screen, columns, label, render
from toolcarry.context import Inspection


def inspect_files(names: Sequence[str], *, is_json: bool, is_strict: bool) -> int:
    """Survey every file; the exit code."""
    screen = Screen()
    surveys: list[tuple[str, Inspection]] = []

    def inspect_one(name: str, data: bytes) -> int:
        survey = inspect(data)
        if is_json:
            out.write(json_line({"file": name, **survey.to_dict()}))
        else:
            surveys.append((name, survey))
        found = findings(survey.orphan_calls, survey.orphan_results, survey.skipped_lines)
        if not (is_strict and found):
            return 0
        screen.say(f"{label(name)}: {found}")
        return FAILED

    check_stdin(names)
    out = Output()
    code = for_each(names, inspect_one, screen, is_free=not (is_json and out.is_terminal))
    if surveys:
        from toolcarry.cli.show import survey_tables  # noqa: PLC0415 - slow

        out.write(render(survey_tables(surveys, columns(sys.stdout)), sys.stdout).encode())
    return code
