"""LangGraph: the state of a thread, or a checkpoint, which holds LangChain's messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object
from toolcarry.importers.producers import langchain
from toolcarry.importers.producers.base import About, Imported, nothing, objects

NAME = "langgraph"
ABOUT = About(
    "LangGraph, the state of a thread and checkpoints",
    "`values` or `channel_values` with `messages` of LangChain",
    "langgraph 1.2.24, real states",
)


def claims(message: JsonObject) -> bool:
    return any(map(langchain.data_of, messages_of(message)))


def messages_of(state: JsonObject) -> list[JsonObject]:
    for holder in (state, as_object(state.get("checkpoint")) or {}):
        values = as_object(holder.get("values")) or as_object(holder.get("channel_values")) or {}
        found = objects(values.get("messages"))
        if found:
            return found
    return []


def read(message: JsonObject) -> Imported | None:
    return langchain.read(message)


call = result = nothing


def fold(items: Sequence[Any]) -> Sequence[Any]:
    """Return the messages of the state; of a history of states, those of the longest."""
    states = [messages_of(as_object(item) or {}) for item in items]
    return max(states, key=len, default=[]) or items
