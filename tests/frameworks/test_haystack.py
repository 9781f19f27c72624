"""Haystack writes the talk."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, answered, check

pytest.importorskip("haystack", reason="haystack-ai is not installed; `just frameworks` installs it")  # fmt: skip


def talk() -> list[Any]:
    from haystack.dataclasses import ChatMessage, ImageContent, TextContent, ToolCall

    found: list[Any] = [ChatMessage.from_system("Du malst.")]
    image = ImageContent(PIXEL, "image/png")
    for asked, calls in TURNS:
        if asked is not None:
            parts: list[Any] = [asked, *([] if asked == ASKED else [image])]
            found.append(ChatMessage.from_user(content_parts=parts))
        made = [ToolCall(call.name, call.arguments, call.call_id) for call in calls]
        said = SAID if asked == ASKED else None
        found.append(ChatMessage.from_assistant(said, tool_calls=made, reasoning="Hm."))
        for call, text in answered(calls):
            origin = ToolCall(call.name, call.arguments, call.call_id)
            content: Any = [TextContent(text), image] if call.has_image else text
            found.append(ChatMessage.from_tool(content, origin, error=call.has_failed))
    return [*found, ChatMessage.from_assistant(DONE)]


def test_messages(api: ModuleType) -> None:
    messages = talk()
    dumped = [message.to_dict() for message in messages]
    check(api, "haystack-ai", "to_dict", json.dumps(dumped).encode(), "haystack")
    lines = "\n".join(map(json.dumps, dumped))
    check(api, "haystack-ai", "to_dict, lines", lines.encode(), "haystack")
    check(api, "haystack-ai", "objects", messages, "haystack")


def test_a_state(api: ModuleType) -> None:
    """The state of an agent, as a pipeline's snapshot holds it."""
    from haystack.components.agents import State
    from haystack.dataclasses import ChatMessage

    state = State(schema={"messages": {"type": list[ChatMessage]}}, data={"messages": talk()})
    given = json.dumps({"messages": [message.to_dict() for message in state.data["messages"]]})
    check(api, "haystack-ai", "messages of a state", given.encode(), "haystack")
