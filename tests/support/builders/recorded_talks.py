"""A client that talks to a model through a recorder, and its messages."""

from __future__ import annotations

from typing import Any

import orjson

from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.recorder import Recorder
from toolcarry.tract import Tract

JsonObject = dict[str, Any]


class Talk:
    """Conversations through a recorder: ``ask`` sends a request and has an answer recorded."""

    def __init__(self, target: str, **settings: Any) -> None:
        self.target = target
        self.recorder = Recorder(target, **settings)

    def ask(
        self,
        messages: list[JsonObject],
        answer: JsonObject | None = None,
        *,
        conversation: str = "c1",
        tenant: str = "me",
        status: int = 200,
        body: bytes | None = None,
    ) -> bytes:
        """Return the request as it went on."""
        identity = RequestIdentity(tenant, conversation, "m")
        sent = orjson.dumps({"model": "m", "messages": messages}) if body is None else body
        request = ModelRequest(sent, identity)
        exchange = self.recorder.begin(identity, request)
        if exchange is None:
            return sent
        gone = self.recorder.hydrated(identity, sent) if exchange.mode == "on" else sent
        exchange.start(status)
        if answer is not None:
            document = {"type": "message", "role": "assistant", **answer}
            exchange.add(orjson.dumps(document))
        exchange.write()
        self.recorder.flush()
        return gone

    def said(self, conversation: str = "c1", tenant: str = "me") -> list[str]:
        """Return the texts of a conversation in the history, in order; a call as its id."""
        with Tract.open(self.target, tenant=tenant, conversation=conversation) as tract:
            return [
                ",".join(call["id"] for call in commit.metadata["tool_calls"])
                if commit.kind.name == "CALL"
                else tract.get_content(commit)
                if "record" not in commit.metadata
                else tract.resolve(commit.tool_call_id or "")
                if commit.kind.name == "RESULT"
                else orjson.loads(tract.get_source(commit))["content"][0]["text"]
                for commit in reversed(tract.log())
            ]

    def names(self, tenant: str = "me") -> list[str]:
        with Tract.open(self.target, tenant=tenant) as tract:
            return tract.conversations()


def user(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def model(text: str) -> JsonObject:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def call(name: str, command: str = "ls") -> JsonObject:
    use = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}
    return {"role": "assistant", "content": [use]}


def result(name: str, text: object) -> JsonObject:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": name, "content": text}],
    }
