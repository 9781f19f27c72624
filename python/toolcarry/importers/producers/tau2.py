"""tau2-bench: the messages of a simulation, in OpenAI Chat with flat calls; a result has the id of its call as its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    each_object,
    many,
    objects,
    shown_parts,
)

NAME = "tau2"
ABOUT = About(
    "tau2-bench, results with one simulation",
    "`simulations` with `messages`",
    "sierra-research/tau2-bench, src/tau2/data_model/message.py",
)
SIGNS = Signs(("simulations",))
ASIDE = frozenset(("metadata", "info", "tasks", "reward_info", "raw_data"))


def claims(message: JsonObject) -> bool:
    return any("messages" in each for each in objects(message.get("simulations")))


def read(message: JsonObject) -> Imported | None:
    answer, role = result(message), message.get("role")
    if answer is not None:
        return Imported(NAME, results=[answer], scope=scope_of(message.get("requestor")))
    if not isinstance(role, str):
        return None
    calls = [made for entry in objects(message.get("tool_calls")) if (made := call(entry))]
    # The user has tools too, which the agent does not see.
    scope = scope_of(role) if calls else ""
    return Imported(NAME, role, shown_parts(message.get("content")), calls, scope=scope)


def scope_of(requestor: object) -> str:
    return "user" if requestor == "user" else ""


def call(wire: JsonObject) -> ToolCall | None:
    if not isinstance(wire.get("name"), str) or "requestor" not in wire or "role" in wire:
        return None
    return ToolCall(wire, text_or_empty(wire.get("id")), wire["name"], wire.get("arguments"))


def result(wire: JsonObject) -> ToolResult | None:
    if wire.get("role") != "tool" or "requestor" not in wire:
        return None
    return ToolResult(
        wire, text_or_empty(wire.get("id")), "", wire.get("content"), wire.get("error") is True
    )


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return the messages of the only simulation, each of several results by itself."""
    document = as_object(items[0]) if len(items) == 1 else None
    simulations = objects((document or {}).get("simulations"))
    if len(simulations) > 1:
        raise many(len(simulations), "simulations")
    for message in each_object(simulations[0].get("messages")) if simulations else items:
        yield from objects((as_object(message) or {}).get("tool_messages")) or (message,)
