"""The beginning of a conversation made anew for another backend: the context, the user's request, what is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from toolcarry.carry import carry
from toolcarry.errors import RedactionError
from toolcarry.pair import extract_tool_blocks
from toolcarry.policy import Policy
from toolcarry.prepend import prepend_summary_to_user_message
from toolcarry.read import dialogue
from toolcarry.render import format_tool_context
from toolcarry.switch.bare import bare
from toolcarry.switch.entries import Entry, divide, without_results
from toolcarry.types import Report, ToolBlock
from toolcarry.wire import Wire, as_list, as_object

__all__ = ["Beginning", "Draft", "Redact", "draft_of", "without_history"]

Redact = Callable[[str], str]
"""A text without its secrets; raises where it can't tell."""

WITHHELD: Final = "[toolcarry: the conversation so far is withheld]"
"""What the user says where nothing that they said may be sent."""


class Beginning(NamedTuple):
    """What is sent, and what became of every tool block; ``None`` where nothing was carried."""

    messages: list[Any]
    carried: Report | None


@dataclass(frozen=True, slots=True)
class Draft:
    """What a new beginning is made of, cleaned."""

    said: list[Wire]
    """All messages but system prompts, as any backend takes them."""
    head: list[Wire]
    """Those of which the tool blocks are carried."""
    request: Wire | None
    tail: list[Wire]
    """Those that stay behind the request."""
    dialogue: str
    blocks: list[ToolBlock]

    def build(self, summary: str, policy: Policy, *, has_tools: bool) -> Beginning:
        """Put it together. Without any context the messages stay, as any backend takes them."""
        if has_tools:
            carried = carry(self.head, summary=summary, policy=policy)
            context, report = carried.text, carried.report
        else:
            context, report = format_tool_context([], summary=summary, policy=policy), None
        if not context:
            return Beginning(list(self.said), report)
        return Beginning([self._with_context(context), *self.tail], report)

    def _with_context(self, context: str) -> dict[str, Any]:
        if self.request is not None:
            return prepend_summary_to_user_message(self.request, context)
        return user_message(context, self.said)


def draft_of(messages: Sequence[Wire], entries: Sequence[Entry], redact: Redact | None) -> Draft:
    """Take a conversation apart. Raises ``RedactionError`` where ``redact`` does not do its work."""
    request_at, tail_at = divide(entries)
    is_said = [entry.role != "system" for entry in entries]
    request = None if request_at is None else messages[request_at]
    cleaned = messages if redact is None else without_secrets(messages, redact)
    bared = [
        bare(message) if said else None for message, said in zip(cleaned, is_said, strict=True)
    ]
    if request_at is not None and request is not None and without_results(request) is request:
        bared[request_at] = bare(request) or request  # what the user says now is theirs to say
    head = cleaned[:tail_at]
    return Draft(
        said=[message for message in bared if message is not None],
        head=list(head),
        request=None if request is None else without_results(bare(request) or request),
        tail=[message for message in bared[tail_at:] if message is not None],
        dialogue=dialogue(
            head if is_gone_on_with(entries, request_at, tail_at) else head[:request_at]
        ),
        blocks=extract_tool_blocks(head),
    )


def without_secrets(messages: Sequence[Wire], redact: Redact) -> Sequence[Wire]:
    """Messages without their secrets, as many as before."""
    from toolcarry.redact import redact_messages  # noqa: PLC0415 - where it is wanted

    try:
        return redact_messages(messages, redact)
    except RedactionError:
        raise
    except Exception as error:  # noqa: BLE001 - a hook's; who asked counts it and logs it
        raise RedactionError(f"redaction failed: {type(error).__name__}") from None


def is_gone_on_with(entries: Sequence[Entry], request_at: int | None, tail_at: int) -> bool:
    """Whether the model has said more on the user's request than what stays as it is."""
    first = 0 if request_at is None else request_at + 1
    return any(entry.role == "model" for entry in entries[first:tail_at])


def without_history(messages: Sequence[Wire], entries: Sequence[Entry]) -> list[Any]:
    """What is sent where redaction can't run: the user's request, and nothing from before it."""
    request = divide(entries).request
    if request is None:
        return [user_message(WITHHELD, messages)]
    return [without_results(bare(messages[request]) or messages[request])]


def user_message(text: str, beside: Sequence[Wire]) -> dict[str, Any]:
    """A message of the user's in the shape of those beside it."""
    if any("parts" in message and "content" not in message for message in beside):
        return {"role": "user", "parts": [{"text": text}]}
    for message in beside:
        parts = [as_object(part) or {} for part in as_list(message.get("content")) or ()]
        if any(part and "type" not in part for part in parts):
            return {"role": "user", "content": [{"text": text}]}
    return {"role": "user", "content": text}
