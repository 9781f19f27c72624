"""An answer that is held back until it is certain that it is for the client: the model may only ask for a kept result.

An answer in one piece is held as a whole. A stream is held up to its first call of another tool, or ``MOST_TEXT``
characters of text; then the held part is passed on, and the rest as it arrives. The client has the head of a stream at
once, and thoughts of Chat and Ollama as they come. Those of Anthropic and Responses are held, since the client would send
them back, and a provider refuses thoughts of two answers in one.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from toolcarry._input.answers import (
    ANTHROPIC_DELTAS,
    MOST_ANSWER,
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
PAUSE: Final = 1.0
"""The seconds between two comments in a stream that is held."""
COMMENT: Final = b": toolcarry holds this answer until it is known who it is for\n\n"
"""https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream"""
EMPTY_LINE: Final = re.compile(rb"\r?\n")
THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking")
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
    """Receives the messages of an ASGI response; ``names`` are the tools whose calls are held back.

    ``is_begun`` is true once the client has the head of a response, perhaps that of an earlier answer: then only another
    stream can take its place. ``clock`` gives the time of the comments in a held stream.
    """

    def __init__(
        self,
        style: Style,
        names: frozenset[str],
        send: Send,
        *,
        is_begun: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._style = style
        self._names = names
        self._send = send
        self._clock = clock
        self._start: Message = {}
        self._body = bytearray()
        self._passed = 0
        """The bytes of the body that the client has."""
        self._free = 0
        """The end of the events at the beginning that the client may have, whoever the answer is for."""
        self._is_thinking = True
        self._read = 0
        self._text = 0
        self._commented = -math.inf
        self._events: list[JsonObject] = []
        self._is_stream = False
        self._was_begun = is_begun
        self.is_begun = is_begun
        self.is_released = False
        self.is_complete = False
        self.status = 0

    @property
    def may_replace(self) -> bool:
        """True if the answer can go to a client in place of the one before."""
        return self.status < 400 and (self._is_stream or not self._was_begun)

    async def send(self, message: Message) -> None:
        """Hold a message back, or pass it on if the answer is for the client."""
        if self.is_released:
            return await self._send(message)
        if message["type"] == "http.response.start":
            return await self._receive_start(message)
        self._body += message.get("body", b"")
        self.is_complete = not message.get("more_body", False)
        is_long = len(self._body) > MOST_ANSWER
        if self.may_replace and (is_long or (self._is_stream and self._is_for_the_client())):
            await self.release()
        elif self._is_stream and self.status == 200:
            await self._show_life()
        return None

    async def _receive_start(self, message: Message) -> None:
        self._start, self.status = message, message["status"]
        headers = {name.lower(): value for name, value in message.get("headers", ())}
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        is_plain = b"content-encoding" not in headers
        self._is_stream = is_plain and kind in STREAMS
        is_readable = self._is_stream or (is_plain and kind == b"application/json")
        if not is_readable and not self._was_begun:
            await self.release()

    async def release(self) -> None:
        """Pass on what is held; later messages are passed on as they arrive."""
        self.is_released = True
        await self._begin()
        if len(self._body) > self._passed or self.is_complete:
            await self._pass_on(len(self._body), more_body=not self.is_complete)

    async def _begin(self) -> None:
        """Give the client the head of the response, if it has none."""
        if self.is_begun:
            return
        self.is_begun = True
        start = self._start
        if self._is_stream:  # whose length may become another one
            headers = start.get("headers", ())
            kept = [header for header in headers if header[0].lower() != b"content-length"]
            start = {**start, "headers": kept}
        await self._send(start)

    async def _pass_on(self, end: int, *, more_body: bool = True) -> None:
        """Give the client the body up to ``end``."""
        part = bytes(self._body[self._passed : end])
        self._passed = end
        await self._send({"type": "http.response.body", "body": part, "more_body": more_body})

    async def _show_life(self) -> None:
        """Give the client of a stream what it may have for certain: the head, and thoughts that nobody has to send back.

        Other events are held. Meanwhile a comment, which clients ignore, comes once a second. A stream of lines has none.
        """
        await self._begin()
        end = self._free
        if self._style != "ollama":  # an event ends with an empty line
            gap = EMPTY_LINE.match(self._body, end)
            end = gap.end() if gap else 0
        if end > self._passed:
            await self._pass_on(end)
        elif self._style != "ollama" and self._clock() - self._commented >= PAUSE:
            self._commented = self._clock()
            comment = {"type": "http.response.body", "body": COMMENT, "more_body": True}
            await self._send(comment)

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
                self._is_thinking = self._is_thinking and is_free_thought(event, self._style)
                if self._is_thinking:
                    self._free = self._read
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


def is_free_thought(event: JsonObject, style: Style) -> bool:
    """True if an event of Chat or Ollama brings a part of a thought, or nothing; what a provider signs is not free.

    >>> is_free_thought({"choices": [{"delta": {"role": "assistant", "content": "", "reasoning_content": "I"}}]}, "openai")
    True
    """
    if style == "ollama":
        messages = [] if event.get("done") else [event.get("message") or {}]
    elif style == "openai":
        is_over = any(choice.get("finish_reason") for choice in event.get("choices") or ())
        messages = [] if is_over else deltas_of(event)
    else:
        return False
    texts = [each[key] for each in messages for key in each if key not in (*THOUGHTS, "role")]
    return bool(messages) and not any(texts)


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
