"""The Agents SDK of OpenAI keeps the talk in its SQLite session."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, Call, answered, check

pytest.importorskip("agents", reason="openai-agents is not installed; `just frameworks` installs it")  # fmt: skip


def said(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}  # fmt: skip


def output_of(call: Call, text: str) -> Any:
    from agents import ToolOutputImage, ToolOutputText
    from agents.items import ItemHelpers

    made: Any = {"id": f"fc_{call.call_id}", "type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": json.dumps(call.arguments)}  # fmt: skip
    from openai.types.responses import ResponseFunctionToolCall

    output: Any = [ToolOutputText(text=text), ToolOutputImage(image_url=f"data:image/png;base64,{PIXEL}")] if call.has_image else text  # fmt: skip
    return ItemHelpers.tool_call_output_item(ResponseFunctionToolCall(**made), output)


def talk() -> list[Any]:
    from openai.types.responses import ResponseFunctionToolCall

    items: list[Any] = []
    for asked, calls in TURNS:
        if asked is not None:
            items.append({"role": "user", "content": asked})
        if asked == ASKED:
            items.append({"id": "rs_1", "type": "reasoning", "summary": []})
            items.append(said(SAID))
        items += [
            ResponseFunctionToolCall(
                id=f"fc_{call.call_id}",
                type="function_call",
                call_id=call.call_id,
                name=call.name,
                arguments=json.dumps(call.arguments),
            ).model_dump(exclude_unset=True)
            for call in calls
        ]
        items += [output_of(call, text) for call, text in answered(calls)]
    return [*items, said(DONE)]


def test_a_session(api: ModuleType, tmp_path: Path) -> None:
    from agents import SQLiteSession

    async def write(path: Path) -> list[Any]:
        session = SQLiteSession("s1", path)
        await session.add_items(talk())
        kept = await session.get_items()
        session.close()
        return kept

    path = tmp_path / "sessions.db"
    items = asyncio.run(write(path))
    # A function call's output has no flag of a failure.
    check(api, "openai-agents", "SQLiteSession", api.Conversation.of(path).given, "openai-responses", lost_failures=True)  # fmt: skip
    check(api, "openai-agents", "get_items", items, "openai-responses", lost_failures=True)
