"""``toolcarry watch``: show how a session fills its context, while it grows."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolcarry._input.archive import read_file
from toolcarry._input.document import loads_line
from toolcarry._util.plural import counted
from toolcarry.api.survey import survey_context
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.io import STDIN, Output, json_line, reading
from toolcarry.cli.terminal import Screen, columns, is_dumb, label, make_console, one_line, render
from toolcarry.errors import InputError
from toolcarry.types.results import ContextSurvey

if TYPE_CHECKING:
    from rich.console import RenderableType

LOOK_EVERY: Final = 0.25
"""Seconds between two looks at the file."""
REST: Final = 3
"""After a survey that took a second, the next one waits at least this number of seconds."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of the file: a survey of it, or the reason why there is none.

    ``is_open`` is true if the reason may be that the file is still being written.
    """

    survey: ContextSurvey | None
    reason: str = ""
    is_open: bool = False


def watch_file(name: str, *, model: str | None, is_json: bool) -> int:
    """Show the figures of a file whenever it changes, until an interrupt."""
    if name == STDIN:
        raise FileError("-: stdin can't be watched; name a file", USAGE)
    path = Path(name)
    if path.is_dir():
        raise FileError(f"{label(name)}: is a directory", FAILED)
    if not path.exists():
        raise FileError(f"{label(name)}: no such file", NOT_FOUND)
    out = Output()
    if is_json or not out.is_terminal or is_dumb():
        write_lines(path, model, out, is_json=is_json)
    else:
        show(path, model)
    return 0


def write_lines(path: Path, model: str | None, out: Output, *, is_json: bool) -> None:
    """Write one line for each change."""
    screen = Screen()
    said = ""
    for seen in looks(path, model):
        if seen.survey is None:
            if seen.reason != said:
                screen.say(f"{label(str(path))}: {seen.reason}")
        elif is_json:
            out.write(json_line({"file": str(path), "time": now().isoformat(), **seen.survey.to_dict()}))  # fmt: skip
        else:
            out.write(f"{now():%H:%M:%S}  {line_of(seen.survey)}\n".encode("utf-8", "replace"))
        said = seen.reason


def line_of(survey: ContextSurvey) -> str:
    """Return the figures of a session on one line."""
    parts = [f"{'' if survey.exact else 'about '}{counted(survey.tokens, 'token')}"]
    if survey.usage is not None:
        parts.append(survey.usage.label.removesuffix("."))
    results = sum(amount.count for amount in survey.results.values())
    unneeded = results - survey.results["needed"].count
    parts.append(f"{counted(results, 'result')}, {unneeded:,} not needed")
    for heaviest in survey.heaviest[:1]:
        what = one_line(f"{heaviest.tool_name} {heaviest.title}", 60)
        parts.append(f"heaviest {what}: {heaviest.tokens:,}")
    return "; ".join(parts)


def show(path: Path, model: str | None) -> None:
    """Draw the figures on the terminal, and draw them again after each change."""
    from rich.live import Live  # noqa: PLC0415 - imports rich

    console = make_console(sys.stdout, sys.stdout)
    with Live(
        console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    ) as live:
        for seen in looks(path, model):
            live.update(view(path, seen, columns(sys.stdout), console.size.height), refresh=True)


def view(path: Path, seen: Seen, width: int, height: int) -> RenderableType:
    """Return the figures as tables that fit the terminal; of the results as many as there is room for."""
    from rich.console import Group  # noqa: PLC0415 - imports rich
    from rich.text import Text  # noqa: PLC0415 - imports rich

    from toolcarry.cli import survey_tables  # noqa: PLC0415 - imports rich

    head = Text(f"{label(str(path))}  {now():%H:%M:%S} UTC", "bold")
    survey = seen.survey
    if survey is None:
        return Group(head, Text(seen.reason))
    shown: list[RenderableType] = [
        head,
        survey_tables.context_fields(survey),
        *bar(survey, width),
        "",
    ]
    shown += [survey_tables.parts_and_states(survey, width), ""]
    for count in range(len(survey.heaviest), 0, -1):
        tables = [*shown, survey_tables.heaviest_table(survey.heaviest[:count], width)]
        if len(render(tables, sys.stdout).splitlines()) < height:
            return Group(*tables)
    return Group(*shown[:-1])


def bar(survey: ContextSurvey, width: int) -> list[RenderableType]:
    """Return a bar of the used part of the window, if the window is known."""
    from rich.progress_bar import ProgressBar  # noqa: PLC0415 - imports rich

    usage = survey.usage
    if usage is None:
        return []
    style = "red" if usage.level in ("nearly_full", "over") else "green"
    used = min(usage.used, usage.limit)
    return [ProgressBar(usage.limit, used, width=min(width, 60), complete_style=style, finished_style=style)]  # fmt: skip


def looks(path: Path, model: str | None) -> Iterator[Seen]:
    """Yield the state of a file at once and after each change: more bytes, another file of this name, or none.

    An incomplete last line, or an incomplete document, changes nothing until it is complete, so that figures never
    cover half a record.
    """
    known: object = None
    is_surveyed = False
    while True:
        found = identity(path)
        if found != known:
            known = found
            begun = time.monotonic()
            seen = survey_of(path, model)
            if not (seen.is_open and is_surveyed):
                yield seen
            is_surveyed = is_surveyed or seen.survey is not None
            time.sleep(REST * (time.monotonic() - begun))
        time.sleep(LOOK_EVERY)


def identity(path: Path) -> tuple[int, int, int] | str:
    """Return what changes with a file's content: its inode, its size and its time; ``none`` if there is no file."""
    try:
        found = os.stat(path)  # noqa: PTH116 - this is done often
    except OSError:
        return "none"
    return found.st_ino, found.st_size, found.st_mtime_ns


def survey_of(path: Path, model: str | None) -> Seen:
    """Survey a file."""
    data = b""
    try:
        with reading():
            data = read_file(path)
        if not data or data.isspace():
            return Seen(None, "is empty", is_open=True)
        return Seen(survey_context(whole_lines(data), model=model))
    except FileError as error:
        return Seen(None, str(error))
    except InputError as error:
        return Seen(None, one_line(str(error), 400), is_open=not data.endswith(b"\n"))


def whole_lines(data: bytes) -> bytes:
    """Return a session file without a last line that has no end yet; a document unchanged.

    >>> whole_lines(b'{"uuid": "1"}\\n{"uuid": {}'), whole_lines(b'{"messages": []}')
    (b'{"uuid": "1"}\\n', b'{"messages": []}')
    """
    end = data.rfind(b"\n") + 1
    last = data[end:]
    is_cut = end and last.startswith(b"{") and loads_line(last) is None
    return data[:end] if is_cut else data


def now() -> datetime:
    return datetime.now(UTC)
