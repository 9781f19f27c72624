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
    "Exit codes: 0 success; 1 a file is not a conversation, output can't be written, a store can't be "
    "used, or --strict or history verify found a problem; 2 invalid usage, or a setting that is not allowed; "
    "3 a file, commit or conversation does not exist; 4 the store stayed busy for too long; 5 the store is "
    "damaged; 6 the store has another schema version; 130 interrupted; 141 broken pipe. A file that fails "
    "does not stop the others; the highest code is returned."
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
