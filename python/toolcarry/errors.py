"""The errors that toolcarry raises. Each class says who has to fix the problem.

All of them have one base class, so that a caller can catch them with one name. Messages are in lower case and name the
place: the position in the input, or the key of the setting.
"""

from __future__ import annotations


class ToolcarryError(Exception):
    """The base class of all errors that toolcarry raises."""


class InputError(ToolcarryError):
    """The input is not a conversation.

    ``position`` is the byte offset in a body, or the index of the message in a list (both from 0);
    ``None`` if there is no such place.

    >>> raise InputError("message 3 is not an object, but int", position=3)
    Traceback (most recent call last):
    toolcarry.errors.InputError: message 3 is not an object, but int
    """

    def __init__(self, message: str, position: int | None = 0) -> None:
        super().__init__(message)
        self.position = position

    def __reduce__(self) -> tuple[type[InputError], tuple[str, int | None]]:
        return type(self), (str(self), self.position)


class ConfigError(ToolcarryError):
    """A setting has a value that is not allowed; the message names the key, the value and the allowed values."""


class BackendError(ToolcarryError):
    """A job needs the Rust extension, but the Python fallback is in use; the message says how to get the extension.

    >>> raise BackendError("project")
    Traceback (most recent call last):
    toolcarry.errors.BackendError: project needs the Rust extension, and the Python fallback is in use: install toolcarry \
with its extension (without TOOLCARRY_PURE, and with cargo if it is built from source), and unset TOOLCARRY_BACKEND
    """

    def __init__(self, job: str) -> None:
        super().__init__(
            f"{job} needs the Rust extension, and the Python fallback is in use: install toolcarry with its extension "
            "(without TOOLCARRY_PURE, and with cargo if it is built from source), and unset TOOLCARRY_BACKEND"
        )
        self.job = job

    def __reduce__(self) -> tuple[type[BackendError], tuple[str]]:
        return type(self), (self.job,)


class RedactionError(ToolcarryError):
    """The secrets in a text could not be removed, so it must not be sent. The error message contains no part of the
    text."""


class StoreError(ToolcarryError):
    """The canonical history could not be read or written; earlier writes are intact.

    ``commit_hash`` names the commit in question, if there is one.

    >>> raise StoreError("commit 3fa2: its content is damaged", "3fa2")
    Traceback (most recent call last):
    toolcarry.errors.StoreError: commit 3fa2: its content is damaged
    """

    def __init__(self, message: str, commit_hash: str | None = None) -> None:
        super().__init__(message)
        self.commit_hash = commit_hash

    def __reduce__(self) -> tuple[type[StoreError], tuple[str, str | None]]:
        return type(self), (str(self), self.commit_hash)


class StoreBusyError(StoreError):
    """Another writer held the store for longer than the time limit; the same call can be retried."""


class StoreFullError(StoreError):
    """The store has no room for the data."""


class StoreDamagedError(StoreError):
    """Stored data differ from what was written."""


class StoreVersionError(StoreError):
    """The store was written by a newer toolcarry."""


class UnknownCommitError(StoreError):
    """The conversation has no such commit."""
