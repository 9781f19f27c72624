"""The errors, and whose fault each one is.

One root, so that a caller can catch everything of ours with one name.
Messages are lower-case and say where: the position in the input, or the key of the setting.
"""

from __future__ import annotations


class ToolcarryError(Exception):
    """The root of every error that toolcarry raises."""


class InputError(ToolcarryError):
    """The input is not what a conversation looks like.

    ``position`` is where: the byte offset in a body, the index of the message in a list (both from 0);
    ``None`` where there is no such place.

    >>> raise InputError("message 3 is not an object, but int", position=3)
    Traceback (most recent call last):
    toolcarry.errors.InputError: message 3 is not an object, but int
    """

    def __init__(self, message: str, position: int | None = 0) -> None:
        super().__init__(message)
        self.position = position

    def __reduce__(self) -> tuple[type[InputError], tuple[str, int | None]]:
        return type(self), (str(self), self.position)


class NeedsImport(Exception):  # noqa: N818 - it tells of no error
    """A backend met a message that only an importer can read. ``toolcarry.importers`` catches it: no caller sees it.

    ``body`` is what was read of a pipe, which can be read only once.
    """

    def __init__(self, body: bytes | None = None) -> None:
        super().__init__()
        self.body = body


class ConfigError(ToolcarryError):
    """A setting has a value that it may not have; the message names key, value and what is allowed."""


class RedactionError(ToolcarryError):
    """A text could not be cleaned of its secrets; whoever asked withholds it. The message says nothing of the text."""


class StoreError(ToolcarryError):
    """The canonical history could not be read or written; what was written before is whole.

    ``commit_hash`` names the commit that it is about, where it is about one.

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
    """Another writer kept the store longer than the time allowed; the same call may be made again."""


class StoreFullError(StoreError):
    """There is no room for what was to be written."""


class StoreDamagedError(StoreError):
    """Stored data differ from the data that were written."""


class StoreVersionError(StoreError):
    """The store was written by a newer toolcarry."""


class UnknownCommitError(StoreError):
    """The conversation has no such commit."""
