"""The job that the library is named after: the tool results of a conversation as context for another backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcarry._backend import kernels
from toolcarry.errors import InputError
from toolcarry.policy import Policy, check_arguments
from toolcarry.read import Body, Messages, located, take
from toolcarry.types import Counts, Report
from toolcarry.wire import as_list, as_object

__all__ = ["Carried", "carry", "prepend_summary_to_user_message"]


@dataclass(frozen=True, slots=True)
class Carried:
    """A carry-over context: ``text``, and the ``report`` of what became of every block."""

    text: str
    _counts: Counts
    _skipped_lines: tuple[int, ...] = ()

    @property
    def report(self) -> Report:
        """What the job did with every block that it walked."""
        return Report(*self._counts, self._skipped_lines)

    def to_bytes(self) -> bytes:
        """The context as UTF-8."""
        return self.text.encode()


def carry(messages: Messages | Body, *, summary: str = "", policy: Policy = Policy()) -> Carried:
    """The context that takes a conversation's tool results to another backend.

    ``messages`` is a list of messages in any of the known shapes, or bytes: a request body, a JSON array or
    JSONL. The newest results come first, until the policy's total is spent; the text is never longer than
    that. ``summary`` is markdown that goes before the results, in half of the total at most.
    Without results and without summary the text is empty. Raises ``InputError`` where the input is no
    conversation.

    >>> carried = carry([
    ...     {"role": "assistant", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}}]},
    ...     {"role": "user", "content": [
    ...         {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}]},
    ... ])
    >>> "3 passed" in carried.text, carried.report.shown
    (True, 1)
    """
    check_arguments(summary, policy)
    given = take(messages)
    try:
        text, counts = kernels.carry(given.messages, summary, policy)
    except InputError as error:
        raise located(error, given.messages) from None
    return Carried(text, counts, given.skipped_lines)


def prepend_summary_to_user_message(message: Mapping[str, Any], context: str) -> dict[str, Any]:
    """A new message: ``context`` before what the user says in ``message``, which stays as it is.

    Where the content is a list, the context is a text part of its own; it stands behind tool results, which
    providers want first. An empty context changes nothing. Raises ``InputError`` for a message that is none.

    >>> prepend_summary_to_user_message({"role": "user", "content": "Go on."}, "[CONTEXT ...]")["content"]
    '[CONTEXT ...]\\n\\nGo on.'
    """
    given = as_object(message)
    if given is None:
        raise InputError(f"message 0 is not an object, but {type(message).__name__}")
    new = dict(given)
    if not context:
        return new
    content = new.get("content")
    if content is None or content == "":
        new["content"] = context
    elif isinstance(content, str):
        new["content"] = f"{context}\n\n{content}"
    else:
        new["content"] = with_text_part(content, context)
    return new


def with_text_part(content: object, context: str) -> list[Any]:
    """The parts of ``content`` with one more, behind those that hold tool results."""
    parts = as_list(content)
    if parts is None:
        raise InputError(
            f"content is neither text nor a list of parts, but {type(content).__name__}"
        )
    place = 0
    while place < len(parts) and (as_object(parts[place]) or {}).get("type") == "tool_result":
        place += 1
    return [*parts[:place], {"type": "text", "text": context}, *parts[place:]]
