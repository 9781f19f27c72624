"""LangChain and LangGraph write the talk."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import (
    ASKED,
    ASKED_AGAIN,
    DONE,
    PIXEL,
    SAID,
    TURNS,
    Call,
    answered,
    check,
)

pytest.importorskip("langchain_core", reason="langchain-core is not installed; `just frameworks` installs it")  # fmt: skip


def content_of(call: Call, text: str) -> Any:
    if not call.has_image:
        return text
    image = {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": PIXEL}
    return [{"type": "text", "text": text}, image]


def talk() -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    messages: list[Any] = [SystemMessage("Du malst.")]
    for asked, calls in TURNS:
        if asked is not None:
            messages.append(HumanMessage(asked))
        made = [{"id": call.call_id, "name": call.name, "args": call.arguments} for call in calls]
        messages.append(AIMessage(SAID if asked == ASKED else "", tool_calls=made))
        for call, text in answered(calls):
            status: Any = "error" if call.has_failed else "success"
            messages.append(ToolMessage(content_of(call, text), tool_call_id=call.call_id, name=call.name, status=status))  # fmt: skip
    return [*messages, AIMessage(DONE)]


def test_dumps(api: ModuleType) -> None:
    from langchain_core.load import dumps
    from langchain_core.messages import messages_to_dict

    messages = talk()
    dumped = [message.model_dump() for message in messages]
    lines = "\n".join(message.model_dump_json() for message in messages)
    for file, given in (
        ("messages_to_dict", json.dumps(messages_to_dict(messages))),
        ("model_dump", json.dumps(dumped)),
        ("model_dump_json, lines", lines),
        ("dumps", dumps(messages)),
        ("dumps, ensure_ascii=False", dumps(messages, ensure_ascii=False)),
    ):
        check(api, "langchain-core", file, given.encode(), "langchain")


def test_objects(api: ModuleType) -> None:
    check(api, "langchain-core", "message objects", talk(), "langchain")


def test_chunks(api: ModuleType) -> None:
    """A streamed answer, put together from chunks, is an ``AIMessageChunk``."""
    from langchain_core.messages import AIMessageChunk

    messages = talk()
    for position, message in enumerate(messages):
        if message.type == "ai":
            chunks = [
                {"id": call["id"], "name": call["name"], "args": json.dumps(call["args"]), "index": at}
                for at, call in enumerate(message.tool_calls)
            ]  # fmt: skip
            start = AIMessageChunk("", tool_call_chunks=[{**chunk, "args": ""} for chunk in chunks])
            parts = [start] + [AIMessageChunk("", tool_call_chunks=[{**chunk, "id": None, "name": None}]) for chunk in chunks]  # fmt: skip
            for part in parts[1:]:
                start += part
            messages[position] = start + AIMessageChunk(message.content)
    dumped = [message.model_dump() for message in messages]
    check(api, "langchain-core", "merged chunks", json.dumps(dumped).encode(), "langchain")
    check(api, "langchain-core", "merged chunks, objects", messages, "langchain")


def test_a_state_of_langgraph(api: ModuleType) -> None:
    pytest.importorskip("langgraph", reason="langgraph is not installed")
    from langchain_core.load import dumps
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph

    turns: list[list[Any]] = [[]]
    for message in talk():
        turns[-1].append(message)
        if message.type == "human" and message.content == ASKED_AGAIN:
            turns.append([])
    given = iter([turns[0], turns[1]])
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda _state: {"messages": next(given)})
    graph.add_edge(START, "agent")
    made = graph.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    for _ in turns:
        made.invoke({"messages": []}, config)
    state = made.get_state(config)
    history = [each._asdict() for each in made.get_state_history(config)]
    (checkpoint,) = list(made.checkpointer.list(config, limit=1))  # type: ignore[union-attr]
    values = {
        "values": {"messages": [message.model_dump() for message in state.values["messages"]]}
    }
    check(api, "langgraph", "values with model_dump", json.dumps(values).encode(), "langgraph")
    check(api, "langgraph", "get_state, dumps", dumps(state._asdict()).encode(), "langgraph")
    check(api, "langgraph", "get_state_history, dumps", dumps(history).encode(), "langgraph")
    check(api, "langgraph", "checkpoint, dumps", dumps(checkpoint.checkpoint).encode(), "langgraph")
