"""An answer that is held back until it is certain that it is for the client: the model may only ask for a kept result.

An answer in one piece is held as a whole. A stream is held up to its first call of another tool, or ``MOST_TEXT``
characters of text; then the held part is passed on, and the rest as it arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from toolcarry._input.answers import (
    ANTHROPIC_DELTAS,
    ODD,
    Answer,
    from_document,
    from_events,
)
from toolcarry._input.json import loads
from toolcarry.api.projection import Style
from toolcarry.errors import InputError
from toolcarry.integrations.response import Message, Send

__all__ = ["MOST_TEXT", "Asked", "AskedTurn", "HeldAnswer"]

JsonObject: TypeAlias = dict[str, Any]

MOST_TEXT: Final = 500
"""The maximum number of characters of a stream's text that are held back; a longer answer is for the client."""
STREAMS: Final = (b"text/event-stream", b"application/x-ndjson")


class Asked(NamedTuple):
    """A call of one of the tools: its id, its name, and its arguments as an object or as JSON."""

    call_id: str
    name: str
    arguments: Any


class AskedTurn(NamedTuple):
    """The model's turn as it is sent back to it, and its calls. ``has_others`` is true if it has calls for the client,
    too."""

    messages: list[JsonObject]
    calls: list[Asked]
    has_others: bool


class HeldAnswer:
    """Receives the messages of an ASGI response; ``names`` are the tools whose calls are held back."""

    def __init__(self, style: Style, names: frozenset[str], send: Send) -> None:
        self._style = style
        self._names = names
        self._send = send
        self._held: list[Message] = []
        self._body = bytearray()
        self._read = 0
        self._text = 0
        self._events: list[JsonObject] = []
        self._is_stream = False
        self.is_released = False
        self.is_complete = False
        self.status = 0

    async def send(self, message: Message) -> None:
        """Hold a message back, or pass it on if the answer is for the client."""
        if self.is_released:
            return await self._send(message)
        self._held.append(message)
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = {name.lower(): value for name, value in message.get("headers", ())}
            kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            self._is_stream = kind in STREAMS
            is_readable = self._is_stream or kind == b"application/json"
            if not is_readable or b"content-encoding" in headers:
                await self.release()
            return None
        self._body += message.get("body", b"")
        self.is_complete = not message.get("more_body", False)
        if self._is_stream and self._is_for_the_client():
            await self.release()
        return None

    async def release(self) -> None:
        """Pass on the held messages; later ones are passed on as they arrive."""
        self.is_released = True
        held, self._held = self._held, []
        for message in held:
            await self._send(message)

    def turn(self) -> AskedTurn | None:
        """Return the model's turn if it asks only for kept results; ``None`` otherwise."""
        if self.is_released or not self.is_complete or self.status != 200:
            return None
        try:
            if self._is_stream:
                self._is_for_the_client()
                found = turn_of_events(self._events, self._style, self._names)
            else:
                found = turn_of_document(loads(bytes(self._body)), self._style, self._names)
        except (InputError, *ODD):
            return None
        return found if found is not None and found.calls and not found.has_others else None

    def _is_for_the_client(self) -> bool:
        """Read the received events, and return true if one of them shows that the answer is for the client."""
        try:
            for event in self._new_events():
                self._events.append(event)
                name, text = shown_by(event, self._style)
                self._text += text
                if (name and name not in self._names) or self._text > MOST_TEXT:
                    return True
        except (InputError, *ODD):
            return True
        return False

    def _new_events(self) -> Iterator[JsonObject]:
        """Yield the events of the complete lines."""
        while (end := self._body.find(b"\n", self._read)) >= 0:
            line = bytes(self._body[self._read : end]).strip()
            self._read = end + 1
            if self._style != "ollama":
                if not line.startswith(b"data:"):
                    continue
                line = line[5:].strip()
            if line and line != b"[DONE]":
                event = loads(line)
                if isinstance(event, dict):
                    yield event


def shown_by(event: JsonObject, style: Style) -> tuple[str, int]:
    """Return the name of the tool that an event begins to call, if any, and the characters of text that it brings."""
    if style == "anthropic":
        block = event.get("content_block") or {}
        name = block.get("name") if block.get("type") == "tool_use" else ""
        return name or "", len((event.get("delta") or {}).get("text") or "")
    if style == "responses":
        item = event.get("item") or {}
        kind = str(item.get("type") or "")
        is_text = event.get("type") == "response.output_text.delta"
        name = item.get("name") or kind if kind.endswith("_call") else ""
        return name, len(event["delta"]) if is_text else 0
    messages = [event["message"]] if style == "ollama" else deltas_of(event)
    names = [
        call["function"]["name"]
        for message in messages
        for call in message.get("tool_calls") or ()
        if (call.get("function") or {}).get("name")
    ]
    return (names[0] if names else ""), sum(len(each.get("content") or "") for each in messages)


def deltas_of(event: JsonObject) -> list[JsonObject]:
    return [choice.get("delta") or {} for choice in event.get("choices") or ()]


# The model's turn


def turn_of_document(document: Any, style: Style, names: frozenset[str]) -> AskedTurn | None:
    """Return the turn of an answer in one piece; ``None`` if the model did not end it to call tools."""
    answer = from_document(document)
    is_over = {
        "anthropic": document.get("stop_reason") == "tool_use",
        "responses": document.get("status") == "completed",
    }.get(style, True)
    return turn_of(answer, style, names) if is_over else None


def turn_of_events(
    events: Sequence[JsonObject], style: Style, names: frozenset[str]
) -> AskedTurn | None:
    """Return the turn of a stream; ``None`` if the model did not end it to call tools, or if a part of it can't be
    read."""
    if style == "anthropic":
        deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
        if any(delta["type"] not in ANTHROPIC_DELTAS for delta in deltas):
            return None
        ends = (event["delta"] for event in events if event["type"] == "message_delta")
        is_over = any(end.get("stop_reason") == "tool_use" for end in ends)
    elif style == "openai":
        choices = [choice for event in events for choice in event.get("choices") or ()]
        is_over = any(choice.get("finish_reason") == "tool_calls" for choice in choices)
    elif style == "responses":
        is_over = any(event["type"] == "response.completed" for event in events)
    else:
        is_over = True
    return turn_of(from_events(events), style, names) if is_over else None


def turn_of(answer: Answer | None, style: Style, names: frozenset[str]) -> AskedTurn | None:
    """Return the turn of the model's messages; ``None`` if one is missing."""
    if answer is None or not answer.is_complete:
        return None
    uses, calls = CALLS[style](answer.messages)
    asked = [call for call in calls if call.name in names]
    return AskedTurn(answer.messages, asked, len(asked) < uses)


def anthropic_calls(messages: list[JsonObject]) -> tuple[int, list[Asked]]:
    """Return the number of calls in the model's messages, and those of functions."""
    (message,) = messages
    uses = [block for block in message["content"] if block["type"] == "tool_use"]
    return len(uses), [Asked(use["id"], use["name"], use["input"]) for use in uses]


def chat_calls(messages: list[JsonObject]) -> tuple[int, list[Asked]]:
    """Do the same for OpenAI Chat and Ollama."""
    (message,) = messages
    given = message.get("tool_calls") or []
    named = [(call.get("id") or "", call["function"]) for call in given]
    return len(given), [
        Asked(call_id, function["name"], function.get("arguments")) for call_id, function in named
    ]


def responses_calls(messages: list[JsonObject]) -> tuple[int, list[Asked]]:
    """Do the same for Responses, whose own tools have calls, too."""
    uses = [item for item in messages if item["type"].endswith("_call")]
    own = [use for use in uses if use["type"] == "function_call"]
    return len(uses), [Asked(use["call_id"], use["name"], use["arguments"]) for use in own]


CALLS: Final[Mapping[Style, Callable[[list[JsonObject]], tuple[int, list[Asked]]]]] = {
    "anthropic": anthropic_calls,
    "openai": chat_calls,
    "responses": responses_calls,
    "ollama": chat_calls,
}
