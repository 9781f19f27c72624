"""The exit codes of the command line; ``--help`` says what each means."""

from __future__ import annotations

from typing import Final

FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141


class FileError(Exception):
    """A file that can't be used, and the exit code that says so."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
