"""Recorded traffic of a conversation: cassettes of VCR and Betamax, and HAR.

Each request repeats the ones before it, so the last one with its answer is the conversation, unless it goes on from
something that the provider stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from toolcarry._input.body_spans import LISTS
from toolcarry._input.objects import JsonObject, as_list, as_object, first_given, text_or_empty
from toolcarry._input.traffic import Room, exchanges, read_exchange
from toolcarry.errors import InputError
from toolcarry.importers.producers.base import About, Signs, many, nothing
from toolcarry.model.content import shown_text
from toolcarry.model.formats import read_message
from toolcarry.model.formats.message import MessageParts

NAME = "cassette"
ABOUT = About(
    "Recorded traffic of one conversation: VCR, Betamax, HAR, as JSON",
    "`interactions`, `http_interactions` or `log.entries`, each with a `request` and a `response`",
    "real cassettes of pydantic-ai; betamax/betamax, docs/source/cassettes.rst; HAR 1.2",
)
SIGNS = Signs(("http_interactions", "interactions", "log"))
SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")


def claims(message: JsonObject) -> bool:
    return bool(exchanges(message))


read = call = result = nothing


def fold(items: Sequence[Any]) -> Sequence[Any]:
    """Return the messages of the conversation, and the exchanges that can't be read, which are then reported.

    Without a conversation, these are all of them.
    """
    documents = [each for each in map(as_object, items) if each is not None and claims(each)]
    if len(documents) > 1:
        raise many(len(documents), "cassettes")
    if len(items) > 1:
        return items
    lines: list[Sent] = []
    left: list[JsonObject] = []
    room = Room()
    for exchange in exchanges(documents[0]):
        try:
            sent = read_sent(exchange, room)
        except InputError:
            left.append(exchange)
        else:
            add(lines, sent)
    if len(lines) > 1:
        raise many(len(lines), "conversations")
    if not lines:
        return exchanges(documents[0])
    return [*chain.from_iterable((*line.system, *line.messages, *line.answer) for line in lines), *left]  # fmt: skip


def accounted(_items: Sequence[Any]) -> Sequence[Any]:
    """Return nothing: an exchange is read, repeated by a later one, or returned as it is."""
    return ()


class Sent(NamedTuple):
    """The newest request of a conversation, with its answer."""

    system: list[JsonObject]
    messages: list[Any]
    answer: Sequence[JsonObject]
    response: bytes
    stored: str
    """The id of the answer, or of the conversation, that the request goes on from; the provider stores it."""


def read_sent(exchange: JsonObject, room: Room) -> Sent:
    """Return a request with its answer; without messages if it is no conversation."""
    body, answer, response = read_exchange(exchange, room)
    prompt = body.get("input")
    messages = next((found for key in LISTS if (found := as_list(body.get(key)))), ())
    if isinstance(prompt, str) and answer is not None:
        messages = [{"role": "user", "content": prompt}]
    if not all(as_object(each) is not None for each in messages):
        messages = ()
    value = first_given(body, *SYSTEM)
    system = first_given(as_object(value) or {}, "parts") or value
    held = first_given(body, "previous_response_id", "conversation")
    return Sent(
        [{"role": "system", "content": system}] if system else [],
        [*messages],
        [] if answer is None else answer.messages,
        response,
        text_or_empty((as_object(held) or {"id": held}).get("id")),
    )


def add(lines: list[Sent], sent: Sent) -> None:
    """Add a request to the conversation that it repeats, or goes on from; else it begins another one."""
    if not sent.messages:
        return
    for number, line in enumerate(lines):
        is_next = sent.stored.encode() in line.response or sent.stored == line.stored
        if sent.stored and is_next:
            messages = [*line.messages, *line.answer, *sent.messages]
            lines[number] = sent._replace(messages=messages)
            return
        if is_beginning(line.messages, sent.messages):
            lines[number] = sent
            return
    lines.append(sent)


def is_beginning(early: Sequence[Any], later: Sequence[Any]) -> bool:
    """Return true if a conversation begins with these messages."""
    one, other = ([*chain.from_iterable(map(facts_of, each))] for each in (early, later))
    return other[: len(one)] == one


def facts_of(message: JsonObject) -> list[object]:
    """Return what clients leave as it is when they send a message again, even to another provider."""
    role, parts = message.get("role"), MessageParts()
    if role in ("system", "developer"):
        return []
    if read_message(message, role, parts) is None:
        return [message]
    text = "" if parts.results else shown_text(first_given(message, "content", "parts"))
    ids = [*(each.call_id for each in parts.results), *(each.call_id for each in parts.calls)]
    return [text, *ids] if text else [*ids]
