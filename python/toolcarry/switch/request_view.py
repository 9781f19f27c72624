"""A request's messages as the switch sees them: who speaks, the user's request, open calls, and system prompts.

System prompts at the beginning are the client's own; those from the middle go with the request. Anthropic accepts
one in the middle only after a user message, and before an assistant message or at the end, and no two in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile
from typing import Any, Final, Literal, NamedTuple

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.api.context import is_result_part
from toolcarry.api.convert.model import Role, Text
from toolcarry.api.convert.read import ROLES, content_of, read_part, role_of
from toolcarry.importers.read import read_message
from toolcarry.model.formats.message import MessageParts
from toolcarry.summarize import strip_injected
from toolcarry.switch.portable import is_of_server, portable_part

__all__ = [
    "Entry",
    "divide",
    "join_prompts",
    "leading_prompts",
    "read_entry",
    "role_in",
    "without_results",
]


class Entry(NamedTuple):
    """One message: the speaker, and the parts that matter here."""

    role: Literal["system", "user", "model", "result"]
    """A user message without text is a result."""
    calls: frozenset[str]
    results: frozenset[str]
    """The ids of the calls that the client is to answer, and of those that are answered."""


class Division(NamedTuple):
    """The parts of a request that a switch treats differently, by position."""

    request: int | None
    """The position of the user's last request; the context goes before it. ``None`` if there is none."""
    end: int
    """The end of that request, which may be several messages; 0 if there is none."""
    tail: int
    """The index of the open call, which stays unchanged with its results; the number of messages if there is none."""

    @property
    def spoken(self) -> range:
        """The messages of the last user request."""
        return range(self.end if self.request is None else self.request, self.end)


def read_entry(message: JsonObject) -> Entry:
    """Read the speaker and the parts of one message."""
    said = MessageParts()
    read_message(message, message.get("role"), said)
    calls = frozenset(call.call_id for call in said.calls if not is_of_server(call.wire))
    results = frozenset(result.call_id for result in said.results)
    speaker = role_in(message) or role_of(message)
    if speaker == "system":
        return Entry("system", calls, results)
    if speaker is None:
        is_answer = bool(said.results) and not said.calls
        return Entry("result" if is_answer else "model", calls, results)
    if speaker == "assistant":
        return Entry("model", calls, results)
    has_words = message.get("role") not in ("tool", "function") and any(
        is_said(part) for part in (*content_of(message), *(as_list(message.get("images")) or ()))
    )
    return Entry("user" if has_words else "result", calls, results)


def role_in(message: JsonObject) -> Role | None:
    """The speaker that the message names; text next to results is the user's."""
    return ROLES.get(text_or_empty(message.get("role")))


def is_said(item: object) -> bool:
    """True if the user wrote a part of a user message, so that it is neither a result nor an addition of the client."""
    if is_result_part(item) or portable_part(item) is None:
        return False
    part = read_part(item, 0)
    if isinstance(part, Text):
        return bool(strip_injected(part.text).strip())
    return bool(as_object(item)) and (as_object(item) or {}).get("type") != "text"


def divide(entries: Sequence[Entry]) -> Division:
    """Find the user's last request, and the first open call.

    In the middle of a tool loop the model's last call and its results are open. Any other last message that is not a
    request is the beginning of an answer that the model should continue.
    """
    request, first = last_request(entries)
    end = len(entries)
    results = start_of(entries, end, first, ("result", "system"))
    calls = start_of(entries, results, first, ("model",))
    asked = frozenset[str]().union(*(entry.calls for entry in entries[calls:results]))
    answered = frozenset[str]().union(*(entry.results for entry in entries[results:]))
    if asked and answered == asked:
        return Division(request, first, calls)
    if not asked and calls < results == end:
        return Division(request, first, calls)
    return Division(request, first, end)


def last_request(entries: Sequence[Entry]) -> tuple[int | None, int]:
    """Return the range of the user's last request: its messages, and all messages between them."""
    end = next((at for at in range(len(entries), 0, -1) if entries[at - 1].role == "user"), 0)
    if not end:
        return None, 0
    return start_of(entries, end, 0, ("user", "result", "system")), end


def start_of(entries: Sequence[Entry], end: int, first: int, roles: tuple[str, ...]) -> int:
    """Return the start of the run of messages with these roles that ends at ``end``."""
    while end > first and entries[end - 1].role in roles:
        end -= 1
    return end


def without_results(message: JsonObject) -> JsonObject:
    """Return a user message without its results, which stay with their calls."""
    for key in ("content", "parts"):
        parts = as_list(message.get(key))
        if parts is not None and any(map(is_result_part, parts)):
            return {**message, key: [part for part in parts if not is_result_part(part)]}
    return message


JOINED: Final = {"role", "content"}
"""The members of a plain prompt, which may be merged with another one."""


def leading_prompts(messages: Sequence[Any]) -> list[Any]:
    """Return the system prompts at the beginning."""
    return list(takewhile(is_prompt, messages))


def join_prompts(messages: Sequence[Any]) -> list[Any]:
    """Merge consecutive system prompts.

    >>> join_prompts([{"role": "system", "content": "Be brief."}, {"role": "system", "content": "Use tabs."}])
    [{'role': 'system', 'content': 'Be brief.\\n\\nUse tabs.'}]
    """
    joined: list[Any] = []
    for role, found in groupby(messages, plain_role):
        group = list(found)
        joined += group if role is None or len(group) == 1 else [together(role, group)]
    return joined


def is_prompt(message: object) -> bool:
    return role_in(as_object(message) or {}) == "system"


def plain_role(message: object) -> str | None:
    """The role by which a message is a prompt that may be merged with another; ``None`` if it is not a prompt."""
    prompt = as_object(message) or {}
    return prompt["role"] if is_prompt(prompt) and prompt.keys() == JOINED else None


def together(role: str, prompts: Sequence[JsonObject]) -> dict[str, Any]:
    """Merge several prompts."""
    contents = [prompt["content"] for prompt in prompts]
    if all(isinstance(content, str) for content in contents):
        return {"role": role, "content": "\n\n".join(contents)}
    return {"role": role, "content": [part for content in contents for part in parts_of(content)]}


def parts_of(content: Any) -> Sequence[Any]:
    return as_list(content) or [{"type": "text", "text": content}]
