"""The read step: what a conversation says, as a list of messages and as the dialogue in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from toolcarry.decode import decode_messages, is_too_deep
from toolcarry.errors import InputError
from toolcarry.wire import as_list, as_object

Messages: TypeAlias = Sequence[Mapping[str, Any]]
Body: TypeAlias = bytes | bytearray | memoryview

SPEAKERS = {"user": "USER", "assistant": "ASSISTANT", "human": "USER", "ai": "ASSISTANT"}


class Given(NamedTuple):
    """A conversation as the kernels take it."""

    messages: list[Any] | tuple[Any, ...]
    skipped_lines: tuple[int, ...] = ()


def take(messages: Messages | Body) -> Given:
    """Either door: objects as they are, bytes decoded. Raises ``InputError`` for anything else."""
    if isinstance(messages, (list, tuple)):
        return Given(messages)
    if isinstance(messages, (bytes, bytearray, memoryview)):
        return Given(*decode_messages(messages))
    if isinstance(messages, Sequence) and not isinstance(messages, str):  # type: ignore[unreachable]
        return Given(list(messages))
    raise InputError(f"messages must be a list of objects, or bytes, not {type(messages).__name__}")


def located(error: InputError, messages: Sequence[Any]) -> InputError:
    """``error`` with its position: a kernel does not know in which message it met what is nested too deep."""
    if error.position is not None:
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
    from toolcarry._pure.session import Session

    given = take(messages).messages
    session: Session | None = None
    turns: list[str] = []
    for position, item in enumerate(given):
        message = as_object(item)
        if message is None:
            raise InputError(
                f"message {position} is not an object, but {type(item).__name__}", position
            )
        if message.get("role") is None and ("uuid" in message or "message" in message):
            session = session or Session(given, len(given))
            if session.is_repeated[position] or not session.is_active[position]:
                continue
            message = as_object(message.get("message")) or {}
        speaker = SPEAKERS.get(str(message.get("role")))
        text = spoken_text(message.get("content")) if speaker else ""
        if text.strip():
            turns.append(f"[{speaker}]\n{safe_turn(text)}\n[/{speaker}]")
    return "\n\n".join(turns)


def spoken_text(content: object) -> str:
    """The text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for item in as_list(content) or ():
        part = item if isinstance(item, str) else as_object(item)
        if isinstance(part, str):
            texts.append(part)
        elif part is not None and part.get("type") == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
    return "\n".join(texts)


def safe_turn(text: str) -> str:
    """``text`` cleaned, and without a line that could end or open a turn."""
    from toolcarry._pure.clean import clean

    text = clean(text).strip("\n")
    for name in ("USER", "ASSISTANT"):
        text = text.replace(f"[{name}]", f"[\\{name}]").replace(f"[/{name}]", f"[\\/{name}]")
    return text
