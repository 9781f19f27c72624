"""A document with a request and the model's answer next to it, as logs of requests have them: one conversation.

The answer is that of a provider, a message, or a text; LangChain's agents have steps before it. What can't be read is
an item of its own, so that it is reported as unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from toolcarry._input.answers import read_answer
from toolcarry._input.json import dump, loads
from toolcarry._input.objects import JsonObject, as_list, as_object, each_object, first_given
from toolcarry.errors import InputError

__all__ = ["conversation_of"]

STEPS: Final = "intermediate_steps"
"""The member of a result of LangChain's ``AgentExecutor`` with pairs of an action and what it led to."""
WRITTEN: Final = re.compile(r"[A-Z]\w*\(")
"""The beginning of an object of Python that was written as a text."""
OF_AN_ANSWER: Final = frozenset(("choices", "candidates", "role", "object"))
"""The members by which a text in JSON is an answer, and not a text of the model."""


def conversation_of(
    document: Mapping[str, Any], request: Sequence[Any], keys: Iterable[str]
) -> list[Any]:
    """Return the messages of a request with those of its answer, which is in one of the members ``keys`` or in several.

    >>> document = {"messages": [{"role": "user", "content": "Hi."}], "response": "Ho."}
    >>> conversation_of(document, document["messages"], ["response"])
    [{'role': 'user', 'content': 'Hi.'}, {'role': 'assistant', 'content': 'Ho.'}]
    """
    is_twice = bool(document.get("fncall_response"))  # OpenHands: without the prompt's own calls
    messages = [*((is_twice and as_list(document.get("fncall_messages"))) or request)]
    answered = len(messages)
    unread: list[JsonObject] = []
    for key in keys:
        value = document.get(key)
        if not value or (is_twice and key == "response"):
            continue
        found = steps_of(value) if key == STEPS else messages_in(value)
        if not found:
            unread.append({key: value})
            continue
        new = without_known(found, messages)
        if new and key != STEPS and len(messages) > answered:
            unread.append({key: value})  # another answer
            continue
        messages += new
        answered = len(messages) if key == STEPS else answered
    return [*messages, *unread]


def messages_in(value: Any) -> list[JsonObject]:
    """Return the messages in an answer; none if it can't be read."""
    if isinstance(value, str):
        return messages_in_text(value)
    document = as_object(value)
    if document is not None:
        held = as_list(document.get("messages"))
        if held is not None:
            return messages_in(held)
        if "role" in document:
            return [dict(document)]
        if isinstance(document.get("text"), str) and not document.get("tool_calls"):
            return messages_in_text(document["text"])
        answer = read_answer(dump(document))
        return messages_in(answer.messages) if answer is not None else []
    items = as_list(value) or ()
    if len(items) == 1 and isinstance(items[0], str):
        return messages_in_text(items[0])
    found = [each for each in map(as_object, items) if each is not None]
    if len(found) == 1 and "role" not in found[0] and "type" not in found[0]:
        return messages_in(first_given(found[0], "message") or found[0])
    is_read = len(found) == len(items) and all("role" in each or "type" in each for each in found)
    return [dict(each) for each in found] if is_read else []


def messages_in_text(text: str) -> list[JsonObject]:
    """Return the answer that is written in JSON, else the text as the model's; none for an object of Python."""
    if WRITTEN.match(text) or not text.strip():
        return []
    try:
        document = as_object(loads(text.encode("utf-8", "surrogatepass")))
    except InputError:
        document = None
    if document is not None and not OF_AN_ANSWER.isdisjoint(document):
        found = messages_in(document)
        if found:
            return found
    return [{"role": "assistant", "content": text}]


def steps_of(value: Any) -> list[JsonObject]:
    """Return the calls of an agent of LangChain with their results; none if a step can't be read."""
    found: list[JsonObject] = []
    for step in as_list(value) or ():
        action, observation = pair if len(pair := as_list(step) or ()) == 2 else (None, None)
        action = as_object(action) or {}
        action = as_object(action.get("kwargs")) or action
        name, given = action.get("tool"), action.get("tool_input")
        if not isinstance(name, str):
            return []
        call_id = action.get("tool_call_id")
        arguments = {"input": given} if isinstance(given, str) else given
        function = {"name": name, "arguments": dump(arguments).decode()}
        call = {"id": call_id, "type": "function", "function": function}
        content = observation if isinstance(observation, str) else dump(observation).decode()
        found += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "name": name, "content": content},
        ]
    return found


def without_known(found: list[JsonObject], messages: list[Any]) -> list[JsonObject]:
    """Return an answer without the messages that stand before it: all of them, or the last ones."""
    before, new = [list(map(facts_of, each)) for each in (messages, found)]
    if before and new[: len(before)] == before:
        return found[len(before) :]
    return [] if before[-len(new) :] == new else found


def facts_of(item: Any) -> object:
    """Return what two copies of a message have in common: its text and the ids of its calls."""
    message = as_object(item) or {}
    content = first_given(message, "content", "parts", "text")
    parts = list(each_object(content))
    texts = [content] if isinstance(content, str) else [each.get("text") for each in parts]
    calls = [*each_object(message.get("tool_calls")), *parts]
    ids = [each["id"] for each in calls if isinstance(each.get("id"), str)]
    text = "".join(each for each in texts if isinstance(each, str)).strip()
    return (text, ids) if text or ids else message
