"""Ollama's ``/api/chat`` and ``/api/tags``.

https://docs.ollama.com/api/chat; error messages are quoted from the server. It has no signatures, and a real server would take
any thinking: this one refuses thinking that it did not say, so that what should not reach it is seen.
"""

from __future__ import annotations

import json
from typing import Any

from .fake import Fake, Recorded, Refused, Reply, refuse_unless
from .script import Asked, Exchange, pieces, strings

AT = "2026-01-01T00:00:00Z"


class OllamaFake(Fake):
    """Stream unless the request turns it off."""

    provider = "ollama"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._thoughts: set[str] = set()

    def error(self, refused: Refused) -> bytes:
        return json.dumps({"error": str(refused)}).encode()

    def reply(self, recorded: Recorded) -> Reply:
        match recorded.method, recorded.path:
            case "GET", "/api/tags":
                model = {"name": "llama-fake", "model": "llama-fake", "modified_at": AT, "size": 1}
                return Reply(200, [json.dumps({"models": [model]}).encode()])
            case "POST", "/api/chat":
                return self.chat(self.checked(recorded))
        raise Refused("404 page not found", 404)

    def checked(self, recorded: Recorded) -> dict[str, Any]:
        try:
            request = recorded.json
        except ValueError:
            raise Refused("invalid character in request body") from None
        refuse_unless(bool(request.get("model")), "model is required")
        messages = request.get("messages") or []
        for message in messages:
            role = message.get("role")
            known = ("system", "user", "assistant", "tool")
            refuse_unless(role in known, f"invalid role: {role!r}")
            is_text = isinstance(message.get("content", ""), str)
            refuse_unless(
                is_text,
                "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
            )
            thought = message.get("thinking")
            refuse_unless(not thought or thought in self._thoughts, "thinking of another model")
        self.check_pairs(messages)
        return request

    def chat(self, request: dict[str, Any]) -> Reply:
        turn = self.answer(asked(request))
        base = {"model": request["model"], "created_at": AT}
        calls = [
            {"function": {"name": call.name, "arguments": dict(call.input)}} for call in turn.calls
        ]
        rest: dict[str, Any] = {"tool_calls": calls} if calls else {}
        if turn.thinking:
            self._thoughts.add(turn.thinking)
            rest["thinking"] = turn.thinking
        end = {"done": True, "done_reason": "stop", "total_duration": 1, "eval_count": 8}
        said = {"role": "assistant", "content": turn.text, **rest}
        if request.get("stream") is False:
            return Reply(200, [json.dumps({**base, "message": said, **end}).encode()])
        messages = [{"role": "assistant", "content": "", **rest}] if rest else []
        messages += [{"role": "assistant", "content": piece} for piece in pieces(turn.text)]
        lines = [{**base, "message": message, "done": False} for message in messages]
        lines.append({**base, "message": {"role": "assistant", "content": ""}, **end})
        chunks = [f"{json.dumps(line)}\n".encode() for line in lines]
        return Reply(200, chunks, "application/x-ndjson")


def asked(request: dict[str, Any]) -> Asked:
    messages = request.get("messages") or []
    waiting: list[dict[str, Any]] = []
    exchanges = []
    for message in messages:
        if message["role"] == "tool":
            named = message.get("tool_name")
            call = next((c for c in waiting if named in (None, c["name"])), waiting[0])
            waiting.remove(call)
            exchanges.append(Exchange(call["name"], call["arguments"], message["content"]))
        else:
            waiting = [call["function"] for call in message.get("tool_calls") or ()]
    return Asked(request, exchanges, list(strings(messages)))
