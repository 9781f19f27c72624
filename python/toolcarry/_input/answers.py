"""Read the model's message from an answer: a document, or a complete or interrupted stream.

The message has the form in which the client sends it back with its next request. Deltas of an unknown kind are left
out, and everything else is copied unchanged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from toolcarry._input.archive import unpack
from toolcarry._input.codings import TooLargeError, unpack_body
from toolcarry._input.json import loads as decode
from toolcarry._input.value_count import has_many_values
from toolcarry.errors import InputError

__all__ = [
    "ANTHROPIC_DELTAS",
    "MOST_ANSWER",
    "ODD",
    "Answer",
    "from_document",
    "from_events",
    "read_answer",
]

JsonObject: TypeAlias = dict[str, Any]

MOST_ANSWER: Final = 32 << 20
"""The most bytes of an answer that are read. A longer one is passed on, but not kept in memory."""
INVALID_JSON: Final = "INVALID_JSON"
"""The member for the incomplete arguments of an interrupted call, where an object is required."""
ODD: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""The errors of reading an answer that has values of other types than any provider's."""


class Answer(NamedTuple):
    """The model's messages, usually one. ``is_complete`` is false if the answer was interrupted."""

    messages: list[JsonObject]
    is_complete: bool


def read_answer(
    data: bytes, codings: Sequence[str] = (), *, most: int = MOST_ANSWER
) -> Answer | None:
    """Return the model's message in the body of an answer with these content codings; ``None`` if it can't be read.

    Without ``codings``, its first bytes show if it is compressed. An answer of more than ``most`` bytes, or with more
    than a million values in one document, is not read.

    >>> read_answer(b'{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi."}]}')
    Answer(messages=[{'role': 'assistant', 'content': [{'type': 'text', 'text': 'Hi.'}]}], is_complete=True)
    """
    try:
        if codings:
            body = unpack_body(data, list(codings), most, may_break_off=True)
        else:
            body = unpack(data, limit=most)
        return assembled(body) if body is not None and len(body) <= most else None
    except (InputError, TooLargeError, *ODD):
        return None


def loads(data: bytes) -> Any:
    """Decode a document, or an event of a stream. Raises ``InputError`` for one with too many values."""
    if has_many_values(data):
        raise InputError("has too many values")
    return decode(data)


def assembled(data: bytes) -> Answer | None:
    """Return the message of a document, or of the events of a stream."""
    start = data.lstrip()[:1]
    if start == b"{":
        try:
            document = loads(data)
        except InputError:
            return from_events(lines_in(data))
        if isinstance(document, dict):
            return from_document(document)
    if start == b"[":
        events = loads(data)
        return from_events(event for event in events if isinstance(event, dict))
    return from_events(sse_events(data))


def lines_in(data: bytes) -> Iterator[JsonObject]:
    """Yield the objects of a stream that has one on each line, up to the first incomplete one."""
    for line in data.splitlines():
        if not line.strip():
            continue
        try:
            event = loads(line)
        except InputError:
            return
        if isinstance(event, dict):
            yield event


def sse_events(data: bytes) -> Iterator[JsonObject]:
    """Yield the data of server-sent events. An incomplete last event is left out."""
    for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        if not line.startswith(b"data:"):
            continue
        text = line[5:].strip()
        if text == b"[DONE]":
            yield {DONE: True}
            continue
        try:
            event = loads(text)
        except InputError:
            return
        if isinstance(event, dict):
            yield event


DONE: Final = "[DONE]"


def from_document(document: JsonObject) -> Answer | None:
    """Return the message of an answer that came in one piece."""
    if document.get("type") == "message" and isinstance(document.get("content"), list):
        return Answer([{"role": "assistant", "content": document["content"]}], True)
    if isinstance(document.get("choices"), list):
        choices = document["choices"]
        # If there are several choices, the next request shows which of them the client continues.
        return Answer([choices[0]["message"]] if len(choices) == 1 else [], True)
    if isinstance(document.get("output"), list):
        return Answer(document["output"], True)
    if isinstance(document.get("message"), dict):
        return Answer([document["message"]], bool(document.get("done", True)))
    if isinstance(document.get("candidates"), list):
        return from_events([document])
    held = document.get("output")
    if isinstance(held, dict) and isinstance(held.get("message"), dict):
        return Answer([held["message"]], True)
    return None


def from_events(events: Iterable[JsonObject]) -> Answer | None:
    """Return the message of a stream, whose first events show the format."""
    stream: Stream | None = None
    for event in events:
        stream = stream or stream_of(event)
        if stream is not None:
            stream.add(event)
    return None if stream is None else stream.answer()


def stream_of(event: Mapping[str, Any]) -> Stream | None:
    """Return a reader for a stream with this event; ``None`` if the event does not show the format."""
    kind = event.get("type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return ResponsesStream()
        if kind == "message_start" or kind.startswith("content_block"):
            return AnthropicStream()
    found = next((make for key, make in BY_MEMBER.items() if key in event), None)
    return None if found is None else found()


class Stream(ABC):
    """Builds a message from the events of a stream, as far as they arrived."""

    def __init__(self) -> None:
        self.is_complete = False

    @abstractmethod
    def add(self, event: JsonObject) -> None:
        """Take the next event."""

    @abstractmethod
    def messages(self) -> list[JsonObject]:
        """Return the messages so far."""

    def answer(self) -> Answer:
        return Answer(self.messages(), self.is_complete)


TEXT_DELTAS: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "compaction_delta": "content",
}
"""The deltas of Anthropic's streams that append to a string of a block, with its key: https://platform.claude.com/docs/en/build-with-claude/streaming"""

ANTHROPIC_DELTAS: Final = frozenset(
    (*TEXT_DELTAS, "input_json_delta", "citations_delta", "signature_delta")
)
"""The deltas that are read; a block with any other one is kept without it."""


class AnthropicStream(Stream):
    """Blocks with their deltas, in the order of their indices."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, JsonObject] = {}
        self._inputs: dict[int, list[str]] = {}

    def add(self, event: JsonObject) -> None:
        kind = event.get("type")
        if kind == "content_block_start":
            self._blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            self._add_delta(event["index"], event["delta"])
        elif kind == "message_stop":
            self.is_complete = True

    def _add_delta(self, index: int, delta: JsonObject) -> None:
        block, kind = self._blocks[index], delta["type"]
        if kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(delta["partial_json"])
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]
        elif kind in TEXT_DELTAS:
            key = TEXT_DELTAS[kind]
            block[key] = (block.get(key) or "") + delta[key]

    def messages(self) -> list[JsonObject]:
        for index, pieces in self._inputs.items():
            if written := "".join(pieces):
                self._blocks[index]["input"] = object_of(written)
        content = [self._blocks[index] for index in sorted(self._blocks)]
        return [{"role": "assistant", "content": content}] if content else []


def object_of(written: str) -> JsonObject:
    """Return arguments that were streamed as JSON; incomplete JSON stays a string."""
    try:
        found = loads(written.encode("utf-8", "surrogatepass"))
    except InputError:
        found = None
    return found if isinstance(found, dict) else {INVALID_JSON: written}


def merge(held: JsonObject, delta: Mapping[str, Any]) -> None:
    """Apply a delta: strings and lists are extended, other values are replaced, and nulls change nothing."""
    for key, value in delta.items():
        before = held.get(key)
        if value is None and before is not None:
            continue
        if isinstance(before, str) and isinstance(value, str) and key not in ("role", "type"):
            held[key] = before + value
        elif isinstance(before, list) and isinstance(value, list):
            held[key] = [*before, *value]
        elif isinstance(before, dict) and isinstance(value, dict):
            merge(before, value)
        else:
            held[key] = value


class ChatStream(Stream):
    """Deltas of a message; calls are known by their index."""

    def __init__(self) -> None:
        super().__init__()
        self._message: JsonObject = {}
        self._calls: dict[int, JsonObject] = {}
        self._is_one = True

    def add(self, event: JsonObject) -> None:
        self.is_complete = self.is_complete or DONE in event
        for choice in event.get("choices") or ():
            if choice.get("index", 0) != 0:
                self._is_one = False
                continue
            delta = dict(choice.get("delta") or {})
            for place, call in enumerate(delta.pop("tool_calls", None) or ()):
                given = {key: value for key, value in call.items() if key != "index"}
                held = self._calls.setdefault(call.get("index", place), {})
                if held.get("id"):  # some servers repeat it
                    given.pop("id", None)
                merge(held, given)
            merge(self._message, delta)
            self.is_complete = self.is_complete or choice.get("finish_reason") is not None

    def messages(self) -> list[JsonObject]:
        if not self._is_one or not (self._message or self._calls):
            return []
        message = {"role": "assistant", "content": None, **self._message}
        if self._calls:
            calls = [self._calls[index] for index in sorted(self._calls)]
            message["tool_calls"] = [{"type": "function", **call} for call in calls]
        return [message]


ENDS: Final = ("response.completed", "response.incomplete", "response.failed")
ITEM_TEXTS: Final = {
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}
PART_TEXTS: Final = {
    "response.output_text.delta": ("output_text", "text"),
    "response.refusal.delta": ("refusal", "refusal"),
}


class ResponsesStream(Stream):
    """Items by their index; the last event has all of them."""

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[int, JsonObject] = {}

    def add(self, event: JsonObject) -> None:
        kind = event["type"]
        if kind in ENDS:
            self.is_complete = kind != "response.failed"
            output = event["response"].get("output")
            if output:
                self._items = dict(enumerate(output))
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._items[event["output_index"]] = dict(event["item"])
        elif kind in ITEM_TEXTS:
            item, key = self._items[event["output_index"]], ITEM_TEXTS[kind]
            item[key] = (item.get(key) or "") + event["delta"]
        elif kind in PART_TEXTS:
            self._add_text(event, *PART_TEXTS[kind])

    def _add_text(self, event: JsonObject, name: str, key: str) -> None:
        item = self._items[event["output_index"]]
        parts, index = list(item.get("content") or ()), event["content_index"]
        if index < len(parts):
            part = dict(parts[index])
            parts[index] = {**part, key: (part.get(key) or "") + event["delta"]}
        else:
            parts.append({"type": name, key: event["delta"]})
        item["content"] = parts

    def messages(self) -> list[JsonObject]:
        found = [self._items[index] for index in sorted(self._items)]
        # A message without content was interrupted before its text began.
        return [item for item in found if item.get("type") != "message" or item.get("content")]


class OllamaStream(Stream):
    """Messages whose contents are concatenated; the last one is ``done``."""

    def __init__(self) -> None:
        super().__init__()
        self._message: JsonObject = {}

    def add(self, event: JsonObject) -> None:
        merge(self._message, event.get("message") or {})
        self.is_complete = self.is_complete or bool(event.get("done"))

    def messages(self) -> list[JsonObject]:
        return [self._message] if self._message else []


class GeminiStream(Stream):
    """Parts; consecutive text parts are joined."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[JsonObject] = []

    def add(self, event: JsonObject) -> None:
        for candidate in (event.get("candidates") or ())[:1]:
            for part in (candidate.get("content") or {}).get("parts") or ():
                last = self._parts[-1] if self._parts else {}
                if part.keys() <= {"text", "thought"} and part.keys() == last.keys():
                    last["text"] += part["text"]
                else:
                    self._parts.append(dict(part))
            self.is_complete = self.is_complete or bool(candidate.get("finishReason"))

    def messages(self) -> list[JsonObject]:
        return [{"role": "model", "parts": self._parts}] if self._parts else []


BY_MEMBER: Final[dict[str, Callable[[], Stream]]] = {
    "choices": ChatStream,
    "candidates": GeminiStream,
    "done": OllamaStream,
}
"""The readers of streams, by a member of their events."""
