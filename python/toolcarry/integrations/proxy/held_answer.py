"""An answer that is held back until it is certain that the client needs it: the model may only ask for a kept result.

An answer in one piece is held whole. A stream is held up to its first call of another tool, or ``MOST_TEXT`` characters of
text, and then passed on as it came and as it comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from toolcarry._input.json import loads
from toolcarry.api.projection import Style
from toolcarry.errors import InputError
from toolcarry.integrations.response import Message, Send

__all__ = ["MOST_TEXT", "Asked", "AskedTurn", "HeldAnswer"]

JsonObject: TypeAlias = dict[str, Any]

MOST_TEXT: Final = 500
"""The characters of a stream's text that are held back; with more, it is taken for the answer to the client."""
STREAMS: Final = (b"text/event-stream", b"application/x-ndjson")
ODD: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError, InputError)
"""The errors of reading an answer that has values of other types than the provider's."""


class Asked(NamedTuple):
    """A call of one of the tools: its id, its name, and its arguments as an object or as JSON."""

    call_id: str
    name: str
    arguments: Any


class AskedTurn(NamedTuple):
    """The model's turn as it is sent back, and its calls. ``has_others`` is true if the client has something to do."""

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
        """Pass on what was held back; what follows is passed on as it comes."""
        self.is_released = True
        held, self._held = self._held, []
        for message in held:
            await self._send(message)

    def turn(self) -> AskedTurn | None:
        """Return the model's turn if it asks for nothing but kept results; ``None`` otherwise."""
        if self.is_released or not self.is_complete or self.status != 200:
            return None
        try:
            if self._is_stream:
                self._is_for_the_client()
                found = JOINED[self._style](self._events, self._names)
            else:
                found = WHOLE[self._style](loads(bytes(self._body)), self._names)
        except ODD:
            return None
        return found if found is not None and found.calls and not found.has_others else None

    def _is_for_the_client(self) -> bool:
        """Read the events that came, and return true if one of them shows that the answer is for the client."""
        try:
            for event in self._new_events():
                self._events.append(event)
                name, text = shown_by(event, self._style)
                self._text += text
                if (name and name not in self._names) or self._text > MOST_TEXT:
                    return True
        except ODD:
            return True
        return False

    def _new_events(self) -> Iterator[JsonObject]:
        """Yield the events of the lines that are complete."""
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


# A whole answer


def from_anthropic(document: Any, names: frozenset[str]) -> AskedTurn:
    content = document["content"]
    uses = [block for block in content if block["type"] == "tool_use"]
    calls = [Asked(use["id"], use["name"], use["input"]) for use in uses if use["name"] in names]
    is_over = document.get("stop_reason") == "tool_use"
    turn: JsonObject = {"role": "assistant", "content": content}
    return AskedTurn([turn], calls, len(calls) < len(uses) or not is_over)


def from_chat(document: Any, names: frozenset[str]) -> AskedTurn:
    (choice,) = document["choices"]
    return from_message(choice["message"], names)


def from_message(message: JsonObject, names: frozenset[str]) -> AskedTurn:
    """Return the turn of a message of OpenAI Chat or Ollama."""
    given = message.get("tool_calls") or []
    named = [(call.get("id") or "", call["function"]) for call in given]
    calls = [
        Asked(call_id, function["name"], function.get("arguments"))
        for call_id, function in named
        if function["name"] in names
    ]
    return AskedTurn([message], calls, len(calls) < len(given))


def from_responses(document: Any, names: frozenset[str]) -> AskedTurn:
    items = document["output"]
    uses = [item for item in items if item["type"].endswith("_call")]
    calls = [
        Asked(use["call_id"], use["name"], use["arguments"])
        for use in uses
        if use["type"] == "function_call" and use["name"] in names
    ]
    return AskedTurn(items, calls, len(calls) < len(uses) or document["status"] != "completed")


def from_ollama(document: Any, names: frozenset[str]) -> AskedTurn:
    return from_message(document["message"], names)


# A stream, all events of which have come

JOINED_DELTAS: Final[Mapping[str, str]] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}


def join_anthropic(events: list[JsonObject], names: frozenset[str]) -> AskedTurn | None:
    """Join the blocks of a stream; ``None`` if it has a kind of delta that is not known, or no end."""
    blocks: dict[int, JsonObject] = {}
    inputs: dict[int, str] = {}
    reason = None
    for event in events:
        kind, index = event["type"], event.get("index", 0)
        if kind == "content_block_start":
            blocks[index] = dict(event["content_block"])
        elif kind == "content_block_delta":
            delta = event["delta"]
            if delta["type"] == "input_json_delta":
                inputs[index] = inputs.get(index, "") + delta["partial_json"]
            elif delta["type"] == "citations_delta":
                blocks[index].setdefault("citations", []).append(delta["citation"])
            elif delta["type"] in JOINED_DELTAS:
                key = JOINED_DELTAS[delta["type"]]
                blocks[index][key] = (blocks[index].get(key) or "") + delta[key]
            else:
                return None
        elif kind == "message_delta":
            reason = event["delta"].get("stop_reason")
    for index, text in inputs.items():
        blocks[index]["input"] = loads((text or "{}").encode())
    content = [blocks[index] for index in sorted(blocks)]
    return from_anthropic({"content": content, "stop_reason": reason}, names)


def join_chat(events: list[JsonObject], names: frozenset[str]) -> AskedTurn | None:
    message: JsonObject = {"role": "assistant", "content": None}
    calls: dict[int, JsonObject] = {}
    is_over = False
    for event in events:
        for choice in event.get("choices") or ():
            if choice.get("index"):
                return None
            is_over = is_over or choice.get("finish_reason") == "tool_calls"
            for key, value in (choice.get("delta") or {}).items():
                if key == "tool_calls":
                    for part in value or ():
                        join_call(calls.setdefault(part["index"], {}), part)
                elif key != "role" and isinstance(value, str):
                    message[key] = (message.get(key) or "") + value
    message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return from_message(message, names) if is_over else None


def join_call(call: JsonObject, part: JsonObject) -> None:
    """Add a part of a call to what came of it before."""
    function = call.setdefault("function", {"name": "", "arguments": ""})
    given = part.get("function") or {}
    function["name"] += given.get("name") or ""
    function["arguments"] += given.get("arguments") or ""
    call["id"] = part.get("id") or call.get("id")
    call["type"] = "function"


def join_responses(events: list[JsonObject], names: frozenset[str]) -> AskedTurn | None:
    whole = [event["response"] for event in events if event["type"] == "response.completed"]
    return from_responses(whole[-1], names) if whole else None


def join_ollama(events: list[JsonObject], names: frozenset[str]) -> AskedTurn | None:
    message: JsonObject = {"role": "assistant", "content": "", "tool_calls": []}
    for event in events:
        for key, value in event["message"].items():
            if key == "tool_calls":
                message[key] += value or []
            elif key != "role" and isinstance(value, str):
                message[key] = message.get(key, "") + value
    return from_message(message, names) if events and events[-1].get("done") else None


WHOLE: Final[Mapping[str, Any]] = {
    "anthropic": from_anthropic,
    "openai": from_chat,
    "responses": from_responses,
    "ollama": from_ollama,
}
JOINED: Final[Mapping[str, Any]] = {
    "anthropic": join_anthropic,
    "openai": join_chat,
    "responses": join_responses,
    "ollama": join_ollama,
}
