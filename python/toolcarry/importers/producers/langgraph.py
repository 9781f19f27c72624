"""LangGraph: the state of a thread, or a checkpoint, which holds LangChain's messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.importers.producers import langchain
from toolcarry.importers.producers.base import About, Imported, Signs, each_object, nothing, records

NAME = "langgraph"
ABOUT = About(
    "LangGraph, the state of a thread and checkpoints",
    "`values` or `channel_values` with `messages` of LangChain",
    "langgraph 1.2.24, real states",
)
SIGNS = Signs(("values", "channel_values", "checkpoint"))
ASIDE = langchain.ASIDE | {"metadata", "tasks", "config", "parent_config"}


def claims(message: JsonObject) -> bool:
    return any(map(langchain.data_of, each_object(messages_of(message))))


def messages_of(state: JsonObject) -> Sequence[Any]:
    for holder in (state, as_object(state.get("checkpoint")) or {}):
        values = as_object(holder.get("values")) or as_object(holder.get("channel_values")) or {}
        found = as_list(values.get("messages")) or ()
        if any(each_object(found)):
            return found
    return ()


def read(message: JsonObject) -> Imported | None:
    return langchain.read(message)


call = result = nothing


def fold(items: Sequence[Any]) -> Iterable[Any]:
    """Return the messages of the state; of a history of states, those of the longest."""
    longest = max(map(messages_of, records(items)), key=len, default=())
    return each_object(longest) if longest else items
