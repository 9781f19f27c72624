"""Anthropic Messages: ``/v1/messages``, ``/v1/messages/count_tokens`` and ``/v1/models``.

https://platform.claude.com/docs/en/api/messages, ``.../build-with-claude/streaming`` and ``.../extended-thinking``;
error messages are quoted from the API.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .fake import Fake, Recorded, Refused, Reply, refuse_unknown, refuse_unless
from .script import Asked, Exchange, ScriptedTurn, joined, pieces, strings

MOST_MARKS = 4

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}

REQUEST_KEYS = (
    "model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking", "stream", "metadata",
    "temperature", "top_p", "top_k", "stop_sequences", "service_tier", "cache_control", "context_management",
)  # fmt: skip

BLOCK_KEYS = {
    "text": ("type", "text", "citations", "cache_control"),
    "image": ("type", "source", "cache_control"),
    "document": ("type", "source", "title", "context", "citations", "cache_control"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
    "tool_use": ("type", "id", "name", "input", "caller", "cache_control"),
    "tool_result": ("type", "tool_use_id", "content", "is_error", "cache_control"),
}

THINKING = ("thinking", "redacted_thinking")


class AnthropicFake(Fake):
    """Signs its thinking, and takes no other's."""

    provider = "anthropic"

    def error(self, refused: Refused) -> bytes:
        kind = ERROR_TYPES.get(refused.status, "api_error")
        body = {"type": "error", "error": {"type": kind, "message": str(refused)}}
        return json.dumps({**body, "request_id": "req_1"}).encode()

    def reply(self, recorded: Recorded) -> Reply:
        given = recorded.header("x-api-key")
        bearer = recorded.header("authorization")
        is_known = given == self.key or (given is None and bearer == f"Bearer {self.key}")
        refuse_unless(is_known, "invalid x-api-key", 401)
        refuse_unless(
            recorded.header("anthropic-version") is not None,
            "anthropic-version: header is required",
        )
        match recorded.method, recorded.path:
            case "GET", "/v1/models":
                model = {"type": "model", "id": "claude-fake", "display_name": "Fake"}
                model["created_at"] = "2026-01-01T00:00:00Z"
                page = {"data": [model], "has_more": False, "first_id": None, "last_id": None}
                return Reply(200, [json.dumps(page).encode()])
            case "POST", "/v1/messages/count_tokens":
                request = self.checked(recorded)
                number = sum(map(len, strings(request["messages"]))) // 4
                return Reply(200, [json.dumps({"input_tokens": number}).encode()])
            case "POST", "/v1/messages":
                request = self.checked(recorded)
                refuse_unless(
                    isinstance(request.get("max_tokens"), int), "max_tokens: Field required"
                )
                return self.message(request)
        raise Refused("Not found", 404)

    # What it refuses

    def checked(self, recorded: Recorded) -> dict[str, Any]:
        """Return the request if it is valid."""
        try:
            request = recorded.json
        except ValueError:
            raise Refused("The request body is not valid JSON") from None
        refuse_unless(isinstance(request, dict), "Input should be a valid dictionary")
        refuse_unknown("request", request, REQUEST_KEYS)
        refuse_unless(isinstance(request.get("model"), str), "model: Field required")
        messages = request.get("messages")
        refuse_unless(
            isinstance(messages, list) and bool(messages),
            "messages: at least one message is required",
        )
        for position, message in enumerate(messages):
            self.check_message(f"messages.{position}", message)
        first = messages[0]["role"]
        refuse_unless(first == "user", 'messages: first message must use the "user" role')
        self.check_pairs(messages)
        self.check_thinking(request, messages)
        self.check_tools(request)
        marks = count_marks([request.get("system"), request.get("tools"), messages])
        refuse_unless(
            marks <= MOST_MARKS,
            f"A maximum of 4 blocks with cache_control may be provided. Found {marks}.",
        )
        return request

    def check_message(self, place: str, message: Any) -> None:
        refuse_unless(isinstance(message, dict), f"{place}: Input should be a valid dictionary")
        refuse_unknown(place, message, ("role", "content"))
        role = message.get("role")
        refuse_unless(role in ("user", "assistant"), f"{place}: role {role!r} is not permitted")
        content = message.get("content")
        refuse_unless(isinstance(content, str | list), f"{place}.content: Field required")
        for number, block in enumerate(content if isinstance(content, list) else ()):
            inner = f"{place}.content.{number}"
            kind = block.get("type") if isinstance(block, dict) else None
            refuse_unless(kind in BLOCK_KEYS, f"{inner}: Input tag {kind!r} found is not expected")
            refuse_unknown(f"{inner}.{kind}", block, BLOCK_KEYS[kind])
            if kind in THINKING:
                refuse_unless(role == "assistant", f"{inner}: thinking in a user's turn")
                self.check_seal(inner, block)
            if kind == "tool_use":
                is_object = isinstance(block.get("input"), dict)
                refuse_unless(is_object, f"{inner}.tool_use.input: Input should be an object")

    def check_seal(self, place: str, block: dict[str, Any]) -> None:
        if block["type"] == "thinking":
            is_own = self.is_sealed(block.get("thinking"), block.get("signature"))
            refuse_unless(is_own, f"{place}: Invalid `signature` in `thinking` block")
        else:
            is_own = self.is_sealed("redacted", block.get("data"))
            refuse_unless(is_own, f"{place}: Invalid `data` in `redacted_thinking` block")

    def check_thinking(self, request: dict[str, Any], messages: list[Any]) -> None:
        """With thinking, the turn that a tool loop goes on from must begin with the thinking that led to its calls."""
        thinking = request.get("thinking") or {"type": "disabled"}
        if thinking["type"] != "enabled":
            return
        budget = thinking.get("budget_tokens", 0)
        refuse_unless(budget >= 1024, "thinking.enabled.budget_tokens: Input should be >= 1024")
        is_below = budget < request.get("max_tokens", budget + 1)
        refuse_unless(is_below, "`max_tokens` must be greater than `thinking.budget_tokens`")
        # The loop is one assistant turn, whatever results the user messages bring it.
        begin = len(messages)
        while begin and (
            messages[begin - 1]["role"] == "assistant" or has_results(messages[begin - 1])
        ):
            begin -= 1
        if begin < len(messages) and has_results(messages[-1]):
            first = blocks_of(messages[begin])[0]["type"]
            refuse_unless(
                first in THINKING,
                f"messages.{begin}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                f"`{first}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
            )

    def check_tools(self, request: dict[str, Any]) -> None:
        names = [tool.get("name") for tool in request.get("tools") or ()]
        refuse_unless(len(set(names)) == len(names), "tools: Tool names must be unique.")
        choice = request.get("tool_choice")
        if choice is not None:
            refuse_unless(bool(names), "tool_choice may only be specified while providing tools.")
            if choice.get("type") == "tool":
                known = choice.get("name") in names
                refuse_unless(known, f"Tool {choice.get('name')!r} not found in provided tools")

    # What it answers

    def message(self, request: dict[str, Any]) -> Reply:
        turn = self.answer(asked(request))
        blocks = list(self.blocks(turn, is_thinking=bool(request.get("thinking"))))
        message = {
            "id": self.number("msg_"),
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": blocks,
            "stop_reason": "tool_use" if turn.calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": len(json.dumps(request)) // 4, "output_tokens": 8},
        }
        headers = [("request-id", "req_1")]
        if not request.get("stream"):
            return Reply(200, [json.dumps(message).encode()], headers=headers)
        chunks = [
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            for event in events(message)
        ]
        return Reply(200, chunks, "text/event-stream; charset=utf-8", headers)

    def blocks(self, turn: ScriptedTurn, *, is_thinking: bool) -> Iterator[dict[str, Any]]:
        if turn.thinking and is_thinking:
            signature = self.seal(turn.thinking)
            yield {"type": "thinking", "thinking": turn.thinking, "signature": signature}
        if turn.text:
            yield {"type": "text", "text": turn.text}
        for call in turn.calls:
            number = self.number("toolu_")
            yield {"type": "tool_use", "id": number, "name": call.name, "input": dict(call.input)}


def events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message as it streams."""
    usage = {**message["usage"], "output_tokens": 1}
    begun = {**message, "content": [], "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        empty, deltas = streamed(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 8}}
    yield {"type": "message_stop"}


def streamed(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and what comes to it."""
    if block["type"] == "text":
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        return {"type": "text", "text": ""}, deltas
    if block["type"] == "thinking":
        deltas = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    given = json.dumps(block["input"])
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(given)]]
    return {**block, "input": {}}, deltas


def asked(request: dict[str, Any]) -> Asked:
    calls: dict[str, dict[str, Any]] = {}
    exchanges = []
    for message in request["messages"]:
        for block in blocks_of(message):
            if block["type"] == "tool_use":
                calls[block["id"]] = block
            elif block["type"] == "tool_result":
                call = calls[block["tool_use_id"]]
                result = joined(block.get("content"))
                exchanges.append(Exchange(call["name"], call["input"], result))
    return Asked(request, exchanges, list(strings(request["messages"])))


def blocks_of(message: dict[str, Any]) -> list[Any]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def has_results(message: dict[str, Any]) -> bool:
    return any(block["type"] == "tool_result" for block in blocks_of(message))


def count_marks(value: Any) -> int:
    if isinstance(value, dict):
        return bool(value.get("cache_control")) + sum(map(count_marks, value.values()))
    return sum(map(count_marks, value)) if isinstance(value, list) else 0
