"""A new beginning of a conversation for another backend: the context, the user's request, and the open calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.api.context import (
    carry,
    dialogue,
    extract_tool_blocks,
    format_tool_context,
    prepend_summary_to_user_message,
)
from toolcarry.api.convert.model import Text
from toolcarry.api.convert.read import content_of, read_part
from toolcarry.errors import RedactionError
from toolcarry.redact import redact_messages
from toolcarry.redact.hook import Redact
from toolcarry.summarize import strip_injected
from toolcarry.switch.bound import bound_kinds
from toolcarry.switch.portable import portable_message, server_parts, with_stand_in
from toolcarry.switch.request_view import Entry, divide, join_prompts, role_in, without_results
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.values import Report, ToolBlock

__all__ = ["Draft", "draft_of", "without_history"]

WITHHELD: Final = "[toolcarry: the conversation so far is withheld]"
"""The text that replaces the user's message if none of it may be sent."""


class Beginning(NamedTuple):
    """The messages to send, and the report on every tool block; ``None`` if nothing was carried."""

    messages: list[Any]
    carried: Report | None


@dataclass(frozen=True, slots=True)
class Draft:
    """The cleaned material of a new beginning."""

    said: list[JsonObject]
    """All messages, in a form that any backend accepts."""
    head: list[JsonObject]
    """The messages whose tool blocks are carried."""
    request: list[JsonObject]
    """The user's current message, without the results next to it."""
    tail: list[JsonObject]
    """The messages that stay after the request: system prompts from the middle, and open calls."""
    instructions: str
    """The client's prompts at the beginning, such as those of the project: they hold at every backend."""
    dialogue: str
    blocks: list[ToolBlock]
    bound: tuple[str, ...] = ()
    """The kinds of state in the messages that only the other backend can resolve."""

    def build(
        self, summary: str, policy: CarryPolicy, short: CarryPolicy, *, has_tools: bool
    ) -> Beginning:
        """Build the beginning, by the policy ``short`` if ``policy`` has no room for everything.

        Without any context the messages stay, in a form that any backend accepts.
        """
        if has_tools:
            carried = carry(self.head, summary=summary, policy=policy)
            if short != policy and not fits(carried.report):
                carried = carry(self.head, summary=summary, policy=short)
            context, report = carried.text, carried.report
        else:
            context, report = format_tool_context([], summary=summary, policy=policy), None
        if not context:
            return Beginning(list(self.said), report)
        if self.instructions:
            context = f"{self.instructions}\n\n{context}"
        if not self.request:
            return Beginning([user_message(context, self.said), *self.tail], report)
        first, *others = self.request
        request = [prepend_summary_to_user_message(first, context), *others]
        return Beginning([*request, *self.tail], report)


def fits(report: Report) -> bool:
    """True if the total had room for everything."""
    return report.walked_all and not (report.left_out or report.steps or report.summary_cut)


def draft_of(
    messages: Sequence[JsonObject], entries: Sequence[Entry], redact: Redact | None
) -> Draft:
    """Split a conversation. Raises ``RedactionError`` if ``redact`` fails."""
    division = divide(entries)
    cleaned = list(messages if redact is None else without_secrets(messages, redact))
    bared = [portable_message(message) for message in cleaned]
    prompts = [
        prompt for prompt, entry in zip(bared, entries, strict=True) if entry.role == "system"
    ]
    said = [
        # what the user says now is theirs to say, but for results
        portable_message(message) if at in division.spoken and not entry.results else bared[at]
        for at, (message, entry) in enumerate(zip(messages, entries, strict=True))
    ]
    said = [message if message is None else with_stand_in(message) for message in said]
    tail = [said[at] for at in range(division.tail, len(entries)) if entries[at].role != "system"]
    ran = (server_parts(message) for message in cleaned[division.tail :])
    head = [*cleaned[: division.tail], *(message for message in ran if message is not None)]
    end = division.request
    if any(entry.role == "model" for entry in entries[division.end : division.tail]):
        end = division.tail  # the model has continued after it
    return Draft(
        said=[message for message in said if message is not None],
        head=head,
        request=request_of(messages, entries),
        tail=join_prompts([message for message in (*prompts, *tail) if message is not None]),
        instructions=instructions_in(cleaned[: division.spoken.start], entries),
        dialogue=dialogue([message for message in bared[:end] if message is not None]),
        blocks=extract_tool_blocks(head),
        bound=tuple(sorted({kind for message in messages for kind in bound_kinds(message)})),
    )


def instructions_in(messages: Sequence[JsonObject], entries: Sequence[Entry]) -> str:
    """Return the texts that the client added before the model's first message, each as a separate part."""
    texts: list[str] = []
    for message, entry in zip(messages, entries, strict=False):
        if entry.role == "model":
            break
        if role_in(message) == "user":
            found = (read_part(part, 0) for part in content_of(message))
            texts += [
                part.text for part in found if isinstance(part, Text) and is_put_in(part.text)
            ]
    return "\n\n".join(texts)


def is_put_in(text: str) -> bool:
    return bool(text.strip()) and not strip_injected(text).strip()


def request_of(messages: Sequence[JsonObject], entries: Sequence[Entry]) -> list[JsonObject]:
    """Return the messages of the user's last request, without the tool results in them."""
    return [
        without_results(portable_message(messages[at]) or messages[at])
        for at in divide(entries).spoken
        if entries[at].role == "user"
    ]


def without_secrets(messages: Sequence[JsonObject], redact: Redact) -> Sequence[JsonObject]:
    """Return the same number of messages, without their secrets."""
    try:
        return redact_messages(messages, redact)
    except RedactionError:
        raise
    except Exception as error:  # noqa: BLE001 - from the hook; the caller counts and logs it
        raise RedactionError(f"redaction failed: {type(error).__name__}") from None


def without_history(messages: Sequence[JsonObject], entries: Sequence[Entry]) -> list[Any]:
    """The messages to send if redaction can't run: the user's request, and nothing from before it."""
    return request_of(messages, entries) or [user_message(WITHHELD, messages)]


def user_message(text: str, beside: Sequence[JsonObject]) -> dict[str, Any]:
    """A user message in the format of its neighbours."""
    if any("parts" in message and "content" not in message for message in beside):
        return {"role": "user", "parts": [{"text": text}]}
    for message in beside:
        parts = [as_object(part) or {} for part in as_list(message.get("content")) or ()]
        if any(part and "type" not in part for part in parts):
            return {"role": "user", "content": [{"text": text}]}
    return {"role": "user", "content": text}
