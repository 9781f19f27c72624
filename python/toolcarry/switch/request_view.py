"""A request's messages as the switch sees them: who speaks, the user's request, open calls, and system prompts.

System prompts at the beginning are the client's own; those from the middle go with the request. Anthropic takes one from
the middle only after a user message, and before an assistant message or at the end; no two in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile
from typing import Any, Final, Literal, NamedTuple

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.formats.message import MessageParts
from toolcarry.api.context import is_result_part
from toolcarry.api.convert.model import Role, Text
from toolcarry.api.convert.read import ROLES, content_of, read_part, role_of
from toolcarry.importers.read import read_message
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
    """Where the user's last request begins, before which the context goes; ``None`` where the user said nothing."""
    end: int
    """The end of that request, which may be several messages; 0 if there is none."""
    tail: int
    """The index of the open call, which stays unchanged with its results; the number of messages if there is none."""

    @property
    def spoken(self) -> range:
        """The messages of the last user request."""
        return range(self.end if self.request is None else self.request, self.end)


def read_entry(message: JsonObject) -> Entry:
    """The text of one message."""
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
    """True if the user wrote a part of a user message: not a result, and not the client's addition."""
    if is_result_part(item) or portable_part(item) is None:
        return False
    part = read_part(item, 0)
    if isinstance(part, Text):
        return bool(strip_injected(part.text).strip())
    return bool(as_object(item)) and (as_object(item) or {}).get("type") != "text"


def divide(entries: Sequence[Entry]) -> Division:
    """Find the user's last request, and the first open call.

    In the middle of a tool loop the last call of the model's and its results are open. What else stands last, and is
    no request, is the beginning of an answer that the model is to go on with.
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
    """Where the run of messages of these roles begins that ends at ``end``."""
    while end > first and entries[end - 1].role in roles:
        end -= 1
    return end


def without_results(message: JsonObject) -> JsonObject:
    """A user's message without the results in it: they go where their calls go."""
    for key in ("content", "parts"):
        parts = as_list(message.get(key))
        if parts is not None and any(map(is_result_part, parts)):
            return {**message, key: [part for part in parts if not is_result_part(part)]}
    return message


JOINED: Final = {"role", "content"}
"""The members of a plain prompt, which may be merged with another one."""


def leading_prompts(messages: Sequence[Any]) -> list[Any]:
    """The system prompts at the beginning."""
    return list(takewhile(is_prompt, messages))


def join_prompts(messages: Sequence[Any]) -> list[Any]:
    """System prompts with those that follow one another made one.

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
    """Several prompts as one."""
    contents = [prompt["content"] for prompt in prompts]
    if all(isinstance(content, str) for content in contents):
        return {"role": role, "content": "\n\n".join(contents)}
    return {"role": role, "content": [part for content in contents for part in parts_of(content)]}


def parts_of(content: Any) -> Sequence[Any]:
    return as_list(content) or [{"type": "text", "text": content}]
