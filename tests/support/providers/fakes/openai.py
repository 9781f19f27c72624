"""OpenAI's ``/v1/chat/completions``, ``/v1/responses`` and ``/v1/models``: one server with two APIs.

https://platform.openai.com/docs/api-reference/chat/create, ``.../chat-streaming``; error messages are quoted from the
API. The keys that a request may have are those of the installed SDK's types; without the SDK the test is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from support.sdk import sdk

from . import responses
from .fake import Fake, Recorded, Refused, Reply, refuse_unknown, refuse_unless
from .script import Asked, Exchange, ScriptedTurn, joined, pieces, strings

CREATED = 1_767_225_600

MESSAGE_KEYS = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "refusal", "audio", "tool_calls", "function_call", "annotations"),
    "tool": ("role", "content", "tool_call_id"),
}  # fmt: skip
"""``reasoning``, ``reasoning_content`` and ``thinking_blocks`` are other servers'."""

PART_KEYS = {
    "text": ("type", "text"),
    "image_url": ("type", "image_url"),
    "input_audio": ("type", "input_audio"),
    "file": ("type", "file"),
    "refusal": ("type", "refusal"),
}


class OpenAIFake(Fake):
    """Its reasoning goes out encrypted on Responses, and comes back in no other way."""

    provider = "openai"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        chat = sdk("openai.types.chat.completion_create_params")
        responses = sdk("openai.types.responses.response_create_params")
        self.chat_keys = {*chat.CompletionCreateParamsBase.__annotations__, "stream"}
        own = (
            "stream",
            "client_metadata",
        )  # Codex sends the latter: openai/codex, codex-rs/codex-api
        self.response_keys = {*responses.ResponseCreateParamsBase.__annotations__, *own}

    def error(self, refused: Refused) -> bytes:
        kind = "invalid_request_error" if refused.status < 500 else "server_error"
        error = {"message": str(refused), "type": kind, "param": None, "code": refused.code}
        return json.dumps({"error": error}).encode()

    def reply(self, recorded: Recorded) -> Reply:
        is_known = recorded.header("authorization") == f"Bearer {self.key}"
        refuse_unless(is_known, "Incorrect API key provided", 401)
        match recorded.method, recorded.path:
            case "GET", "/v1/models":
                model = {"id": "gpt-fake", "object": "model", "created": CREATED}
                page = {"object": "list", "data": [{**model, "owned_by": "fake"}]}
                return Reply(200, [json.dumps(page).encode()])
            case "POST", "/v1/chat/completions":
                request = self.document(recorded)
                self.check_chat(request)
                return self.completion(request)
            case "POST", "/v1/responses":
                request = self.document(recorded)
                refuse_unknown("request", request, self.response_keys)
                return responses.reply(self, request)
        raise Refused(f"Invalid URL ({recorded.method} {recorded.path})", 404)

    def document(self, recorded: Recorded) -> dict[str, Any]:
        try:
            request = recorded.json
        except ValueError:
            raise Refused("We could not parse the JSON body of your request.") from None
        refuse_unless(
            isinstance(request, dict), "We could not parse the JSON body of your request."
        )
        refuse_unless(isinstance(request.get("model"), str), "you must provide a model parameter")
        return request

    # What it refuses

    def check_chat(self, request: dict[str, Any]) -> None:
        for key in request:
            refuse_unless(key in self.chat_keys, f"Unrecognized request argument supplied: {key}")
        messages = request.get("messages")
        is_there = isinstance(messages, list) and bool(messages)
        refuse_unless(is_there, "Missing required parameter: 'messages'.")
        for position, message in enumerate(messages):
            self.check_message(f"messages.{position}", message)
        self.check_pairs(messages)
        if request.get("tool_choice") not in (None, "none"):
            has_tools = bool(request.get("tools"))
            refuse_unless(has_tools, "'tool_choice' is only allowed when 'tools' are specified.")

    def check_message(self, place: str, message: Any) -> None:
        role = message.get("role") if isinstance(message, dict) else None
        refuse_unless(role in MESSAGE_KEYS, f"Invalid value: {role!r}. ({place}.role)")
        refuse_unknown(place, message, MESSAGE_KEYS[role])
        content = message.get("content")
        if role != "assistant":
            is_there = isinstance(content, str | list)
            refuse_unless(is_there, f"Invalid value for 'content': expected a string. ({place})")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            kind = part.get("type") if isinstance(part, dict) else None
            refuse_unless(kind in PART_KEYS, f"Invalid value: {kind!r}. ({place}.content.{number})")
            refuse_unknown(f"{place}.content.{number}", part, PART_KEYS[kind])
        for number, call in enumerate(message.get("tool_calls") or ()):
            inner = f"{place}.tool_calls.{number}"
            refuse_unknown(inner, call, ("id", "type", "function", "index"))
            function = call.get("function") or {}
            is_text = isinstance(function.get("arguments"), str)
            refuse_unless(is_text, f"Invalid type for '{inner}.function.arguments'")
            refuse_unless(bool(function.get("name")), f"Missing '{inner}.function.name'")

    # What it answers

    def completion(self, request: dict[str, Any]) -> Reply:
        turn = self.answer(asked(request))
        base = {"id": self.number("chatcmpl-"), "created": CREATED, "model": request["model"]}
        calls = list(self.calls(turn))
        reason = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": len(json.dumps(request)) // 4, "completion_tokens": 8}
        usage["total_tokens"] = sum(usage.values())
        if request.get("stream"):
            has_usage = (request.get("stream_options") or {}).get("include_usage")
            chunks = [*deltas(turn, calls, reason)]
            lines = [
                {**base, "object": "chat.completion.chunk", "choices": [choice]}
                for choice in chunks
            ]
            if has_usage:
                end = {**base, "object": "chat.completion.chunk", "choices": [], "usage": usage}
                lines.append(end)
            data = [f"data: {json.dumps(line)}\n\n".encode() for line in lines]
            return Reply(200, [*data, b"data: [DONE]\n\n"], "text/event-stream; charset=utf-8")
        message: dict[str, Any] = {
            "role": "assistant",
            "content": turn.text or None,
            "refusal": None,
        }
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        body = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        return Reply(200, [json.dumps(body).encode()])

    def calls(self, turn: ScriptedTurn) -> Iterator[dict[str, Any]]:
        for call in turn.calls:
            function = {"name": call.name, "arguments": json.dumps(dict(call.input))}
            yield {"id": self.number("call_"), "type": "function", "function": function}


def deltas(
    turn: ScriptedTurn, calls: list[dict[str, Any]], reason: str
) -> Iterator[dict[str, Any]]:
    """The choices of the chunks that an answer streams in."""

    def choice(delta: dict[str, Any], end: str | None = None) -> dict[str, Any]:
        return {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}

    yield choice({"role": "assistant", "content": "" if turn.text else None})
    for piece in pieces(turn.text) if turn.text else ():
        yield choice({"content": piece})
    for index, call in enumerate(calls):
        function = call["function"]
        begun = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield choice({"tool_calls": [begun]})
        for piece in pieces(function["arguments"]):
            yield choice({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield choice({}, reason)


def asked(request: dict[str, Any]) -> Asked:
    calls: dict[str, dict[str, Any]] = {}
    exchanges = []
    for message in request["messages"]:
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = call["function"]
        if message["role"] == "tool":
            function = calls[message["tool_call_id"]]
            given = json.loads(function["arguments"])
            exchanges.append(Exchange(function["name"], given, joined(message["content"])))
    return Asked(request, exchanges, list(strings(request["messages"])))
