"""One call with its result, as each family of wire shapes writes it."""

import json
from typing import Any

JsonObject = dict[str, Any]

ARGUMENTS = {"query": "q"}
AS_TEXT = json.dumps(ARGUMENTS)
ANSWER = "an answer"


def responses(call_id: str) -> list[JsonObject]:
    call = {"type": "function_call", "call_id": call_id, "name": "responses", "arguments": AS_TEXT}
    return [call, {"type": "function_call_output", "call_id": call_id, "output": ANSWER}]


def codex(call_id: str) -> list[JsonObject]:
    items = [item | {"name": "codex"} for item in responses(call_id)]
    return [{"type": "response_item", "payload": item} for item in items]


def gemini(call_id: str) -> list[JsonObject]:
    call = {"functionCall": {"name": "gemini", "args": ARGUMENTS, "id": call_id}}
    answer = {"name": "gemini", "response": {"output": ANSWER}, "id": call_id}
    return [
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
    ]


def bedrock(call_id: str) -> list[JsonObject]:
    call = {"toolUse": {"toolUseId": call_id, "name": "bedrock", "input": ARGUMENTS}}
    answer = {"toolResult": {"toolUseId": call_id, "content": [{"text": ANSWER}]}}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]


def anthropic(call_id: str) -> list[JsonObject]:
    call = {"type": "tool_use", "id": call_id, "name": "anthropic", "input": ARGUMENTS}
    answer = {"type": "tool_result", "tool_use_id": call_id, "content": ANSWER}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]


def chat(call_id: str) -> list[JsonObject]:
    call = {"id": call_id, "type": "function", "function": {"name": "chat", "arguments": AS_TEXT}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": ANSWER},
    ]


def swe_agent(call_id: str) -> list[JsonObject]:
    said, answer = chat(call_id)
    said["tool_calls"][0]["function"]["name"] = "swe_agent"
    del answer["tool_call_id"]
    return [
        said | {"message_type": "action"},
        answer | {"message_type": "observation", "tool_call_ids": [call_id]},
    ]


def langchain(call_id: str) -> list[JsonObject]:
    call = {"name": "langchain", "args": ARGUMENTS, "id": call_id, "type": "tool_call"}
    return [
        {"type": "ai", "data": {"content": "", "tool_calls": [call]}},
        {"type": "tool", "data": {"content": ANSWER, "tool_call_id": call_id}},
    ]


def openhands(call_id: str) -> list[JsonObject]:
    named = {"tool_name": "openhands", "tool_call_id": call_id}
    call = {"id": call_id, "name": "openhands", "arguments": AS_TEXT}
    seen = {"content": [{"type": "text", "text": ANSWER}]}
    return [
        {"kind": "ActionEvent", "source": "agent", "tool_call": call, **named},
        {"kind": "ObservationEvent", "source": "environment", "observation": seen, **named},
    ]


def opentelemetry(call_id: str) -> list[JsonObject]:
    call = {"type": "tool_call", "id": call_id, "name": "opentelemetry", "arguments": ARGUMENTS}
    answer = {"type": "tool_call_response", "id": call_id, "response": ANSWER}
    return [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [answer]}]


def atif(call_id: str) -> list[JsonObject]:
    call = {"tool_call_id": call_id, "function_name": "atif", "arguments": ARGUMENTS}
    results = [{"source_call_id": call_id, "content": ANSWER}]
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call]}
    return [step | {"observation": {"results": results}}]


FAMILIES = {
    make.__name__: make
    for make in (
        responses,
        codex,
        gemini,
        bedrock,
        anthropic,
        chat,
        swe_agent,
        langchain,
        openhands,
        opentelemetry,
        atif,
    )
}
