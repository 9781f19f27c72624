"""AutoGen 0.4 and later: the messages and events of agents, and the messages of models."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    medium,
    objects,
    shown_parts,
)

NAME = "autogen"
ABOUT = About(
    "AutoGen, agent messages and model messages",
    "types `ToolCallRequestEvent`, `ToolCallExecutionEvent`, `TextMessage`, `FunctionExecutionResultMessage` and others",
    "autogen-agentchat 0.7.5, real dumps",
)
SIGNS = Signs(("source",))
ASIDE = frozenset(("metadata",))
CALLS = frozenset(("ToolCallRequestEvent", "AssistantMessage"))
RESULTS = frozenset(("ToolCallExecutionEvent", "FunctionExecutionResultMessage"))
SAID = frozenset(
    (
        "TextMessage",
        "MultiModalMessage",
        "StopMessage",
        "HandoffMessage",
        "UserMessage",
        "SystemMessage",
        "AssistantMessage",
    )
)
SILENT = frozenset(
    (
        "ToolCallSummaryMessage",  # repeats the results
        "ThoughtEvent",
        "MemoryQueryEvent",
        "ModelClientStreamingChunkEvent",
        "SelectSpeakerEvent",
        "SelectorEvent",
        "CodeGenerationEvent",
        "CodeExecutionEvent",
        "UserInputRequestedEvent",
    )
)


def claims(message: JsonObject) -> bool:
    kind = kind_of(message)
    return "content" in message and "role" not in message and kind in CALLS | RESULTS | SAID


def read(message: JsonObject) -> Imported | None:
    kind, content = kind_of(message), message.get("content")
    if kind in SILENT:
        return Imported(NAME)
    if not claims(message):
        return None
    if kind in RESULTS:
        return Imported(NAME, results=[seen for each in objects(content) if (seen := result(each))])
    calls = [made for each in objects(content) if (made := call(each))] if kind in CALLS else []
    speaker = "user" if kind == "UserMessage" or message.get("source") == "user" else "assistant"
    speaker = "system" if kind == "SystemMessage" else speaker
    said = [shown(item) for item in as_list(content) or ()] or content
    return Imported(NAME, speaker, None if calls else shown_parts(said), calls)


def shown(item: object) -> object:
    """Return an item of a content; an image, which is always a PNG, as a part that both backends read."""
    part = as_object(item)
    is_image = part is not None and [*part] == ["data"]
    return medium("image/png", part["data"]) if part is not None and is_image else item


def call(wire: JsonObject) -> ToolCall | None:
    if not isinstance(wire.get("name"), str) or not isinstance(wire.get("arguments"), str):
        return None
    return ToolCall(wire, text_or_empty(wire.get("id")), wire["name"], wire["arguments"])


def result(wire: JsonObject) -> ToolResult | None:
    if "call_id" not in wire or "is_error" not in wire:
        return None
    call_id, name = text_or_empty(wire["call_id"]), text_or_empty(wire.get("name"))
    return ToolResult(wire, call_id, name, wire.get("content"), wire["is_error"] is True)
