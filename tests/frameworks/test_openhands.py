"""The SDK of OpenHands writes the events of the talk. It needs Python 3.12."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, answered, check

pytest.importorskip("openhands.sdk", reason="openhands-sdk is not installed; it needs Python 3.12")


def talk() -> list[Any]:
    from openhands.sdk.event import ActionEvent, AgentErrorEvent, MessageEvent, ObservationEvent
    from openhands.sdk.llm import ImageContent, Message, MessageToolCall, TextContent
    from openhands.sdk.mcp.definition import MCPToolAction, MCPToolObservation

    def say(source: Any, role: Any, text: str) -> Any:
        message = Message(role=role, content=[TextContent(text=text)])
        return MessageEvent(source=source, llm_message=message)

    found: list[Any] = []
    for asked, calls in TURNS:
        if asked is not None:
            found.append(say("user", "user", asked))
        actions = [
            ActionEvent(
                thought=[TextContent(text=SAID)] if asked == ASKED and at == 0 else [],
                tool_name=call.name,
                tool_call_id=call.call_id,
                action=MCPToolAction(data=call.arguments),
                tool_call=MessageToolCall(id=call.call_id, name=call.name, arguments=json.dumps(call.arguments), origin="completion"),
                llm_response_id=f"r{len(found)}",
            )
            for at, call in enumerate(calls)
        ]  # fmt: skip
        found += actions
        for call, text in answered(calls):
            action = actions[calls.index(call)]
            if call.has_failed:
                found.append(AgentErrorEvent(error=text, tool_name=call.name, tool_call_id=call.call_id))  # fmt: skip
                continue
            image = ImageContent(image_urls=[f"data:image/png;base64,{PIXEL}"])
            content = [TextContent(text=text), *([image] if call.has_image else [])]
            observation = MCPToolObservation(content=content, tool_name=call.name)
            found.append(ObservationEvent(observation=observation, action_id=action.id, tool_name=call.name, tool_call_id=call.call_id))  # fmt: skip
    return [*found, say("agent", "assistant", DONE)]


def test_events(api: ModuleType, tmp_path: Path) -> None:
    events = talk()
    lines = "\n".join(event.model_dump_json() for event in events)
    check(api, "openhands-sdk", "events, model_dump_json, lines", lines.encode(), "openhands")
    for number, event in enumerate(events):
        (tmp_path / f"event-{number:05}-{event.id}.json").write_text(event.model_dump_json())
    check(
        api, "openhands-sdk", "folder of events", api.Conversation.of(tmp_path).given, "openhands"
    )
