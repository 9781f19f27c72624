"""Exit codes of the command line, their description for ``--help``, and the codes of store errors."""

from __future__ import annotations

from typing import Final

from toolcarry.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreVersionError,
    UnknownCommitError,
)

FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
BUSY: Final = 4
DAMAGED: Final = 5
OTHER_VERSION: Final = 6
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 a file that could not be read as a conversation, output that could not be "
    "written, a store that could not be used, or a finding under --strict or of history verify; 2 usage, "
    "or a setting that is not allowed; 3 a file, a commit or a conversation that does not exist; 4 a store "
    "that others kept busy for too long; 5 a store that is damaged; 6 a store of another version; 130 "
    "interrupted; 141 broken pipe. The other files are still done; where several codes apply, the highest "
    "counts."
)

STORE_CODES: Final = (
    (UnknownCommitError, NOT_FOUND),
    (StoreBusyError, BUSY),
    (StoreDamagedError, DAMAGED),
    (StoreVersionError, OTHER_VERSION),
)


class FileError(Exception):
    """A file that can't be used, with the exit code for it."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def store_code(error: StoreError) -> int:
    """Return the exit code for an error of the store."""
    return next((code for kind, code in STORE_CODES if isinstance(error, kind)), FAILED)
