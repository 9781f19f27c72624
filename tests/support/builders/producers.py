"""A conversation of each producer whose files are imported as a whole.

Each has the user's question, what the assistant says, a call that is answered, and one that fails. ``DOCUMENTS`` are the
objects of a file: its lines, its list, or the only document in it.
"""

import json
from typing import Any

JsonObject = dict[str, Any]

ASKED, SAID = "What is in the barn?", "I open the door."
ANSWER, FAILURE = "forty bales", "the loft is locked"
FIRST, SECOND = {"path": "barn"}, {"path": "loft"}
NAME = "look"


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def ai_sdk_ui() -> list[JsonObject]:
    seen = {"type": f"tool-{NAME}", "toolCallId": "c1", "state": "output-available", "input": FIRST, "output": ANSWER}  # fmt: skip
    lost = {"type": "dynamic-tool", "toolName": NAME, "toolCallId": "c2", "state": "output-error", "input": SECOND, "errorText": FAILURE}  # fmt: skip
    parts = [{"type": "step-start"}, text(SAID), seen, lost]
    return [
        {"id": "m1", "role": "user", "parts": [text(ASKED)]},
        {"id": "m2", "role": "assistant", "parts": parts},
    ]


def ai_sdk() -> list[JsonObject]:
    calls = [{"type": "tool-call", "toolCallId": f"c{number}", "toolName": NAME, "input": given} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    outputs = ({"type": "text", "value": ANSWER}, {"type": "error-text", "value": FAILURE})
    results = [{"type": "tool-result", "toolCallId": f"c{number}", "toolName": NAME, "output": output} for number, output in enumerate(outputs, 1)]  # fmt: skip
    return [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [text(SAID), *calls]},
        {"role": "tool", "content": results},
    ]


def chat_calls(*, key: str = "function") -> list[JsonObject]:
    return [
        {
            "id": f"c{number}",
            "type": "function",
            key: {"name": NAME, "arguments": json.dumps(given)},
        }
        for number, given in enumerate((FIRST, SECOND), 1)
    ]


def ag_ui() -> list[JsonObject]:
    return [
        {"id": "1", "role": "user", "content": ASKED},
        {"id": "2", "role": "assistant", "content": SAID, "toolCalls": chat_calls()},
        {"id": "3", "role": "tool", "content": ANSWER, "toolCallId": "c1"},
        {"id": "4", "role": "tool", "content": "", "toolCallId": "c2", "error": FAILURE},
    ]


def vscode() -> list[JsonObject]:
    calls = [{"id": f"c{number}", "name": NAME, "arguments": json.dumps(given)} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    results = {
        "c1": {"content": [{"value": ANSWER}]},
        "c2": {"content": [{"value": FAILURE}], "isError": True},
    }
    metadata = {"toolCallRounds": [{"id": "q", "response": SAID, "toolCalls": calls}], "toolCallResults": results}  # fmt: skip
    request = {"requestId": "r", "message": {"text": ASKED, "parts": []}, "response": [{"value": SAID}], "result": {"metadata": metadata}}  # fmt: skip
    return [{"version": 3, "responderUsername": "GitHub Copilot", "requests": [request]}]


def copilot_cli() -> list[JsonObject]:
    calls = [{"toolCallId": f"c{number}", "name": NAME, "arguments": given} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    data: list[tuple[str, JsonObject]] = [
        ("session.start", {"sessionId": "s"}),
        ("user.message", {"content": ASKED}),
        ("assistant.message", {"content": SAID, "toolRequests": calls}),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": NAME}),
        ("tool.execution_complete", {"toolCallId": "c1", "success": True, "result": {"content": ANSWER}}),
        ("tool.execution_complete", {"toolCallId": "c2", "success": False, "error": {"message": FAILURE}}),
    ]  # fmt: skip
    return [
        {"type": kind, "data": held, "id": f"e{number}", "parentId": f"e{number - 1}" if number else None}
        for number, (kind, held) in enumerate(data)
    ]  # fmt: skip


def cursor() -> list[JsonObject]:
    calls = [{"type": "tool_use", "name": NAME, "input": given} for given in (FIRST, SECOND)]
    results = [{"type": "tool_result", "tool_use_id": "r1", "content": ANSWER}, {"type": "tool_result", "tool_use_id": "r2", "content": FAILURE, "is_error": True}]  # fmt: skip
    return [
        {"role": "user", "message": {"content": [text(ASKED)]}},
        {"role": "assistant", "message": {"content": [text(SAID), *calls]}},
        {"role": "user", "message": {"content": results}},
        {"type": "turn_ended", "status": "success"},
    ]


def cursor_cli() -> list[JsonObject]:
    def event(number: int, subtype: str, tool: JsonObject) -> JsonObject:
        return {"type": "tool_call", "subtype": subtype, "call_id": f"c{number}", "tool_call": tool, "session_id": "s"}  # fmt: skip

    def said(role: str, words: str) -> JsonObject:
        return {"type": role, "message": {"role": role, "content": [text(words)]}, "session_id": "s"}  # fmt: skip

    read, shell = {"args": FIRST}, {"args": SECOND}
    return [
        {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/", "model": "m"},
        said("user", ASKED),
        said("assistant", SAID),
        event(1, "started", {f"{NAME}ToolCall": read}),
        event(1, "completed", {f"{NAME}ToolCall": {**read, "result": {"success": {"content": ANSWER, "totalLines": 1}}}}),
        event(2, "started", {"shellToolCall": shell}),
        event(2, "completed", {"shellToolCall": {**shell, "result": {"failure": {"exitCode": 1, "stderr": FAILURE}}}}),
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"},
    ]  # fmt: skip


def gemini_cli() -> list[JsonObject]:
    calls = [
        {"id": f"c{number}", "name": NAME, "args": given, "status": status, "timestamp": "t", "result": [{"functionResponse": {"id": f"c{number}", "name": NAME, "response": response}}]}
        for number, given, status, response in ((1, FIRST, "success", {"output": ANSWER}), (2, SECOND, "error", {"error": FAILURE}))
    ]  # fmt: skip
    return [
        {"id": "1", "timestamp": "t", "type": "user", "content": [{"text": ASKED}]},
        {"id": "2", "timestamp": "t", "type": "gemini", "content": SAID, "toolCalls": calls},
        {"id": "3", "timestamp": "t", "type": "info", "content": "Done."},
    ]


def opencode() -> list[JsonObject]:
    states: list[JsonObject] = [
        {"status": "completed", "input": FIRST, "output": ANSWER},
        {"status": "error", "input": SECOND, "error": FAILURE},
    ]
    tools = [{"id": f"p{number}", "type": "tool", "callID": f"c{number}", "tool": NAME, "state": state} for number, state in enumerate(states, 1)]  # fmt: skip
    named = {"id": "a", "type": "text", "text": "The user names a file.", "synthetic": True}
    return [
        {"info": {"id": "m1", "role": "user"}, "parts": [{"id": "p", **text(ASKED)}, named]},
        {"info": {"id": "m2", "role": "assistant"}, "parts": [text(SAID), *tools]},
    ]


def pydantic_ai() -> list[JsonObject]:
    asked = [
        {"part_kind": "system-prompt", "content": "Be brief."},
        {"part_kind": "user-prompt", "content": ASKED},
    ]
    calls = [{"part_kind": "tool-call", "tool_name": NAME, "args": given, "tool_call_id": f"c{number}"} for number, given in enumerate((FIRST, json.dumps(SECOND)), 1)]  # fmt: skip
    answer = {"part_kind": "tool-return", "tool_name": NAME, "content": ANSWER, "tool_call_id": "c1"}  # fmt: skip
    retry = {"part_kind": "retry-prompt", "tool_name": NAME, "content": FAILURE, "tool_call_id": "c2"}  # fmt: skip
    return [
        {"kind": "request", "parts": asked},
        {"kind": "response", "parts": [{"part_kind": "text", "content": SAID}, *calls]},
        {"kind": "request", "parts": [answer, retry]},
    ]


def dumped(kind: str, content: Any, **more: Any) -> JsonObject:
    return {"content": content, "additional_kwargs": {}, "type": kind, "id": None, **more}


def langgraph() -> list[JsonObject]:
    calls = [{"name": NAME, "args": given, "id": f"c{number}", "type": "tool_call"} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    messages = [
        dumped("human", ASKED),
        dumped("ai", SAID, tool_calls=calls),
        dumped("tool", ANSWER, tool_call_id="c1", status="success"),
        dumped("tool", FAILURE, tool_call_id="c2", status="error"),
    ]
    return [{"values": {"messages": messages}, "next": []}]


def pi() -> list[JsonObject]:
    calls = [{"type": "toolCall", "id": f"c{number}", "name": NAME, "arguments": given} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    results = [{"role": "toolResult", "toolCallId": f"c{number}", "toolName": NAME, "content": [text(words)], "isError": number == 2} for number, words in enumerate((ANSWER, FAILURE), 1)]  # fmt: skip
    messages: list[JsonObject] = [
        {"role": "user", "content": [text(ASKED)]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, text(SAID), *calls]},
        *results,
    ]  # fmt: skip
    entries = [
        {"type": "message", "id": f"e{number}", "parentId": f"e{number - 1}" if number else None, "message": message}
        for number, message in enumerate(messages)
    ]  # fmt: skip
    return [{"type": "session", "version": 3, "id": "s", "cwd": "/w"}, *entries]


def adk() -> list[JsonObject]:
    calls = [{"functionCall": {"id": f"c{number}", "name": NAME, "args": given}, "text": None} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    answers = [{"functionResponse": {"id": f"c{number}", "name": NAME, "response": response}} for number, response in enumerate(({"result": ANSWER}, {"error": FAILURE}), 1)]  # fmt: skip
    contents: list[tuple[str, JsonObject]] = [
        ("user", {"role": "user", "parts": [{"text": ASKED}]}),
        ("farmer", {"role": "model", "parts": [{"text": SAID}, *calls]}),
        ("farmer", {"role": "user", "parts": answers}),
    ]
    events = [{"author": author, "invocationId": "i", "content": content, "actions": {}} for author, content in contents]  # fmt: skip
    return [{"id": "s", "appName": "a", "userId": "u", "events": events}]


def codex_exec() -> list[JsonObject]:
    def event(kind: str, name: str, **item: Any) -> JsonObject:
        return {"type": f"item.{kind}", "item": {"id": name, **item}}

    begun = {"type": "command_execution", "command": "look barn", "aggregated_output": "", "exit_code": None, "status": "in_progress"}  # fmt: skip
    ended = {**begun, "aggregated_output": ANSWER, "exit_code": 0, "status": "completed"}
    failed = {**begun, "command": "look loft", "aggregated_output": FAILURE, "exit_code": 1, "status": "failed"}  # fmt: skip
    return [
        {"type": "thread.started", "thread_id": "t"},
        event("completed", "i0", type="agent_message", text=SAID),
        event("started", "c1", **begun),
        event("completed", "c1", **ended),
        event("completed", "c2", **failed),
        {"type": "turn.completed", "usage": {}},
    ]


def goose() -> list[JsonObject]:
    calls = [{"type": "toolRequest", "id": f"c{number}", "toolCall": {"status": "success", "value": {"name": NAME, "arguments": given}}} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    results: list[JsonObject] = [
        {"status": "success", "value": {"content": [text(ANSWER)], "isError": False}},
        {"status": "error", "error": FAILURE},
    ]
    answers = [{"type": "toolResponse", "id": f"c{number}", "toolResult": held} for number, held in enumerate(results, 1)]  # fmt: skip
    return [
        {"role": "user", "created": 1, "content": [text(ASKED)]},
        {"role": "assistant", "created": 2, "content": [text(SAID), *calls]},
        {"role": "user", "created": 3, "content": answers},
    ]


def amp() -> list[JsonObject]:
    calls = [{"type": "tool_use", "id": f"c{number}", "name": NAME, "input": given} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    runs: list[JsonObject] = [
        {"status": "done", "result": {"output": ANSWER, "exitCode": 0}},
        {"status": "error", "error": {"message": FAILURE}},
    ]
    results = [{"type": "tool_result", "toolUseID": f"c{number}", "run": run} for number, run in enumerate(runs, 1)]  # fmt: skip
    return [
        {"role": "user", "messageId": 0, "content": [text(ASKED)]},
        {"role": "assistant", "messageId": 1, "content": [text(SAID), *calls]},
        {"role": "user", "messageId": 2, "content": results},
    ]


def kiro() -> list[JsonObject]:
    def part(kind: str, data: Any) -> JsonObject:
        return {"kind": kind, "data": data}

    calls = [part("toolUse", {"toolUseId": f"c{number}", "name": NAME, "input": given}) for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    results = [part("toolResult", {"toolUseId": f"c{number}", "content": [part("text", words)], "status": status}) for number, words, status in ((1, ANSWER, "success"), (2, FAILURE, "error"))]  # fmt: skip
    return [
        {"version": "v1", **part("Prompt", {"content": [part("text", ASKED)]})},
        {"version": "v1", **part("AssistantMessage", {"content": [part("text", SAID), *calls]})},
        {"version": "v1", **part("ToolResults", {"content": results})},
    ]


def grok() -> list[JsonObject]:
    calls = [{"id": f"c{number}", "name": NAME, "arguments": json.dumps(given)} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    return [
        {"type": "system", "content": "Be brief."},
        {"type": "user", "content": [text(ASKED)], "prompt_index": 0},
        {"type": "assistant", "content": SAID, "tool_calls": calls, "model_id": "m"},
        {"type": "tool_result", "tool_call_id": "c1", "content": ANSWER},
        {"type": "tool_result", "tool_call_id": "c2", "content": FAILURE, "is_error": True},
    ]


def kimi() -> list[JsonObject]:
    def loop(kind: str, **event: Any) -> JsonObject:
        return {"type": "context.append_loop_event", "event": {"type": kind, **event}}

    asked = {"role": "user", "content": [text(ASKED)], "origin": {"kind": "user"}}
    return [
        {"type": "metadata", "protocol_version": "1.5"},
        {"type": "context.append_message", "message": asked},
        loop("content.part", part=text(SAID)),
        loop("tool.call", toolCallId="c1", name=NAME, args=FIRST),
        loop("tool.result", toolCallId="c1", result={"output": ANSWER, "isError": False}),
        loop("tool.call", toolCallId="c2", name=NAME, args=SECOND),
        loop("tool.result", toolCallId="c2", result={"output": FAILURE, "isError": True}),
    ]


def droid() -> list[JsonObject]:
    calls = [{"type": "tool_call", "id": f"c{number}", "toolId": NAME, "toolName": NAME, "parameters": given} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    return [
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "message", "role": "user", "id": "m1", "text": ASKED},
        {"type": "message", "role": "assistant", "id": "m2", "text": SAID},
        *calls,
        {"type": "tool_result", "id": "c1", "toolId": NAME, "isError": False, "value": ANSWER},
        {"type": "tool_result", "id": "c2", "toolId": NAME, "isError": True, "error": {"type": "e", "message": FAILURE}},
    ]  # fmt: skip


def managed_agents() -> list[JsonObject]:
    return [
        {"type": "user.message", "id": "e1", "content": [text(ASKED)]},
        {"type": "agent.message", "id": "e2", "content": [text(SAID)]},
        {"type": "agent.tool_use", "id": "c1", "name": NAME, "input": FIRST},
        {"type": "agent.tool_result", "id": "e3", "tool_use_id": "c1", "content": [text(ANSWER)]},
        {"type": "agent.custom_tool_use", "id": "c2", "name": NAME, "input": SECOND},
        {"type": "user.custom_tool_result", "id": "e4", "custom_tool_use_id": "c2", "content": [text(FAILURE)], "is_error": True},
        {"type": "session.status_idle", "id": "e5"},
    ]  # fmt: skip


def letta() -> list[JsonObject]:
    failed = {"tool_call_id": "c2", "status": "error", "func_response": FAILURE}
    messages: list[JsonObject] = [
        {"id": "m1", "role": "user", "content": [text(ASKED)]},
        {"id": "m2", "role": "assistant", "content": [text(SAID)], "tool_calls": chat_calls()},
        {"id": "m3", "role": "tool", "content": [text(ANSWER)], "tool_call_id": "c1", "tool_returns": []},
        {"id": "m4", "role": "tool", "content": [text(FAILURE)], "tool_call_id": "c2", "tool_returns": [failed]},
    ]  # fmt: skip
    return [{"agents": [{"id": "a", "messages": messages}], "blocks": [], "tools": []}]


def autogen() -> list[JsonObject]:
    calls = [{"id": f"c{number}", "name": NAME, "arguments": json.dumps(given)} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    results = [{"call_id": f"c{number}", "name": NAME, "content": words, "is_error": number == 2} for number, words in enumerate((ANSWER, FAILURE), 1)]  # fmt: skip
    return [
        {"source": "user", "type": "TextMessage", "content": ASKED},
        {"source": "farmer", "type": "TextMessage", "content": SAID},
        {"source": "farmer", "type": "ToolCallRequestEvent", "content": calls},
        {"source": "farmer", "type": "ToolCallExecutionEvent", "content": results},
        {"source": "farmer", "type": "ToolCallSummaryMessage", "content": ANSWER},
    ]


def block(words: str) -> JsonObject:
    return {"block_type": "text", "text": words}


def llama_index() -> list[JsonObject]:
    calls = [{"block_type": "tool_call", "tool_call_id": f"c{number}", "tool_name": NAME, "tool_kwargs": given} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    answers = [{"role": "tool", "additional_kwargs": {"tool_call_id": f"c{number}", "name": NAME}, "blocks": [block(words)]} for number, words in enumerate((ANSWER, FAILURE), 1)]  # fmt: skip
    return [
        {"role": "user", "additional_kwargs": {}, "blocks": [block(ASKED)]},
        {"role": "assistant", "additional_kwargs": {}, "blocks": [block(SAID), *calls]},
        *answers,
    ]


def haystack() -> list[JsonObject]:
    origins = [{"tool_name": NAME, "arguments": given, "id": f"c{number}"} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    answers = [{"role": "tool", "meta": {}, "content": [{"tool_call_result": {"result": words, "origin": origin, "error": words == FAILURE}}]} for words, origin in zip((ANSWER, FAILURE), origins, strict=True)]  # fmt: skip
    calls = [{"tool_call": origin} for origin in origins]
    return [
        {"role": "user", "meta": {}, "content": [{"text": ASKED}]},
        {"role": "assistant", "meta": {}, "content": [{"text": SAID}, *calls]},
        *answers,
    ]


def smolagents() -> list[JsonObject]:
    first, second = chat_calls()
    step = {"step_number": 1, "tool_calls": [first], "model_output": SAID, "observations": ANSWER, "error": None}  # fmt: skip
    failed = {"step_number": 2, "tool_calls": [second], "model_output": None, "observations": None, "error": {"type": "e", "message": FAILURE}}  # fmt: skip
    return [{"task": ASKED, "task_images": None}, step, failed]


def openhands_v0() -> list[JsonObject]:
    def about(number: int) -> JsonObject:
        return {"tool_call_metadata": {"function_name": NAME, "tool_call_id": f"c{number}"}}

    return [
        {"id": 0, "source": "user", "action": "message", "args": {"content": ASKED}},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "look barn", "thought": SAID}, **about(1)},
        {"id": 2, "source": "agent", "observation": "run", "content": ANSWER, "extras": {"metadata": {"exit_code": 0}}, **about(1)},
        {"id": 3, "source": "agent", "action": "run", "args": {"command": "look loft", "thought": ""}, **about(2)},
        {"id": 4, "source": "agent", "observation": "run", "content": FAILURE, "extras": {"metadata": {"exit_code": 1}}, **about(2)},
    ]  # fmt: skip


def inspect_ai() -> list[JsonObject]:
    calls = [{"id": f"c{number}", "function": NAME, "arguments": given, "type": "function"} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    messages: list[JsonObject] = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": SAID, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "function": NAME, "content": ANSWER},
        {"role": "tool", "tool_call_id": "c2", "function": NAME, "content": "", "error": {"type": "timeout", "message": FAILURE}},
    ]  # fmt: skip
    return [{"version": 2, "status": "success", "eval": {}, "samples": [{"messages": messages}]}]


def mini_swe_agent() -> list[JsonObject]:
    found: list[JsonObject] = [{"role": "user", "content": ASKED}]
    for command, code, output in (("look barn", 0, ANSWER), ("look loft", 1, FAILURE)):
        said = SAID if code == 0 else f"```\n{command}\n```"
        shown = f"<returncode>{code}</returncode>\n<output>\n{output}</output>"
        found.append({"role": "assistant", "content": said, "extra": {"actions": [{"command": command}]}})  # fmt: skip
        found.append({"role": "user", "content": shown, "extra": {"raw_output": output, "returncode": code}})  # fmt: skip
    end = {"role": "exit", "content": "LimitsExceeded", "extra": {"exit_status": "LimitsExceeded", "submission": ""}}  # fmt: skip
    return [*found, end]


def mini_swe_agent_v1() -> list[JsonObject]:
    messages: list[JsonObject] = [{"role": "user", "content": ASKED}]
    for command, code, output in (("look barn", 0, ANSWER), ("look loft", 1, FAILURE)):
        said = SAID if code == 0 else ""
        shown = f"<returncode>{code}</returncode>\n<output>\n{output}</output>"
        messages.append({"role": "assistant", "content": f"{said}\n\n```bash\n{command}\n```", "extra": {"response": {}}})  # fmt: skip
        messages.append({"role": "user", "content": shown})
    info = {"exit_status": "LimitsExceeded", "submission": "", "mini_version": "1.17.5"}
    return [{"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1"}]


def tau2() -> list[JsonObject]:
    calls = [{"id": f"c{number}", "name": NAME, "arguments": given, "requestor": "assistant"} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    messages: list[JsonObject] = [
        {"role": "user", "content": ASKED, "tool_calls": None},
        {"role": "assistant", "content": SAID, "tool_calls": calls},
        {"role": "tool", "id": "c1", "content": ANSWER, "requestor": "assistant", "error": False},
        {"role": "tool", "id": "c2", "content": FAILURE, "requestor": "assistant", "error": True},
    ]
    return [{"info": {}, "tasks": [], "simulations": [{"id": "s", "messages": messages}]}]


def otel_span() -> list[JsonObject]:
    calls = [{"type": "tool_call", "id": f"c{number}", "name": NAME, "arguments": given} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    answers = [{"type": "tool_call_response", "id": f"c{number}", "response": held} for number, held in enumerate((ANSWER, FAILURE), 1)]  # fmt: skip
    sent = [
        {"role": "user", "parts": [{"type": "text", "content": ASKED}]},
        {"role": "assistant", "parts": [{"type": "text", "content": SAID}, *calls]},
        {"role": "tool", "parts": answers},
    ]
    return [{"name": "chat m", "kind": "CLIENT", "attributes": {"gen_ai.input.messages": json.dumps(sent)}}]  # fmt: skip


def sharegpt() -> list[JsonObject]:
    calls = "\n".join(f"<tool_call>\n{json.dumps({'name': NAME, 'arguments': given})}\n</tool_call>" for given in (FIRST, SECOND))  # fmt: skip
    results = "\n".join(f"<tool_response>\n{json.dumps({'name': NAME, 'content': words})}\n</tool_response>" for words in (ANSWER, FAILURE))  # fmt: skip
    turns = [
        {"from": "human", "value": ASKED},
        {"from": "gpt", "value": f"{SAID}\n{calls}"},
        {"from": "tool", "value": results},
    ]
    return [{"id": "a", "conversations": turns}]


def answers() -> list[JsonObject]:
    message = {"role": "assistant", "content": SAID, "tool_calls": chat_calls()}
    return [{"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}]


def cline() -> list[JsonObject]:
    calls = [{"type": "tool_use", "id": f"c{number}", "name": NAME, "input": given, "call_id": f"c{number}"} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    failed = f"The tool execution failed with the following error:\n<error>\n{FAILURE}\n</error>"
    return [
        {"role": "user", "content": [text(ASKED)], "ts": 1},
        {"role": "assistant", "content": [text(SAID), *calls], "ts": 2},
        {
            "role": "user",
            "content": [
                text(f"[{NAME} for 'barn'] Result:\n{ANSWER}"),
                text(f"[{NAME} for 'loft'] Result:"),
                text(failed),
                text("<environment_details>\nnone\n</environment_details>"),
            ],
            "ts": 3,
        },
    ]


def crush() -> list[JsonObject]:
    def wrapped(kind: str, **data: Any) -> JsonObject:
        return {"type": kind, "data": data}

    calls = [wrapped("tool_call", id=f"c{number}", name=NAME, input=json.dumps(given), finished=True) for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    results = [
        wrapped("tool_result", tool_call_id="c1", name=NAME, content=ANSWER, is_error=False),
        wrapped("tool_result", tool_call_id="c2", name=NAME, content=FAILURE, is_error=True),
    ]
    end = wrapped("finish", reason="tool_use", time=1)
    thought = wrapped("reasoning", thinking="Hm.", signature="")
    return [
        {"role": "user", "parts": [wrapped("text", text=ASKED), end]},
        {"role": "assistant", "parts": [thought, wrapped("text", text=SAID), *calls, end]},
        {"role": "tool", "parts": [*results, end]},
    ]


def provider_answers() -> list[JsonObject]:
    calls = [{"toolUse": {"toolUseId": f"c{number}", "name": NAME, "input": given}} for number, given in enumerate((FIRST, SECOND), 1)]  # fmt: skip
    message = {"role": "assistant", "content": [{"text": SAID}, *calls]}
    return [{"output": {"message": message}, "stopReason": "tool_use", "usage": {}, "metrics": {"latencyMs": 1}}]  # fmt: skip


def cassette() -> list[JsonObject]:
    asked = {"role": "user", "content": ASKED}
    called = {"role": "assistant", "content": SAID, "tool_calls": chat_calls()}
    seen = [{"role": "tool", "tool_call_id": f"c{number}", "content": words} for number, words in ((1, ANSWER), (2, FAILURE))]  # fmt: skip
    bodies: list[tuple[JsonObject, JsonObject]] = [
        ({"messages": [asked]}, called),
        ({"messages": [asked, called, *seen]}, {"role": "assistant", "content": "It is shut."}),
    ]
    return [{"version": 1, "interactions": [exchange(sent, {"choices": [{"message": answer}]}) for sent, answer in bodies]}]  # fmt: skip


def exchange(sent: JsonObject, answer: JsonObject | str) -> JsonObject:
    """A request with its response, as VCR records them; the answer is a document, or the text of a stream."""
    written = answer if isinstance(answer, str) else json.dumps(answer)
    request = {"method": "POST", "uri": "https://llm.example/v1", "body": json.dumps(sent), "headers": {}}  # fmt: skip
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": written}}  # fmt: skip
    return {"request": request, "response": response}


DOCUMENTS = {
    make.__name__: make
    for make in (
        ai_sdk_ui, ai_sdk, ag_ui, vscode, copilot_cli, cursor, cursor_cli, gemini_cli, opencode, pydantic_ai, langgraph, pi, adk,
        codex_exec, goose, crush, amp, kiro, grok, kimi, droid, managed_agents, letta, autogen, llama_index, haystack,
        smolagents, openhands_v0, inspect_ai, tau2, otel_span, sharegpt, cline,
        mini_swe_agent, mini_swe_agent_v1, answers, provider_answers, cassette,
    )
}  # fmt: skip
WITHOUT_USER = frozenset(("codex_exec", "answers", "provider_answers"))
"""The producers whose files don't have what the user said."""
WITHOUT_FAILURE = frozenset(("llama_index", "otel_span", "sharegpt", "cassette"))
"""The producers that cannot say that a tool failed."""
WITHOUT_RESULTS = frozenset(("answers", "provider_answers"))
WITHOUT_OWN = frozenset(("adk", "otel_span", "mini_swe_agent_v1", "cassette"))
"""The producers whose calls are made of a text, or without the members that are null."""
WITHOUT_IDS = frozenset(("cursor", "sharegpt", "mini_swe_agent", "mini_swe_agent_v1"))
