"""``toolcarry inspect``: survey conversations: counts, sizes and defects."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Final

from toolcarry import inspect
from toolcarry.api.context import Inspection
from toolcarry.api.context_usage import ContextUsage, context_usage, window_of
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

MODEL: Final = re.compile(rb'"model"\s*:\s*"([^"\\\s]{1,100})"')


def usage_in(data: bytes) -> ContextUsage | None:
    """Return how much of its model's window a conversation takes; ``None`` if it names no model with a known window.

    The last model that is named counts, since a session may change its model.
    """
    named = [name.decode("utf-8", "replace") for name in MODEL.findall(data)]
    model = next((name for name in reversed(named) if window_of(name) is not None), None)
    return None if model is None else context_usage(data, model=model)


def inspect_files(names: Sequence[str], *, is_json: bool, is_strict: bool) -> int:
    """Survey every file and return the exit code."""
    screen = Screen()
    surveys: list[tuple[str, Inspection]] = []
    usage: ContextUsage | None = None

    def inspect_one(name: str, data: bytes) -> int:
        nonlocal usage
        survey = inspect(data)
        if is_json:
            out.write(json_line({"file": name, **survey.to_dict()}))
        else:
            surveys.append((name, survey))
            # Counting the tokens of many files would take most of the time.
            usage = usage_in(data) if len(names) == 1 else None
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

        tables = survey_tables(surveys, columns(sys.stdout), usage)
        out.draw(render(tables, sys.stdout).encode())
    return code
