"""OpenTelemetry spans and OTLP: conversations in the attributes of a span, by the conventions for generative AI or by
OpenInference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from toolcarry._input.json import loads_any_depth
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.errors import InputError
from toolcarry.importers.producers import opentelemetry
from toolcarry.importers.producers.base import About, Imported, ToolCall, ToolResult, objects

NAME = "otel-span"
ABOUT = About(
    "OpenTelemetry spans, OTLP JSON, OpenInference",
    "`attributes` with `gen_ai.input.messages` or `llm.input_messages`; `resourceSpans`",
    "open-telemetry/semantic-conventions, docs/gen-ai; openinference-semantic-conventions 0.1.42",
)
SIDES: Final = ("input", "output")
MEMBER: Final = re.compile(r"llm\.(input|output)_messages\.(\d{1,6})\.message\.(.+)")
TOOL_CALL: Final = re.compile(r"tool_calls\.(\d{1,6})\.tool_call\.(.+)")
CONTENT: Final = re.compile(r"contents\.(\d{1,6})\.message_content\.text")


def claims(message: JsonObject) -> bool:
    return any(map(conversation_of, spans_of(message)))


def spans_of(document: JsonObject) -> Iterator[JsonObject]:
    """Return the attributes of the spans in a document: a span, or a request of OTLP."""
    if "resourceSpans" not in document:
        yield attributes_of(document)
    for resource in objects(document.get("resourceSpans")):
        for scope in objects(resource.get("scopeSpans")):
            yield from map(attributes_of, objects(scope.get("spans")))


def attributes_of(span: JsonObject) -> JsonObject:
    """Return the attributes of a span by their names; OTLP has a list of keys and values."""
    attributes = span.get("attributes")
    listed = as_list(attributes)
    if listed is None:
        return as_object(attributes) or {}
    return table_of(listed)


def table_of(pairs: object) -> JsonObject:
    """Return the pairs of a key and a value in OTLP as an object."""
    named = (pair for pair in objects(pairs) if isinstance(pair.get("key"), str))
    return {pair["key"]: value_of(pair.get("value")) for pair in named}


def value_of(value: object) -> object:
    """Return a value of OTLP, which is in a member that names its type."""
    held = as_object(value) or {}
    array, table = as_object(held.get("arrayValue")), as_object(held.get("kvlistValue"))
    if array is not None:
        return [value_of(each) for each in as_list(array.get("values")) or ()]
    if table is not None:
        return table_of(table.get("values"))
    return next((each for key, each in held.items() if key.endswith("Value")), None)


def conversation_of(attributes: JsonObject) -> list[Any]:
    """Return the messages of a span: what was sent, and the answer."""
    found: list[Any] = []
    for side in SIDES:
        found += listed(attributes.get(f"gen_ai.{side}.messages")) or open_inference(
            attributes, side
        )
    return found


def listed(value: object) -> list[Any]:
    """Return a list, which may be written as a JSON text."""
    if isinstance(value, str):
        try:
            value = loads_any_depth(value.encode("utf-8", "surrogatepass"))
        except InputError:
            return []
    return list(as_list(value) or ())


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
    longest: list[Any] = []
    for conversation in map(conversation_of, spans):
        if len(conversation) >= len(longest):
            longest = conversation
    return map(in_parts, longest)


def in_parts(item: object) -> object:
    """Read a message whose parts are calls or results; all others are also those of other formats."""
    found = opentelemetry.read(as_object(item) or {})
    return item if found is None or not (found.calls or found.results) else found
