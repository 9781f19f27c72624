"""OpenTelemetry spans and OTLP: conversations in the attributes of a span, by the conventions for generative AI or by
OpenInference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from toolcarry._input.document import loads_large
from toolcarry._input.json import loads_any_depth
from toolcarry._input.json_parts import LARGE
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._input.otlp import spans_of
from toolcarry.errors import InputError
from toolcarry.importers.producers import opentelemetry
from toolcarry.importers.producers.base import About, Imported, Signs, ToolCall, ToolResult

NAME = "otel-span"
ABOUT = About(
    "OpenTelemetry spans, OTLP JSON, OpenInference",
    "`attributes` with `gen_ai.input.messages` or `llm.input_messages`; `resourceSpans`",
    "open-telemetry/semantic-conventions, docs/gen-ai; openinference-semantic-conventions 0.1.42",
)
SIGNS = Signs(("attributes", "resourceSpans"))
SIDES: Final = ("input", "output")
MEMBER: Final = re.compile(r"llm\.(input|output)_messages\.(\d{1,6})\.message\.(.+)")
TOOL_CALL: Final = re.compile(r"tool_calls\.(\d{1,6})\.tool_call\.(.+)")
CONTENT: Final = re.compile(r"contents\.(\d{1,6})\.message_content\.text")


def claims(message: JsonObject) -> bool:
    return any(any(conversation_of(attributes)) for attributes in spans_of(message))


def conversation_of(attributes: JsonObject) -> list[Sequence[Any]]:
    """Return the messages of a span: what was sent, and the answer."""
    return [
        listed(attributes.get(f"gen_ai.{side}.messages")) or open_inference(attributes, side)
        for side in SIDES
    ]


def listed(value: object) -> Sequence[Any]:
    """Return a list, which may be written as a JSON text; the items of a large one are decoded one by one."""
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        try:
            value = loads_any_depth(text) if len(text) < LARGE else loads_large(text)
        except InputError:
            return ()
    return as_list(value) or ()


def open_inference(attributes: JsonObject, side: str) -> list[Any]:
    """Return the messages of OpenInference, whose members are attributes of their own, as messages of OpenAI Chat."""
    messages: dict[int, dict[str, Any]] = {}
    calls: dict[int, dict[int, dict[str, Any]]] = {}
    for key, value in attributes.items():
        found = MEMBER.fullmatch(key) if isinstance(key, str) else None
        if found is None or found[1] != side:
            continue
        number, name = int(found[2]), found[3]
        message = messages.setdefault(number, {"role": "", "content": None})
        made, text = TOOL_CALL.fullmatch(name), CONTENT.fullmatch(name)
        if made is not None:
            entry = calls.setdefault(number, {}).setdefault(int(made[1]), {"id": "", "type": "function", "function": {}})  # fmt: skip
            part = made[2]
            if part.startswith("function."):
                entry["function"][part.removeprefix("function.")] = value
            else:
                entry[part] = value
        elif text is not None:
            message["content"] = (message["content"] or "") + str(value)
        else:
            message[name] = value
    for number, made_calls in calls.items():
        messages[number]["tool_calls"] = [made_calls[at] for at in sorted(made_calls)]
    return [messages[number] for number in sorted(messages)]


def read(message: JsonObject) -> Imported | None:
    return Imported(NAME) if "attributes" in message or "resourceSpans" in message else None


def call(wire: JsonObject) -> ToolCall | None:
    return opentelemetry.call(wire)


def result(wire: JsonObject) -> ToolResult | None:
    return opentelemetry.result(wire)


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return the longest conversation: each request repeats the ones before it. Of two equally long, the later one counts."""
    spans = (span for item in items for span in spans_of(as_object(item) or {}))
    longest: list[Sequence[Any]] = []
    for conversation in map(conversation_of, spans):
        if sum(map(len, conversation)) >= sum(map(len, longest)):
            longest = conversation
    return map(in_parts, chain.from_iterable(longest))


def accounted(items: Sequence[Any]) -> Iterator[Any]:
    """Yield the messages of all spans. Their other attributes describe the request, or what a tool did."""
    for item in items:
        for attributes in spans_of(as_object(item) or {}):
            yield from chain.from_iterable(conversation_of(attributes))


def in_parts(item: object) -> object:
    """Read a message whose parts are calls or results; all others are also those of other formats."""
    found = opentelemetry.read(as_object(item) or {})
    return item if found is None or not (found.calls or found.results) else found
