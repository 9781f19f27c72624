"""One conversation in every shape: two calls at once, one that fails, one alone, and what is said around them."""

from __future__ import annotations

import json
from typing import Any

READ = {"path": "a.py"}
LIST = {"command": "ls"}
TEST = {"command": "pytest"}
CODE, FAILURE, PASSED = "print(1)\n", "ls: no such file", "3 passed"
DIALOGUE = ("Fix it.", "I look.", "And the tests?", "All pass.")
Wire = dict[str, Any]


def text(words: str, kind: str = "text") -> Wire:
    return {"type": kind, "text": words}


def said(role: str, content: Any, **more: Any) -> Wire:
    return {"role": role, "content": content, **more}


def use(call_id: str, name: str, given: Wire) -> Wire:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: str, **more: Any) -> Wire:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


ANTHROPIC = [
    said("user", DIALOGUE[0]),
    said("assistant", [text(DIALOGUE[1]), use("t1", "read", READ), use("t2", "bash", LIST)]),
    said("user", [result("t1", CODE), result("t2", FAILURE, is_error=True)]),
    said("user", DIALOGUE[2]),
    said("assistant", [use("t3", "bash", TEST)]),
    said("user", [result("t3", PASSED)]),
    said("assistant", DIALOGUE[3]),
]


def chat_call(call_id: str, name: str, given: Any) -> Wire:
    function = {"name": name, "arguments": json.dumps(given)}
    return {"id": call_id, "type": "function", "function": function}


def answer(call_id: str, content: str) -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


OPENAI = [
    said("user", DIALOGUE[0]),
    said(
        "assistant",
        DIALOGUE[1],
        tool_calls=[chat_call("t1", "read", READ), chat_call("t2", "bash", LIST)],
    ),
    answer("t1", CODE),
    answer("t2", FAILURE),
    said("user", DIALOGUE[2]),
    said("assistant", None, tool_calls=[chat_call("t3", "bash", TEST)]),
    answer("t3", PASSED),
    said("assistant", DIALOGUE[3]),
]


def function_call(call_id: str, name: str, given: Wire) -> Wire:
    arguments = json.dumps(given)
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def output(call_id: str, content: str) -> Wire:
    return {"type": "function_call_output", "call_id": call_id, "output": content}


def item(role: str, words: str) -> Wire:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [text(words, kind)]}


RESPONSES = [
    item("user", DIALOGUE[0]),
    item("assistant", DIALOGUE[1]),
    function_call("t1", "read", READ),
    function_call("t2", "bash", LIST),
    output("t1", CODE),
    output("t2", FAILURE),
    item("user", DIALOGUE[2]),
    function_call("t3", "bash", TEST),
    output("t3", PASSED),
    item("assistant", DIALOGUE[3]),
]


def ollama_call(name: str, given: Wire) -> Wire:
    return {"function": {"name": name, "arguments": given}}


def named_answer(name: str, content: str) -> Wire:
    return {"role": "tool", "tool_name": name, "content": content}


OLLAMA = [
    said("user", DIALOGUE[0]),
    said(
        "assistant", DIALOGUE[1], tool_calls=[ollama_call("read", READ), ollama_call("bash", LIST)]
    ),
    named_answer("read", CODE),
    named_answer("bash", FAILURE),
    said("user", DIALOGUE[2]),
    said("assistant", "", tool_calls=[ollama_call("bash", TEST)]),
    named_answer("bash", PASSED),
    said("assistant", DIALOGUE[3]),
]


def record(number: int, message: Wire, **more: Any) -> Wire:
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


def asked(name: str, given: Wire) -> Wire:
    return {"functionCall": {"name": name, "args": given}}


def responded(name: str, response: Wire) -> Wire:
    return {"functionResponse": {"name": name, "response": response}}


GEMINI = [
    {"role": "user", "parts": [{"text": DIALOGUE[0]}]},
    {"role": "model", "parts": [{"text": DIALOGUE[1]}, asked("read", READ), asked("bash", LIST)]},
    {
        "role": "user",
        "parts": [responded("read", {"output": CODE}), responded("bash", {"error": FAILURE})],
    },
    {"role": "user", "parts": [{"text": DIALOGUE[2]}]},
    {"role": "model", "parts": [asked("bash", TEST)]},
    {"role": "user", "parts": [responded("bash", {"output": PASSED})]},
    {"role": "model", "parts": [{"text": DIALOGUE[3]}]},
]


def tool_use(call_id: str, name: str, given: Wire) -> Wire:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": given}}


def tool_result(call_id: str, words: str, status: str = "success") -> Wire:
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": words}], "status": status}}


BEDROCK = [
    said("user", [{"text": DIALOGUE[0]}]),
    said(
        "assistant",
        [{"text": DIALOGUE[1]}, tool_use("t1", "read", READ), tool_use("t2", "bash", LIST)],
    ),
    said("user", [tool_result("t1", CODE), tool_result("t2", FAILURE, "error")]),
    said("user", [{"text": DIALOGUE[2]}]),
    said("assistant", [tool_use("t3", "bash", TEST)]),
    said("user", [tool_result("t3", PASSED)]),
    said("assistant", [{"text": DIALOGUE[3]}]),
]


def langchain(kind: str, content: str, *calls: tuple[str, str, Wire], **more: Any) -> Wire:
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


def action(call_id: str, name: str, given: Wire, *thought: str) -> Wire:
    call = {"id": call_id, "name": name, "arguments": json.dumps(given)}
    event = {"kind": "ActionEvent", "source": "agent", "thought": list(map(text, thought))}
    return {**event, "tool_name": name, "tool_call_id": call_id, "tool_call": call, "action": given}


def observation(call_id: str, name: str, words: str, **more: Any) -> Wire:
    seen = {"kind": "Observation", "content": [text(words)], **more}
    event = {"kind": "ObservationEvent", "source": "environment", "observation": seen}
    return {**event, "tool_name": name, "tool_call_id": call_id}


def spoken(source: str, words: str) -> Wire:
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


def traced(role: str, *parts: Wire) -> Wire:
    return {"role": role, "parts": list(parts)}


def traced_text(words: str) -> Wire:
    return {"type": "text", "content": words}


def traced_call(call_id: str, name: str, given: Wire) -> Wire:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": given}


def traced_answer(call_id: str, words: str) -> Wire:
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


def step(number: int, source: str, words: str, *done: tuple[str, str, Wire, str]) -> Wire:
    calls = [
        {"tool_call_id": call_id, "function_name": name, "arguments": given}
        for call_id, name, given, _ in done
    ]
    results = [{"source_call_id": call_id, "content": seen} for call_id, _, _, seen in done]
    made: Wire = {"step_id": number, "source": source, "message": words}
    return {**made, "tool_calls": calls, "observation": {"results": results}} if done else made


ATIF = [
    step(1, "user", DIALOGUE[0]),
    step(2, "agent", DIALOGUE[1], ("t1", "read", READ, CODE), ("t2", "bash", LIST, FAILURE)),
    step(3, "user", DIALOGUE[2]),
    step(4, "agent", "", ("t3", "bash", TEST, PASSED)),
    step(5, "agent", DIALOGUE[3]),
]


def history(message: Wire) -> Wire:
    """A message of SWE-agent's history, which is OpenAI Chat's with more to it."""
    kind = "observation" if message["role"] == "tool" else "action"
    answers = {"tool_call_ids": [message["tool_call_id"]]} if message["role"] == "tool" else {}
    return {**message, **answers, "message_type": kind, "agent": "main"}


SWE_AGENT = [history(message) for message in OPENAI]

SOURCES: dict[str, list[Wire]] = {
    "anthropic": ANTHROPIC,
    "openai": OPENAI,
    "responses": RESPONSES,
    "ollama": OLLAMA,
    "claude code": CLAUDE_CODE,
    "codex": CODEX,
    "gemini": GEMINI,
    "bedrock": BEDROCK,
    "langchain": LANGCHAIN,
    "openhands": OPENHANDS,
    "opentelemetry": OPENTELEMETRY,
    "atif": ATIF,
    "swe-agent": SWE_AGENT,
}
HAVE_ERRORS = ("anthropic", "claude code", "gemini", "bedrock", "langchain", "openhands")
"""The shapes that say that a result is a failure."""
