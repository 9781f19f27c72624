"""The input and output of commands: reads files and stdin as bytes; writes to stdout, or replaces a file as a whole.

A file that can't be read, or is not a conversation, is reported on stderr, and the command goes on with the next one.
Work on a large file is done in a thread, so that an interrupt is answered at once: the thread is left, never waited for.
Output is UTF-8 in every locale. A terminal gets the controls in it as text; a pipe and a file get every byte.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from toolcarry._input.archive import check_end, is_sqlite, unpack
from toolcarry._input.sources import Source, check_content, read_source, reason_of
from toolcarry._util.pool import in_threads
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.replacement import Replacement
from toolcarry.cli.terminal import Screen, is_terminal, label, one_line, write
from toolcarry.errors import InputError
from toolcarry.model.text.sanitize import DIRTY

STDIN: Final = "-"


def read(name: str) -> bytes:
    """Return all bytes of a file or of stdin, as ``read_conversation`` does."""
    return read_conversation(name).body


def read_conversation(name: str) -> Source:
    """Return the bytes of a file, of a folder of events, of a conversation in a SQLite store, or of stdin, decompressed
    if they are compressed.

    Raises ``FileError`` if it can't be read or decompressed, or may never end.
    """
    try:
        return read_input(name)
    except InputError as error:
        raise FileError(one_line(str(error), 4_000), FAILED) from None


def read_input(name: str) -> Source:
    with reading():
        if name == STDIN:
            if sys.stdin is None:
                raise FileError("is closed", FAILED)
            if not os.isatty(0):
                check_end(0)
            return Source(unpack(sys.stdin.buffer.read()))
        if not name or "\0" in name:
            raise FileError("no such file", NOT_FOUND)
        return read_source(Path(name))


@contextmanager
def reading() -> Iterator[None]:
    """Turn the errors of reading a file into ``FileError``."""
    try:
        yield
    except BrokenPipeError:  # comes from stdout, never from the file
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileError(reason_of(error), NOT_FOUND) from None
    except OSError as error:
        raise FileError(reason_of(error), FAILED) from None


def read_some(name: str, screen: Screen | None = None) -> bytes:
    """Return the bytes of a file, and tell how they were read. Raises ``InputError`` if it is empty or blank."""
    data, remarks = read_conversation(name)
    check_content(data)
    if screen is not None:
        for remark in remarks:
            screen.say(f"{label(name)}: {one_line(remark, 4_000)}")
    return data


def for_each(
    names: Sequence[str], job: Callable[[str, bytes], int], screen: Screen, *, is_free: bool
) -> int:
    """Call ``job`` with the name and the bytes of every file, and return the highest exit code."""
    return for_each_name(
        names, lambda name: job(name, read_some(name, screen)), screen, is_free=is_free
    )


def for_each_name(
    names: Sequence[str], job: Callable[[str], int], screen: Screen, *, is_free: bool
) -> int:
    """Call ``job`` with the name of every file, and return the highest exit code."""
    worst = 0
    sizes = [found.st_size if (found := regular_file(name)) else 0 for name in names]
    with screen.progress(sizes, is_free=is_free):
        for name, size in zip(names, sizes, strict=True):
            screen.begin(name)
            try:
                if size < LARGE and name != STDIN:
                    code = job(name)
                else:
                    [code] = in_threads([name], job, 1)
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


LARGE: Final = 4_000_000
"""The bytes from which on a file is worked on in a thread: less takes no second."""


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
    return b"".join(json_pieces(value))


def json_pieces(value: object) -> Iterator[bytes]:
    """Yield the parts of ``json_line``, each of about a megabyte, or one member: no part takes long to make."""
    texts: list[str] = []
    size = 0
    for text in members(value, DEPTH):
        texts.append(DIRTY.sub(escape, text))
        size += len(text)
        if size >= PIECE:
            yield "".join(texts).encode()
            texts, size = [], 0
    yield f"{''.join(texts)}\n".encode()


PIECE: Final = 1_000_000
DEPTH: Final = 3
"""The levels of a value whose members are written one by one: messages are at most two levels down."""


def members(value: object, depth: int) -> Iterator[str]:
    """Yield a value as JSON, in parts."""
    if depth and isinstance(value, dict) and value and all(type(key) is str for key in value):
        for number, (key, item) in enumerate(value.items()):
            yield f"{',' if number else '{'}{dumps(key)}:"
            yield from members(item, depth - 1)
        yield "}"
    elif depth and isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield "," if number else "["
            yield from members(item, depth - 1)
        yield "]"
    else:
        yield dumps(value)


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
    """A context manager that writes to stdout or to a file. Without a name it needs no block.

    A file replaces the old one at the end, if something was written and nothing failed.
    """

    def __init__(self, name: str | None = None, inputs: Sequence[str] = ()) -> None:
        self._name = None if name == STDIN else name
        self._inputs = inputs
        self._file: IO[bytes] | None = None
        self._replacement: Replacement | None = None
        self._is_written = False
        if self._name is None and sys.stdout is None:
            raise FileError("stdout is closed", FAILED)
        self.is_terminal = self._name is None and is_terminal(sys.stdout)

    def _open(self, name: str) -> None:
        shown = f"-o {label(name)}"
        found = regular_file(name)
        for other in self._inputs:
            given = regular_file(other)
            if found is not None and given is not None and os.path.samestat(found, given):
                raise FileError(
                    f"{shown}: is also the input {label(other)}; name another file", USAGE
                )
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
            self._replacement = Replacement(path)
            self._replacement.make()
            self._file = self._replacement.path.open("wb")
        except FileNotFoundError:
            raise FileError(f"{shown}: no such directory", NOT_FOUND) from None
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FileError(f"{shown}: cannot write: {reason}", FAILED) from None

    def write(self, data: bytes) -> None:
        """Write content: every byte of it, except to a terminal, which gets it ``visible``."""
        self.draw(visible(data) if self.is_terminal else data)

    def write_json(self, value: object) -> None:
        """Write a value as ``json_line`` does, in parts, so that a large one does not delay an interrupt."""
        for piece in json_pieces(value):
            self.write(piece)

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
        if self._name is not None:
            try:
                self._open(self._name)
            except BaseException:
                self._remove()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is KeyboardInterrupt and self._replacement is None:
            return  # a thread that was left may be writing to the pipe, and would be waited for
        try:
            if self._file is not None:
                self._file.close()
            if self._replacement is not None and self._is_written and kind is None:
                self._replacement.put()
        finally:
            self._remove()

    def _remove(self) -> None:
        if self._replacement is not None:
            self._replacement.remove()


NEXT_TO_A_STORE: Final = ("-wal", "-shm", "-journal")
"""The ends of the names of the files that SQLite keeps next to a store, and recovers it from."""


def is_store(path: Path) -> bool:
    """Return true for a SQLite file, which may be a history, and for the files that belong to one."""
    for end in ("", *NEXT_TO_A_STORE):
        store = Path(str(path).removesuffix(end))
        if (end == "" or store != path) and is_sqlite(store):
            return True
    return False
