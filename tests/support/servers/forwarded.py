"""Forwarded requests, and an upstream that keeps them."""

from __future__ import annotations

from support.providers.fakes import AnthropicFake, OllamaFake, OpenAIFake, ScriptedTurn

MESSAGES = [{"role": "user", "content": "Hi"}]
LONG = ScriptedTurn("A long answer that comes in many pieces, one by one, to its end.")
FAKES = {"anthropic": AnthropicFake, "openai": OpenAIFake, "ollama": OllamaFake}


class Echo:
    """An upstream that keeps the request as received, and returns a given answer."""

    def __init__(self, *chunks, status=200, headers=()):
        self.chunks, self.status, self.headers = chunks, status, headers
        self.scopes, self.bodies = [], []

    async def __call__(self, scope, receive, send):
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.scopes.append(scope)
        self.bodies.append(body)
        start = {"type": "http.response.start", "status": self.status}
        await send({**start, "headers": list(self.headers)})
        for chunk in self.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body"})
