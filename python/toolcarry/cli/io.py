"""The input and output of commands: reads files and stdin as bytes; writes to stdout, or replaces a file as a whole.

A file that can't be read, or is not a conversation, is reported on stderr, and the command goes on with the next one.
Output is UTF-8 in every locale. A terminal gets the controls in it as text; a pipe and a file get every byte.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from toolcarry._input.archive import check_end, read_file, unpack
from toolcarry._pure.text.sanitize import DIRTY
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.terminal import Screen, is_terminal, label, one_line, write
from toolcarry.errors import InputError

STDIN: Final = "-"


def read(name: str) -> bytes:
    """Return all bytes of a file, of a folder of events, or of stdin, decompressed if they are compressed.

    Raises ``FileError`` if it can't be read or decompressed, or may never end.
    """
    try:
        return read_input(name)
    except InputError as error:
        raise FileError(one_line(str(error), 400), FAILED) from None


def read_input(name: str) -> bytes:
    with reading():
        if name == STDIN:
            if sys.stdin is None:
                raise FileError("is closed", FAILED)
            if not os.isatty(0):
                check_end(0)
            return unpack(sys.stdin.buffer.read())
        if not name or "\0" in name:
            raise FileError("no such file", NOT_FOUND)
        return read_file(Path(name))


@contextmanager
def reading() -> Iterator[None]:
    """Turn the errors of reading a file into ``FileError``."""
    try:
        yield
    except BrokenPipeError:  # comes from stdout, never from the file
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise FileError("no such file", NOT_FOUND) from None
    except IsADirectoryError:
        raise FileError("is a directory without events", FAILED) from None
    except OSError as error:
        raise FileError(f"cannot read: {error.strerror or error}", FAILED) from None


def read_some(name: str) -> bytes:
    """Return the bytes of a file, and raise ``FileError`` if it is empty or blank."""
    data = read(name)
    if not data or data.isspace():
        raise FileError("is empty", FAILED)
    return data


def for_each(
    names: Sequence[str], job: Callable[[str, bytes], int], screen: Screen, *, is_free: bool
) -> int:
    """Call ``job`` with the name and the bytes of every file, and return the highest exit code."""
    return for_each_name(names, lambda name: job(name, read_some(name)), screen, is_free=is_free)


def for_each_name(
    names: Sequence[str], job: Callable[[str], int], screen: Screen, *, is_free: bool
) -> int:
    """Call ``job`` with the name of every file, and return the highest exit code."""
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
    """Raise ``FileError`` if stdin is named twice, since it can be read only once."""
    if names.count(STDIN) > 1:
        raise FileError("-: stdin can be read only once", USAGE)


def regular_file(name: str) -> os.stat_result | None:
    """Return the ``stat`` result of a regular file; ``None`` if there is no file or it is another kind."""
    try:
        found = os.fstat(0) if name == STDIN else Path(name).stat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def json_line(value: object) -> bytes:
    """Return ``value`` as JSON on one line, with control characters and lone surrogates escaped.

    >>> json_line({"tool": "Re\\x9bad é"}).decode()
    '{"tool":"Re\\\\u009bad é"}\\n'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{DIRTY.sub(escape, text)}\n".encode()


def escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def visible(data: bytes) -> bytes:
    """Return ``data`` as a terminal may show it: controls and bytes that are not UTF-8 as JSON and Python write them.

    Nothing is left out, and JSON keeps its meaning.

    >>> visible(b"\x1b]0;x\x07\xff\n")
    b'\\\\u001b]0;x\\\\u0007\\\\xff\\n'
    """
    return DIRTY.sub(escape, data.decode("utf-8", "backslashreplace")).encode()


class Output:
    """A context manager that writes to stdout or to a file.

    A file replaces the old one at the end, if something was written and nothing failed.
    """

    def __init__(self, name: str | None = None, inputs: Sequence[str] = ()) -> None:
        self.is_terminal = False
        self._file: IO[bytes] | None = None
        self._target: Path | None = None
        self._temporary: Path | None = None
        self._is_written = False
        if name is not None and name != STDIN:
            self._open(name, inputs)
        elif sys.stdout is None:
            raise FileError("stdout is closed", FAILED)
        else:
            self.is_terminal = is_terminal(sys.stdout)

    def _open(self, name: str, inputs: Sequence[str]) -> None:
        shown = f"-o {label(name)}"
        found = regular_file(name)
        for other in inputs:
            given = regular_file(other)
            if found is not None and given is not None and os.path.samestat(found, given):
                raise FileError(f"{shown}: is the input file {label(other)}", USAGE)
        path = Path(name)
        try:
            if path.is_dir():
                raise FileError(f"{shown}: is a directory", USAGE)
            if is_store(path.resolve()):
                raise FileError(f"{shown}: is a store, which is never overwritten", USAGE)
            if found is None and path.exists():
                self._file = path.open("wb")  # write into a device or a pipe, don't replace it
                self.is_terminal = self._file.isatty()
                return
            self._target = path.resolve()  # replace the target of a link, not the link
            handle, temporary = tempfile.mkstemp(
                ".tmp", f".{self._target.name[:40]}.", self._target.parent
            )
            self._temporary = Path(temporary)
            self._file = os.fdopen(handle, "wb")
            self._temporary.chmod(stat.S_IMODE(found.st_mode) if found else 0o666 & ~umask())
        except FileNotFoundError:
            raise FileError(f"{shown}: no such directory", NOT_FOUND) from None
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FileError(f"{shown}: cannot write: {reason}", FAILED) from None

    def write(self, data: bytes) -> None:
        """Write content: every byte of it, except to a terminal, which gets it ``visible``."""
        self.draw(visible(data) if self.is_terminal else data)

    def draw(self, data: bytes) -> None:
        """Write tables and texts of ``render``, with their colours; their cells are safe to print.

        Stdout is flushed at once, to keep its order with stderr.
        """
        self._is_written = True
        if self._file is not None:
            self._file.write(data)
            return
        write(sys.stdout, data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is None:
            return
        is_done = kind is None and self._is_written
        try:
            with self._file:
                if is_done and self._target is not None:
                    self._file.flush()
                    os.fsync(self._file.fileno())
            if is_done and self._target is not None and self._temporary is not None:
                self._temporary.replace(self._target)
        finally:
            if self._temporary is not None:
                with suppress(OSError):
                    self._temporary.unlink(missing_ok=True)


SQLITE: Final = b"SQLite format 3\0"
"""The first bytes of a SQLite file (https://www.sqlite.org/fileformat.html)."""
NEXT_TO_A_STORE: Final = ("-wal", "-shm", "-journal")
"""The ends of the names of the files that SQLite keeps next to a store, and recovers it from."""


def is_store(path: Path) -> bool:
    """Return true for a SQLite file, which may be a history, and for the files that belong to one."""
    for end in ("", *NEXT_TO_A_STORE):
        store = Path(str(path).removesuffix(end))
        if (end == "" or store != path) and store.is_file():
            with store.open("rb") as file:
                if file.read(len(SQLITE)) == SQLITE:
                    return True
    return False


def umask() -> int:
    """Return the process's umask; the only way to read it is to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
