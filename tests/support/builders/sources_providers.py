"""The conversation of ``sources.py`` in the formats of the providers."""

from __future__ import annotations

import json
from typing import Any

READ = {"path": "a.py"}
LIST = {"command": "ls"}
TEST = {"command": "pytest"}
CODE, FAILURE, PASSED = "print(1)\n", "ls: no such file", "3 passed"
DIALOGUE = ("Fix it.", "I look.", "And the tests?", "All pass.")
JsonObject = dict[str, Any]


def text(words: str, kind: str = "text") -> JsonObject:
    return {"type": kind, "text": words}


def said(role: str, content: Any, **more: Any) -> JsonObject:
    return {"role": role, "content": content, **more}


def use(call_id: str, name: str, given: JsonObject) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: str, **more: Any) -> JsonObject:
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


def chat_call(call_id: str, name: str, given: Any) -> JsonObject:
    function = {"name": name, "arguments": json.dumps(given)}
    return {"id": call_id, "type": "function", "function": function}


def answer(call_id: str, content: str) -> JsonObject:
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


def function_call(call_id: str, name: str, given: JsonObject) -> JsonObject:
    arguments = json.dumps(given)
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def output(call_id: str, content: str) -> JsonObject:
    return {"type": "function_call_output", "call_id": call_id, "output": content}


def item(role: str, words: str) -> JsonObject:
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


def ollama_call(name: str, given: JsonObject) -> JsonObject:
    return {"function": {"name": name, "arguments": given}}


def named_answer(name: str, content: str) -> JsonObject:
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


def asked(name: str, given: JsonObject) -> JsonObject:
    return {"functionCall": {"name": name, "args": given}}


def responded(name: str, response: JsonObject) -> JsonObject:
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


def tool_use(call_id: str, name: str, given: JsonObject) -> JsonObject:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": given}}


def tool_result(call_id: str, words: str, status: str = "success") -> JsonObject:
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
