"""What can go wrong, and whose fault it is.

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


class ConfigError(ToolcarryError):
    """A setting has a value that it may not have; the message names key, value and what is allowed."""
