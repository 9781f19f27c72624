"""Where data goes: stdout, or a file that is replaced whole. UTF-8 bytes, whatever the locale."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from toolcarry._pure.text.sanitize import DIRTY
from toolcarry.cli.codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.files import STDIN, regular_file
from toolcarry.cli.screen import is_terminal, label, write


def json_line(value: object) -> bytes:
    """``value`` as JSON on one line; what a terminal would obey, and lone surrogates, are escaped.

    >>> json_line({"tool": "Re\\x9bad é"}).decode()
    '{"tool":"Re\\\\u009bad é"}\\n'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{DIRTY.sub(escape, text)}\n".encode()


def escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


class Output:
    """A context manager: the file stands in its place at the end, where something was written and nothing failed."""

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
                raise FileError(f"{shown}: is the input {label(other)}", USAGE)
        path = Path(name)
        try:
            if path.is_dir():
                raise FileError(f"{shown}: is a directory", USAGE)
            if found is None and path.exists():
                self._file = path.open("wb")  # a device or a pipe is written to, not replaced
                return
            self._target = path.resolve()  # a link stays one
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
        """Write; on stdout at once, so that it comes in order with what stands on stderr."""
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


def umask() -> int:
    """The mode bits that new files do without; reading them means setting them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
