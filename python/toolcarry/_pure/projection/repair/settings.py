"""The settings of a request that depend on its messages: its thinking, and the definitions of the tools that were called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.content import THINKING_PARTS
from toolcarry._pure.projection.edits import Draft, build
from toolcarry._pure.projection.repair.destinations import Destination
from toolcarry._pure.projection.repair.frame import Frame
from toolcarry._pure.projection.repair.state import Repair


def mend_settings(repair: Repair, drafts: Sequence[Draft]) -> None:
    """Correct what the repaired messages ask of the frame."""
    if repair.frame is not None:
        stop_thinking(repair, repair.frame, drafts)
        define_tools(repair, repair.frame)


def stop_thinking(repair: Repair, frame: Frame, drafts: Sequence[Draft]) -> None:
    """Ask for no thinking, if the open turn would have to begin with a thought and does not.

    Edits of the context that clear thoughts need the thinking, and go with it.
    """
    destination = repair.destination
    for path, thinking in frame.found(destination.thinking) if destination.thinking else ():
        # With "adaptive", a turn need not begin with a thought:
        # https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
        is_enabled = (as_object(thinking) or {}).get("type") == "enabled"
        if not is_enabled or not _lacks_thought(repair, drafts):
            continue
        frame.change(path, None)
        for place, edit in frame.found((*destination.thinking_edits, "*")):
            if text_or_empty((as_object(edit) or {}).get("type")).startswith("clear_thinking"):
                frame.change(place, None)
        repair.mends.add("stopped_thinking", None)


def _lacks_thought(repair: Repair, drafts: Sequence[Draft]) -> bool:
    """Return true if the open turn does not begin with a thought."""
    messages, destination = repair.edited.messages, repair.destination
    begin: JsonObject | None = None
    for count, draft in enumerate(reversed(drafts)):
        message = as_object(build(messages, [draft])[0]) or {}
        has_results = _has_results(message, destination)
        if message.get("role") == destination.model:
            begin = message
        elif not has_results:
            break
        if not count and not has_results:
            return False
    parts = as_list((begin or {}).get(destination.key)) or ()
    first = as_object(parts[0]) if parts else None
    return begin is not None and not _is_thought(first or {})


def _has_results(message: Mapping[str, Any], destination: Destination) -> bool:
    """Return true if a message holds results."""
    parts = as_list(message.get(destination.key)) or ()
    return any(destination.is_result(as_object(part) or {}) for part in parts)


def _is_thought(part: Mapping[str, Any]) -> bool:
    return part.get("type") in THINKING_PARTS or "reasoningContent" in part


def define_tools(repair: Repair, frame: Frame) -> None:
    """Define the tools of the calls, if the destination refuses calls in a request that defines none."""
    place = repair.destination.needs_definitions
    if not place or any(as_list(value) for _, value in frame.found(place)):
        return
    names = {
        repair.pairs.name_of(block): None
        for path, block in repair.pairs.calls.items()
        if not repair.edited.is_gone((path[0],)) and not repair.edited.is_gone(path)
    }
    names.pop("", None)
    if names:
        frame.change(place, [repair.destination.define(name) for name in names])
        repair.mends.add("missing_definitions", None, "", ", ".join(names))
