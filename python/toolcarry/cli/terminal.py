"""Messages on stderr, and a progress bar for long work on a terminal.

Text of a conversation is made safe before it is shown: no control characters, no escapes, no markup. rich is imported
only to draw a bar or a table.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final, TextIO

from toolcarry._util.plural import counted
from toolcarry.cli.exit_codes import FAILED
from toolcarry.model.text.sanitize import clean_line
from toolcarry.types.unread import Unread
from toolcarry.types.values import Report

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress
LONGEST: Final = 100
"""The maximum number of characters of a name or a title that are shown."""

MANY_FILES: Final = 10
MANY_BYTES: Final = 8_000_000
"""Above either number, the work takes long enough for a progress bar."""

WIDE: Final = 400
"""The columns of a stream that is not a terminal: enough for a table without wrapping."""


def one_line(text: str, limit: int = LONGEST) -> str:
    """Return ``text`` as one line that is safe to print; text that is too long loses its middle.

    >>> one_line("Re\\x1b[31mad\\n")
    'Read\\\\n'
    """
    return clean_line(text, limit)


def label(name: str) -> str:
    """Return a file's name as messages show it."""
    return "stdin" if name == "-" else one_line(name, 400)


def is_terminal(stream: IO[str] | None) -> bool:
    """True if ``stream`` is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # the stream is closed
        return False


def is_dumb() -> bool:
    """True if the terminal can only print lines of plain text."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def make_console(stream: IO[str] | None, file: IO[str]) -> Console:
    """Return a console that writes to ``file`` in the style that ``stream`` can show: plain unless it is a terminal."""
    from rich.console import Console  # noqa: PLC0415 - imports rich, for tables and bars only

    is_seen = is_terminal(stream) and not is_dumb()
    return Console(
        file=file,
        force_terminal=is_seen,
        color_system="auto" if is_seen and not os.environ.get("NO_COLOR") else None,
        width=columns(stream),
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def columns(stream: IO[str] | None) -> int:
    """Return the width of ``stream``: ``COLUMNS``, else the terminal's width, else ``WIDE``."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdecimal() and int(asked[:5]) > 0:
        return max(int(asked[:5]), 20)
    if stream is None or not is_terminal(stream):
        return WIDE
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def render(renderables: Sequence[RenderableType], stream: IO[str] | None) -> str:
    """Return tables and texts as ``stream`` can show them, without trailing spaces."""
    file = io.StringIO()
    console = make_console(stream, file)
    for renderable in renderables:
        console.print(renderable)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def write(stream: TextIO, data: bytes) -> None:
    """Write all of ``data`` (UTF-8) to ``stream``, whatever its encoding, and flush it."""
    stream.flush()
    binary = getattr(stream, "buffer", None)
    if binary is None:
        stream.write(data.decode())
    elif isinstance(binary, io.RawIOBase):  # with PYTHONUNBUFFERED, a write may be partial
        rest = memoryview(data)
        while rest:
            taken = binary.write(rest)
            if not taken:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            rest = rest[taken:]
    else:
        binary.write(data)
    stream.flush()


class Screen:
    """The messages on stderr, printed above the progress bar if there is one."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._sizes: list[int] = []
        self._done = 0

    def say(self, text: str) -> None:
        """Write ``text``, which must be safe to print, and a line break if it has none."""
        if sys.stderr is None:
            return
        if self._bar is not None:
            from rich.text import Text  # noqa: PLC0415 - imports rich, for tables and bars only

            self._bar.console.print(Text.from_ansi(text.rstrip("\n")), soft_wrap=True)
            return
        if sys.stdout is not None:
            sys.stdout.flush()
        data = text if text.endswith("\n") else f"{text}\n"
        write(sys.stderr, data.encode("utf-8", "replace"))

    def show(self, renderables: Sequence[RenderableType]) -> None:
        """Write tables and texts."""
        self.say(render(renderables, sys.stderr))

    @contextmanager
    def progress(self, sizes: Sequence[int], *, is_free: bool) -> Iterator[None]:
        """Show a progress bar over files of these sizes, if the terminal ``is_free`` and the work is long."""
        is_long = len(sizes) > MANY_FILES or sum(sizes) > MANY_BYTES
        if not (is_free and is_long and is_terminal(sys.stderr)) or is_dumb():
            yield
            return
        from rich import progress  # noqa: PLC0415 - imports rich, for tables and bars only

        bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(elapsed_when_finished=True),
            console=make_console(sys.stderr, sys.stderr),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._sizes, self._done = list(sizes), 0
        bar.add_task("", total=sum(sizes) or None)
        with bar:
            self._bar = bar
            try:
                yield
            finally:
                self._bar = None

    def begin(self, name: str) -> None:
        """Show the name of the file that is read."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=one_line(name, 40))

    def move(self, done: int, total: int) -> None:
        """Show the progress within the current file."""
        if self._bar is not None and self._sizes:
            inside = self._sizes[0] * done // max(total, 1)
            self._bar.update(self._bar.task_ids[0], completed=self._done + inside)

    def advance(self) -> None:
        """Count one file as done."""
        if self._bar is not None and self._sizes:
            self._done += self._sizes.pop(0)
            self._bar.update(self._bar.task_ids[0], completed=self._done)


def report_counts(report: Report) -> str:
    """Return the counts of shown, cut, superseded and left out blocks on one line."""
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


def report_notes(report: Report, *, is_strict: bool) -> list[str]:
    """Return warnings about the context; with ``--strict``, skipped lines are reported as findings instead."""
    found = []
    if report.budget_too_small:
        found.append("the limit is too small for a context")
    elif not report.chars_after:
        found.append("nothing to carry")
    if report.summary_cut and not report.budget_too_small:
        found.append("the summary was cut to half of the limit")
    if not is_strict:
        found += filter(None, [skipped_note(report.skipped_lines)])
    return found


def strict_findings(calls: int, results: int, lines: Sequence[int]) -> str:
    """Return the findings that make ``--strict`` fail, as one line; empty if nothing was found."""
    found = [f"{counted(calls, 'call')} without a result"] if calls else []
    found += [f"{counted(results, 'result')} without a call"] if results else []
    return ", ".join([*found, *filter(None, [skipped_note(lines)])])


MOST_KEYS: Final = 6
"""The maximum number of keys of unread messages that a note shows."""


def unread_note(unread: Unread, fate: str = "left out") -> str:
    """Return a note about messages of a structure that no format knows; empty if everything was read.

    ``fate`` says what was done with them.

    >>> from toolcarry.types.unread import Unread, UnreadPlace
    >>> unread_note(Unread(17, 40, (UnreadPlace(3, ("parts", "id", "metadata")),)))
    '17 of 40 messages have a structure that toolcarry does not know (keys: parts, id, metadata); they were left out'
    """
    if not unread:
        return ""
    keys = list(dict.fromkeys(key for place in unread.first for key in place.keys))
    shown = ", ".join(one_line(key) for key in keys[:MOST_KEYS]) + (
        ", ..." if len(keys) > MOST_KEYS else ""
    )
    named = f" (keys: {shown})" if keys else ""
    has, were = ("has", "it was") if unread.count == 1 else ("have", "they were")
    of = f"{unread.count:,} of {counted(unread.total, 'message')}"
    return f"{of} {has} a structure that toolcarry does not know{named}; {were} {fate}"


def unread_code(unread: Unread, *, is_strict: bool) -> int:
    """Return the exit code for unread messages: 1 if there are any with ``--strict``, or if nothing was read."""
    return FAILED if unread.is_everything or (unread and is_strict) else 0


def skipped_note(lines: Sequence[int]) -> str:
    """Return a note about the skipped lines, with the numbers of the first few; empty if there are none."""
    if not lines:
        return ""
    listed = ", ".join(map(str, lines[:5])) + (", ..." if len(lines) > 5 else "")
    return f"{counted(len(lines), 'line')} without a JSON object skipped: {listed}"
