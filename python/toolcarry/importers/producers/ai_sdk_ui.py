"""Vercel AI SDK, UI messages: a tool part is a call, and its result as soon as there is one."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.ai_sdk import shown
from toolcarry.importers.producers.base import (
    STEP,
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    kind_of,
    objects,
    shown_parts,
    texts_of,
)

NAME = "ai-sdk-ui"
ABOUT = About(
    "Vercel AI SDK, UIMessage[]",
    "`parts` of the type `tool-NAME`, `dynamic-tool` or `tool-invocation` with a `toolCallId`; `toolInvocations`",
    "versions 4 to 6: vercel/ai, packages/ai/src/ui/ui-messages.ts",
)
SIGNS = Signs(("toolInvocations", "toolCallId"), ("tool", "dynamic-tool"))
ASIDE = frozenset(("metadata",))
ROLES = frozenset(("user", "assistant", "system", "data"))
SILENT = frozenset(("reasoning", "source", "source-url", "source-document"))
RESULTS = {"output-available": "output", "result": "result", "output-error": "errorText"}
"""The states with a result, and the member that holds it; version 4 has only ``result``."""


def claims(message: JsonObject) -> bool:
    if kind_of(message, "role") not in ROLES:
        return False
    parts = objects(message.get("parts"))
    is_step = any(kind_of(part) == STEP for part in parts)
    return is_step or any(map(held, [*parts, *objects(message.get("toolInvocations"))]))


def read(message: JsonObject) -> Imported | None:
    role = message.get("role")
    parts, invocations = objects(message.get("parts")), objects(message.get("toolInvocations"))
    attached = [
        {**each, "type": "file"} for each in objects(message.get("experimental_attachments"))
    ]
    if not isinstance(role, str) or role not in ROLES or not (parts or invocations or attached):
        return None
    known = {made.call_id for part in parts if (made := call(part))}
    # Version 4 has a message's calls in both places, and numbers their steps.
    apart = [each for each in invocations if (made := call(each)) and made.call_id not in known]
    said = [part for part in parts if not kind_of(part).startswith("data-")]
    text = message.get("content")
    # Without parts, the text is that of the last step.
    said += (
        [*apart, {"type": "text", "text": text}] if not parts and isinstance(text, str) else apart
    )
    steps = [shown(part) for part in in_steps([*said, *attached])]
    calls = [made for part in steps if (made := call(part))]
    results = [seen for part in steps if (seen := result(part))]
    data = [part for part in parts if kind_of(part).startswith("data-")]
    sources = [*texts_of(data), text_or_empty(text)]
    return Imported(NAME, role, shown_parts(steps, SILENT), calls, results, sources=sources)


def in_steps(parts: list[JsonObject]) -> list[JsonObject]:
    """Return parts with a mark before each call whose number says that it begins a step."""
    found: list[JsonObject] = []
    last: object = None
    for part in parts:
        step = (held(part) or {}).get("step")
        if step is not None:
            found += [{"type": STEP}] if last not in (None, step) else []
            last = step
        found.append(part)
    return found


def held(part: JsonObject) -> JsonObject | None:
    """Return the object with a part's call; ``None`` if it is not a call of a UI message."""
    inner = as_object(part.get("toolInvocation"))
    found = part if inner is None else inner
    return found if "toolCallId" in found and isinstance(found.get("state"), str) else None


def call(wire: JsonObject) -> ToolCall | None:
    part = held(wire)
    if part is None:
        return None
    kind = kind_of(part)
    name = text_or_empty(part.get("toolName")) or kind.removeprefix("tool-")
    given = first_given(part, "input", "args", "rawInput")
    return ToolCall(wire, text_or_empty(part.get("toolCallId")), name, given)


def result(wire: JsonObject) -> ToolResult | None:
    part = held(wire)
    state = "" if part is None else kind_of(part, "state")
    if part is None or (state not in RESULTS and state != "output-denied"):
        return None
    call_id = text_or_empty(part.get("toolCallId"))
    if state == "output-denied":  # the user did not approve it
        reason = (as_object(part.get("approval")) or {}).get("reason")
        return ToolResult(wire, call_id, "", text_or_empty(reason) or "denied", True)
    return ToolResult(wire, call_id, "", part.get(RESULTS[state]), state == "output-error")
