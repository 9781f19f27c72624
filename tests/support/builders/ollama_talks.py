"""Conversations in which a file is read, with the first request and the next one."""

from __future__ import annotations

from typing import Any

import msgspec
from support.providers.fakes import Call, ScriptedTurn

from toolcarry.config import parse_config

CONFIG = parse_config("[tool_cache]\nttl = 60.0\n")
ALWAYS = parse_config('[tool_cache]\nwhen = "always"\n')
SINGLE_USER = parse_config("[sessions]\nsingle_user = true\n")

WORDS = ["read", "write", "edit", "search", "list", "move", "copy", "delete", "run"]
ME = {"authorization": "Bearer test-key"}
OTHER = {"authorization": "Bearer other-key"}
HELLO = [{"role": "user", "content": "What is in a.py?"}]
GO_ON = {"role": "user", "content": "Go on."}
TALK = [ScriptedTurn(calls=[Call("read", {"path": "/a.py"})]), ScriptedTurn("It says x = 1.")]


def parameters(word: str) -> dict[str, Any]:
    properties = {
        "path": {"type": "string", "description": f"What to {word}: caf\u00e9, \u4e2d\u6587."},
        "limit": {"type": "integer"},
    }
    return {"type": "object", "properties": properties, "required": ["path"]}


def function(word: str) -> dict[str, Any]:
    return {"name": word, "description": f"To {word} a file.", "parameters": parameters(word)}


TOOLS = [{"type": "function", "function": function(word)} for word in WORDS]


def tools_in(fake: Any, at: int = -1) -> bytes | None:
    """Return the tools in a request's body, as written there; ``None`` if there are no tools."""
    members = msgspec.json.decode(fake.recorded[at].body, type=dict[str, msgspec.Raw])
    return bytes(members["tools"]) if "tools" in members else None


def names_in(fake: Any, at: int = -1) -> list[str]:
    """The names of the tools that reached a provider."""
    tools = fake.recorded[at].json.get("tools") or []
    return [tool.get("function", tool)["name"] for tool in tools]


def chat(client: Any, messages: list[Any], *, stream: bool = False, **options: Any) -> list[Any]:
    """Return the messages to send back after a turn with Ollama's client."""
    answer = client.chat(**{"model": "llama3", "messages": messages, "stream": stream, **options})
    parts = [part.message for part in answer] if stream else [answer.message]
    text = "".join(part.content or "" for part in parts)
    calls = [call.model_dump() for part in parts for call in part.tool_calls or ()]
    return [{"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}]


def first_turn(client: Any, *, stream: bool = False, **options: Any) -> list[Any]:
    """A conversation in which a file was read, sent with nine tools."""
    sent = chat(client, HELLO, stream=stream, tools=TOOLS, **options)
    assert sent[0]["tool_calls"][0]["function"]["name"] == "read"
    return [*HELLO, *sent, {"role": "tool", "tool_name": "read", "content": "x = 1"}]
