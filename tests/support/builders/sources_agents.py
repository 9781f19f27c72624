"""The conversation of ``sources.py`` as the files of agents and of tracing have it."""

from __future__ import annotations

import json
from typing import Any

from support.builders.sources_providers import (
    ANTHROPIC,
    CODE,
    DIALOGUE,
    FAILURE,
    LIST,
    OPENAI,
    PASSED,
    READ,
    RESPONSES,
    TEST,
    JsonObject,
    result,
    said,
    text,
    use,
)


def record(number: int, message: JsonObject, **more: Any) -> JsonObject:
    """A line of a session file of Claude Code."""
    parent = f"u{number - 1}" if number else None
    return {
        "type": message["role"],
        "uuid": f"u{number}",
        "parentUuid": parent,
        "message": message,
        **more,
    }


SPLIT = {"id": "msg_1"}
CLAUDE_CODE = [
    record(0, ANTHROPIC[0], timestamp="2026-01-01T00:00:00Z"),
    record(1, said("assistant", [text(DIALOGUE[1])], **SPLIT)),
    record(2, said("assistant", [use("t1", "read", READ)], **SPLIT)),
    record(3, said("assistant", [use("t2", "bash", LIST)], **SPLIT)),
    record(4, said("user", [result("t1", CODE)])),
    record(5, said("user", [result("t2", FAILURE, is_error=True)])),
    *(record(number, message) for number, message in enumerate(ANTHROPIC[3:], 6)),
]
CODEX = [
    {"type": "session_meta", "payload": {"id": "s1"}},
    *({"timestamp": "t", "type": "response_item", "payload": item} for item in RESPONSES),
]


def langchain(
    kind: str, content: str, *calls: tuple[str, str, JsonObject], **more: Any
) -> JsonObject:
    entries = [
        {"type": "tool_call", "id": call_id, "name": name, "args": given}
        for call_id, name, given in calls
    ]
    data = {"content": content, **({"tool_calls": entries} if kind == "ai" else {}), **more}
    return {"type": kind, "data": data}


LANGCHAIN = [
    langchain("human", DIALOGUE[0]),
    langchain("ai", DIALOGUE[1], ("t1", "read", READ), ("t2", "bash", LIST)),
    langchain("tool", CODE, tool_call_id="t1", status="success"),
    langchain("tool", FAILURE, tool_call_id="t2", status="error"),
    langchain("human", DIALOGUE[2]),
    langchain("ai", "", ("t3", "bash", TEST)),
    langchain("tool", PASSED, tool_call_id="t3", status="success"),
    langchain("ai", DIALOGUE[3]),
]


def action(call_id: str, name: str, given: JsonObject, *thought: str) -> JsonObject:
    call = {"id": call_id, "name": name, "arguments": json.dumps(given)}
    event = {"kind": "ActionEvent", "source": "agent", "thought": list(map(text, thought))}
    return {**event, "tool_name": name, "tool_call_id": call_id, "tool_call": call, "action": given}


def observation(call_id: str, name: str, words: str, **more: Any) -> JsonObject:
    seen = {"kind": "Observation", "content": [text(words)], **more}
    event = {"kind": "ObservationEvent", "source": "environment", "observation": seen}
    return {**event, "tool_name": name, "tool_call_id": call_id}


def spoken(source: str, words: str) -> JsonObject:
    role = "assistant" if source == "agent" else source
    return {"kind": "MessageEvent", "source": source, "llm_message": said(role, [text(words)])}


OPENHANDS = [
    spoken("user", DIALOGUE[0]),
    action("t1", "read", READ, DIALOGUE[1]),
    action("t2", "bash", LIST),
    observation("t1", "read", CODE),
    observation("t2", "bash", FAILURE, is_error=True),
    spoken("user", DIALOGUE[2]),
    action("t3", "bash", TEST),
    observation("t3", "bash", PASSED),
    spoken("agent", DIALOGUE[3]),
]


def traced(role: str, *parts: JsonObject) -> JsonObject:
    return {"role": role, "parts": list(parts)}


def traced_text(words: str) -> JsonObject:
    return {"type": "text", "content": words}


def traced_call(call_id: str, name: str, given: JsonObject) -> JsonObject:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": given}


def traced_answer(call_id: str, words: str) -> JsonObject:
    return {"type": "tool_call_response", "id": call_id, "response": words}


OPENTELEMETRY = [
    traced("user", traced_text(DIALOGUE[0])),
    traced(
        "assistant",
        traced_text(DIALOGUE[1]),
        traced_call("t1", "read", READ),
        traced_call("t2", "bash", LIST),
    ),
    traced("tool", traced_answer("t1", CODE), traced_answer("t2", FAILURE)),
    traced("user", traced_text(DIALOGUE[2])),
    traced("assistant", traced_call("t3", "bash", TEST)),
    traced("tool", traced_answer("t3", PASSED)),
    traced("assistant", traced_text(DIALOGUE[3])),
]


def step(
    number: int, source: str, words: str, *done: tuple[str, str, JsonObject, str]
) -> JsonObject:
    calls = [
        {"tool_call_id": call_id, "function_name": name, "arguments": given}
        for call_id, name, given, _ in done
    ]
    results = [{"source_call_id": call_id, "content": seen} for call_id, _, _, seen in done]
    made: JsonObject = {"step_id": number, "source": source, "message": words}
    return {**made, "tool_calls": calls, "observation": {"results": results}} if done else made


ATIF = [
    step(1, "user", DIALOGUE[0]),
    step(2, "agent", DIALOGUE[1], ("t1", "read", READ, CODE), ("t2", "bash", LIST, FAILURE)),
    step(3, "user", DIALOGUE[2]),
    step(4, "agent", "", ("t3", "bash", TEST, PASSED)),
    step(5, "agent", DIALOGUE[3]),
]


def history(message: JsonObject) -> JsonObject:
    """A message of SWE-agent's history, which is OpenAI Chat's with more to it."""
    kind = "observation" if message["role"] == "tool" else "action"
    answers = {"tool_call_ids": [message["tool_call_id"]]} if message["role"] == "tool" else {}
    return {**message, **answers, "message_type": kind, "agent": "main"}


SWE_AGENT = [history(message) for message in OPENAI]
