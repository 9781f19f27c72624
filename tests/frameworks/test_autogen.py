"""AutoGen's agents and models write the talk."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, answered, check

pytest.importorskip("autogen_agentchat", reason="autogen-agentchat is not installed; `just frameworks` installs it")  # fmt: skip


def parts(calls: Any) -> tuple[list[Any], list[Any]]:
    from autogen_core import FunctionCall
    from autogen_core.models import FunctionExecutionResult

    made = [FunctionCall(id=call.call_id, name=call.name, arguments=json.dumps(call.arguments)) for call in calls]  # fmt: skip
    results = [
        FunctionExecutionResult(
            content=text, name=call.name, call_id=call.call_id, is_error=call.has_failed
        )
        for call, text in answered(calls)
    ]
    return made, results


def agent_talk() -> list[Any]:
    from autogen_agentchat import messages as m
    from autogen_core import Image

    found: list[Any] = []
    for asked, calls in TURNS:
        if asked == ASKED:
            found += [m.TextMessage(content=asked, source="user"), m.ThoughtEvent(content="Hm.", source="agent"), m.TextMessage(content=SAID, source="agent")]  # fmt: skip
        elif asked is not None:
            image = Image.from_base64(PIXEL)
            found.append(m.MultiModalMessage(content=[asked, image], source="user"))
        made, results = parts(calls)
        found.append(m.ToolCallRequestEvent(content=made, source="agent"))
        found.append(m.ToolCallExecutionEvent(content=results, source="agent"))
    return [*found, m.TextMessage(content=DONE, source="agent")]


def model_talk() -> list[Any]:
    from autogen_core import Image
    from autogen_core import models as m

    found: list[Any] = [m.SystemMessage(content="Du malst.")]
    for asked, calls in TURNS:
        if asked is not None:
            content: Any = asked if asked == ASKED else [asked, Image.from_base64(PIXEL)]
            found.append(m.UserMessage(content=content, source="user"))
        if asked == ASKED:
            found.append(m.AssistantMessage(content=SAID, source="agent"))
        made, results = parts(calls)
        found.append(m.AssistantMessage(content=made, source="agent", thought="Hm."))
        found.append(m.FunctionExecutionResultMessage(content=results))
    return [*found, m.AssistantMessage(content=DONE, source="agent")]


@pytest.mark.parametrize("make", [agent_talk, model_talk])
def test_messages(api: ModuleType, make: Any) -> None:
    messages = make()
    kind = "agent messages" if make is agent_talk else "model messages"
    package = "autogen-agentchat" if make is agent_talk else "autogen-core"
    lines = "\n".join(message.model_dump_json() for message in messages)
    check(api, package, f"{kind}, model_dump_json, lines", lines.encode(), "autogen")
    dumped = json.dumps([message.model_dump(mode="json") for message in messages])
    check(api, package, f"{kind}, model_dump", dumped.encode(), "autogen")
    check(api, package, f"{kind}, objects", messages, "autogen")


def test_a_result_of_a_task(api: ModuleType) -> None:
    from autogen_agentchat.base import TaskResult

    result = TaskResult(messages=agent_talk(), stop_reason="done")
    check(api, "autogen-agentchat", "TaskResult, model_dump_json", result.model_dump_json().encode(), "autogen")  # fmt: skip


def test_a_context(api: ModuleType) -> None:
    """The saved state of an agent's context is an object with its messages."""
    import asyncio

    from autogen_core.model_context import UnboundedChatCompletionContext

    context = UnboundedChatCompletionContext(initial_messages=model_talk())
    state = asyncio.run(context.save_state())
    check(api, "autogen-core", "state of a context", json.dumps(state).encode(), "autogen")
