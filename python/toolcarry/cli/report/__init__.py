"""``toolcarry report``: one self-contained page about a session, or about the sessions of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolcarry import inspect
from toolcarry.api.survey import model_in, survey_and_measure
from toolcarry.cli.exit_codes import USAGE, FileError
from toolcarry.cli.io import Output, check_stdin, for_each
from toolcarry.cli.report.folder import Row, sparkline, write_folder
from toolcarry.cli.report.page import Page
from toolcarry.cli.report.prices import read_prices
from toolcarry.cli.report.session import write_session
from toolcarry.cli.sources import expand
from toolcarry.cli.surveyed import Surveyed
from toolcarry.cli.terminal import Screen, label, skipped_note, unread_code, unread_note
from toolcarry.types.policy import ProjectPolicy

INSTALL: Final = "report needs plotly; install it: pip install 'toolcarry[report]'"


def report_files(
    names: Sequence[str],
    *,
    output: str,
    model: str | None,
    is_private: bool,
    policy: ProjectPolicy,
    prices: str | None,
) -> int:
    """Write the page and return the exit code. ``prices`` is the file of a price table."""
    library = plotly_library()
    screen = Screen()
    found = expand(names, screen)
    check_stdin(found)
    table = None if prices is None else read_prices(prices)
    is_folder = len(found) > 1
    if is_folder and table is not None:
        raise FileError("--prices is not allowed with several files; allowed: one session", USAGE)
    page = Page([], [])
    rows: list[Row] = []

    def add_one(name: str, data: bytes) -> int:
        named = model_in(data) if model is None else model
        context, measured = survey_and_measure(data, model=named)
        survey = inspect(data)
        surveyed = Surveyed(name, survey, context, is_detailed=True)
        notes = (unread_note(survey.unread), skipped_note(survey.skipped_lines))
        for note in filter(None, notes):
            screen.say(f"{label(name)}: {note}")
        if is_folder:
            rows.append(Row(surveyed, sparkline(measured)))
        else:
            write_session(page, surveyed, measured, data, is_private=is_private, policy=policy, prices=table)  # fmt: skip
        return unread_code(survey.unread, is_strict=False)

    with Output(output, [*found, *([] if prices is None else [prices])]) as out:
        code = for_each(found, add_one, screen, is_free=True)
        if rows:
            write_folder(page, rows, is_private=is_private)
        if page.body:
            out.write(page.bytes(library))
    return code


def plotly_library() -> str:
    """Return the JavaScript of plotly.js, which goes into the page."""
    try:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "plotly":
            raise
        raise FileError(INSTALL, USAGE) from None
    library: str = get_plotlyjs()
    return library
