"""What the commands read: files and stdin, as bytes.

A file that can't be read, or is no conversation, is told on stderr, and the others go on.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolcarry._input.archive import read_file, unpack
from toolcarry.cli.codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.screen import Screen, label, one_line
from toolcarry.errors import InputError

STDIN: Final = "-"


def read(name: str) -> bytes:
    """All bytes of a file, of a folder of events, or of stdin; unpacked where they are packed."""
    with reading():
        if name == STDIN:
            if sys.stdin is None:
                raise FileError("is closed", FAILED)
            return unpack(sys.stdin.buffer.read())
        if not name or "\0" in name:
            raise FileError("no such file", NOT_FOUND)
        return read_file(Path(name))


@contextmanager
def reading() -> Iterator[None]:
    """Where a file is read: what goes wrong is told of the file."""
    try:
        yield
    except BrokenPipeError:  # which is never the file's
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise FileError("no such file", NOT_FOUND) from None
    except IsADirectoryError:
        raise FileError("is a directory without events", FAILED) from None
    except OSError as error:
        raise FileError(f"cannot read: {error.strerror or error}", FAILED) from None


def read_some(name: str) -> bytes:
    """``read``, of a file that holds something."""
    data = read(name)
    if not data or data.isspace():
        raise FileError("is empty", FAILED)
    return data


def for_each(
    names: Sequence[str], job: Callable[[str, bytes], int], screen: Screen, *, is_free: bool
) -> int:
    """Do ``job`` with the name and the bytes of every file; the highest exit code of all."""
    return for_each_name(names, lambda name: job(name, read_some(name)), screen, is_free=is_free)


def for_each_name(
    names: Sequence[str], job: Callable[[str], int], screen: Screen, *, is_free: bool
) -> int:
    """Do ``job`` with the name of every file; the highest exit code of all."""
    worst = 0
    sizes = [found.st_size if (found := regular_file(name)) else 0 for name in names]
    with screen.progress(sizes, is_free=is_free):
        for name in names:
            screen.begin(name)
            try:
                code = job(name)
            except FileError as error:
                code = error.code
                screen.say(f"{label(name)}: {error}")
            except InputError as error:
                code = FAILED
                screen.say(f"{label(name)}: {one_line(str(error), 400)}")
            except MemoryError:
                code = FAILED
                screen.say(f"{label(name)}: does not fit into memory")
            worst = max(worst, code)
            screen.advance()
    return worst


def check_stdin(names: Sequence[str]) -> None:
    """Stdin can be read once only."""
    if names.count(STDIN) > 1:
        raise FileError("-: stdin can be read once only", USAGE)


def regular_file(name: str) -> os.stat_result | None:
    """What is known of a file; ``None`` where it is not there, or no regular one."""
    try:
        found = os.fstat(0) if name == STDIN else Path(name).stat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None
