"""``toolcarry inspect``: survey conversations: tokens, counts, sizes and defects."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from toolcarry import inspect
from toolcarry._util.pool import in_threads
from toolcarry.api.survey import count_context, model_in, survey_context
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, FileError
from toolcarry.cli.io import STDIN, Output, check_stdin, for_each_name, read_some
from toolcarry.cli.options import read_choice
from toolcarry.cli.sources import expand, newest_sessions, places_of
from toolcarry.cli.surveyed import Surveyed
from toolcarry.cli.terminal import (
    Screen,
    columns,
    label,
    render,
    strict_findings,
    unread_code,
    unread_note,
)
from toolcarry.errors import InputError
from toolcarry.sessions.agents import AGENTS

SORTS: Final = (
    "file",
    "tokens",
    "messages",
    "calls",
    "results",
    "bytes",
    "duplicates",
    "stale_reads",
    "orphan_calls",
    "orphan_results",
    "errors",
    "bad_lines",
    "last",
)
"""The columns by which files can be sorted: names upwards, numbers and times downwards."""
MOST_SESSIONS: Final = 20
"""The number of sessions that are surveyed if no file is named."""


def inspect_files(
    names: Sequence[str], *, model: str | None, sort: str | None, is_json: bool, is_strict: bool
) -> int:
    """Survey every file and return the exit code."""
    by = None if sort is None else read_choice("--sort", sort.replace("-", "_"), SORTS)
    screen = Screen()
    found = files_of(names, screen)
    surveys: list[Surveyed] = []
    is_detailed = len(found) == 1

    def inspect_one(name: str) -> int:
        surveyed = next(outcomes)
        if isinstance(surveyed, Exception):
            raise surveyed
        survey = surveyed.inspection
        if is_json and by is None:
            out.write_json(surveyed.to_dict())
        else:
            surveys.append(surveyed)
        note = unread_note(survey.unread)
        if note:
            screen.say(f"{label(name)}: {note}")
        code = unread_code(survey.unread, is_strict=is_strict)
        findings = strict_findings(survey.orphan_calls, survey.orphan_results, survey.skipped_lines)
        if not (is_strict and findings):
            return code
        screen.say(f"{label(name)}: {findings}")
        return FAILED

    check_stdin(found)
    out = Output()
    job = partial(survey_or_error, model=model, is_detailed=is_detailed, screen=screen)
    workers = (os.cpu_count() or 1) if len(found) > 1 and STDIN not in found else 1
    outcomes: Iterator[Surveyed | Exception] = map(job, found)
    if workers > 1:
        outcomes = in_threads(found, job, workers)
    code = for_each_name(found, inspect_one, screen, is_free=not (is_json and out.is_terminal))
    if by is not None:
        surveys.sort(key=lambda each: each.key(by))
    if is_json:
        for surveyed in surveys:
            out.write_json(surveyed.to_dict())
    elif surveys:
        from toolcarry.cli.survey_tables import survey_tables  # noqa: PLC0415 - imports rich

        tables = survey_tables(surveys, columns(sys.stdout), by or "")
        out.draw(render(tables, sys.stdout).encode())
    return code


def files_of(names: Sequence[str], screen: Screen) -> list[str]:
    """Return the files that are named; without a name, the newest sessions of the agents on this machine."""
    if names:
        return expand(names, screen)
    found, lines = newest_sessions(os.environ, MOST_SESSIONS)
    for line in lines:
        screen.say(line)
    if not found:
        looked = ", ".join(places_of(agent, os.environ) for agent in AGENTS)
        raise FileError(
            f"no sessions found; name a file or a folder (looked in {looked})", NOT_FOUND
        )
    screen.say(f"the newest {len(found):,}; name a folder for all of its sessions")
    return found


def survey_or_error(
    name: str, model: str | None, *, is_detailed: bool, screen: Screen
) -> Surveyed | Exception:
    """Survey one file, or return the error for which that is not possible."""
    try:
        return survey_file(name, model, is_detailed=is_detailed, screen=screen)
    except (FileError, InputError, MemoryError) as error:
        return error


def survey_file(
    name: str,
    model: str | None,
    *,
    is_detailed: bool,
    data: bytes | None = None,
    screen: Screen | None = None,
) -> Surveyed:
    """Survey one file, whose ``data`` may be given; with ``is_detailed``, all of its context."""
    data = read_some(name, screen) if data is None else data
    survey = inspect(data)
    if is_detailed:
        context = survey_context(data, model=model_in(data) if model is None else model)
    else:
        context = count_context(data, model, survey.shape)
    return Surveyed(name, survey, context, is_detailed)
