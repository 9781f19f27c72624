"""The read step: what a conversation says, as a list of messages and as the dialogue in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from toolcarry._backend import kernels
from toolcarry.decode import is_too_deep
from toolcarry.errors import InputError

Messages: TypeAlias = Sequence[Mapping[str, Any]]
Body: TypeAlias = bytes | bytearray | memoryview


def take(messages: Messages | Body) -> list[Any] | tuple[Any, ...] | bytes:
    """Either door: objects as they are, or bytes. Raises ``InputError`` for anything else."""
    if isinstance(messages, (list, tuple, bytes)):
        return messages
    if isinstance(messages, (bytearray, memoryview)):
        return bytes(messages)
    if isinstance(messages, Sequence) and not isinstance(messages, str):  # type: ignore[unreachable]
        return list(messages)
    raise InputError(f"messages must be a list of objects, or bytes, not {type(messages).__name__}")


def located(error: InputError, messages: Sequence[Any] | bytes) -> InputError:
    """``error`` with its position: a kernel does not know in which message it met what is nested too deep."""
    if error.position is not None or isinstance(messages, bytes):
        return error
    for position in range(len(messages) - 1, -1, -1):
        if is_too_deep(messages[position]):
            return InputError(f"message {position} is {error}", position)
    return error


def dialogue(messages: Messages | Body) -> str:
    """What was said in a conversation, without tools and without thinking: what a summarizer is given.

    Only the active branch is taken, without side chains. Raises ``InputError`` as ``carry`` does.

    >>> print(dialogue([{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}]))
    [USER]
    Fix it.
    [/USER]
    <BLANKLINE>
    [ASSISTANT]
    Done.
    [/ASSISTANT]
    """
    given = take(messages)
    try:
        if isinstance(given, bytes):
            return kernels.dialogue_body(given)
        return kernels.dialogue(given)
    except InputError as error:
        raise located(error, given) from None
