"""Amp: Anthropic's messages, except that a result has a ``run`` and names its call in ``toolUseID``."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, first_given, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolResult,
    as_text,
    kind_of,
    nothing,
    objects,
)
from toolcarry.model.formats import anthropic

NAME = "amp"
ABOUT = About(
    "Amp, ~/.local/share/amp/threads/T-*.json",
    "parts of the type `tool_result` with a `toolUseID` and a `run`",
    "skillsynchq/txcript, docs/formats/amp.md",
    is_documented=False,
)
SIGNS = Signs(("toolUseID",))
ASIDE = frozenset(("userState", "env", "progress"))
FAILED = frozenset(("error", "cancelled", "rejected-by-user", "blocked-on-user"))


def claims(message: JsonObject) -> bool:
    return any(map(result, objects(message.get("content"))))


def read(message: JsonObject) -> Imported | None:
    parts = objects(message.get("content"))
    results = [seen for part in parts if (seen := result(part))]
    if not results:  # Anthropic's
        return None
    calls = [made for part in parts if (made := anthropic.call(part))]
    role = text_or_empty(message.get("role"))
    return Imported(NAME, role, message["content"], calls, results)


call = nothing


def result(wire: JsonObject) -> ToolResult | None:
    run = as_object(wire.get("run"))
    if kind_of(wire) != "tool_result" or "toolUseID" not in wire or run is None:
        return None
    status = kind_of(run, "status")
    content = first_given(run, "result", "error", "reason")
    held = as_object(content) or {}
    if isinstance(held.get("output"), str) and held.get("exitCode") in (0, None):
        content = held["output"]
    elif isinstance(held.get("message"), str):
        content = held["message"]
    call_id = text_or_empty(wire["toolUseID"])
    return ToolResult(wire, call_id, "", content or as_text(status), status in FAILED)
