"""pydantic-ai writes the talk."""

import base64
import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, answered, check

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed; `just frameworks` installs it")  # fmt: skip


def talk(*, as_text: bool = False) -> list[Any]:
    from pydantic_ai import messages as m

    found: list[Any] = []
    parts: list[Any] = [m.SystemPromptPart("Du malst.")]
    for asked, calls in TURNS:
        if asked is not None:
            image = m.BinaryContent(base64.b64decode(PIXEL), media_type="image/png")
            parts.append(m.UserPromptPart(asked if asked == ASKED else [asked, image]))
        found.append(m.ModelRequest(parts=parts))
        said: list[Any] = [m.ThinkingPart("Hm."), m.TextPart(SAID)] if asked == ASKED else []
        made = [
            m.ToolCallPart(call.name, json.dumps(call.arguments) if as_text else call.arguments, call.call_id)
            for call in calls
        ]  # fmt: skip
        found.append(m.ModelResponse(parts=[*said, *made]))
        parts = [
            m.RetryPromptPart(text, tool_name=call.name, tool_call_id=call.call_id)
            if call.has_failed
            else m.ToolReturnPart(
                call.name, {"text": text} if call.has_image else text, call.call_id
            )
            for call, text in answered(calls)
        ]
    return [*found, m.ModelRequest(parts=parts), m.ModelResponse(parts=[m.TextPart(DONE)])]


@pytest.mark.parametrize("as_text", [False, True])
def test_dumps(api: ModuleType, as_text: bool) -> None:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    messages = talk(as_text=as_text)
    kind = "arguments as text" if as_text else "arguments as objects"
    dumped = ModelMessagesTypeAdapter.dump_json(messages)
    check(api, "pydantic-ai-slim", f"dump_json, {kind}", dumped, "pydantic-ai")
    python = ModelMessagesTypeAdapter.dump_python(messages)
    check(api, "pydantic-ai-slim", f"dump_python, {kind}", python, "pydantic-ai")
    check(api, "pydantic-ai-slim", f"message objects, {kind}", messages, "pydantic-ai")


def test_a_run(rust: ModuleType) -> None:
    """The messages of an agent's run, with its own model for tests."""
    from pydantic_ai import Agent, ModelRetry, RunContext
    from pydantic_ai.models.function import FunctionModel

    answers = iter(message for message in talk() if message.kind == "response")
    agent = Agent(FunctionModel(lambda _messages, _info: next(answers)), instructions="Du malst.")
    results = {call.call_id: call for _, calls in TURNS for call in calls}

    @agent.tool(retries=3)
    def measure(context: RunContext, what: str) -> str:
        return str(results[context.tool_call_id].result)

    @agent.tool(retries=3)
    def paint(context: RunContext, colour: str, coats: int) -> str:
        raise ModelRetry(str(results[context.tool_call_id].result))

    @agent.tool(retries=3)
    def wait(context: RunContext, hours: int) -> str:
        return "gewartet"

    @agent.tool(retries=3)
    def look(context: RunContext, at: str) -> str:
        return str(results[context.tool_call_id].result)

    made = agent.run_sync(ASKED)
    found = rust.inspect(made.all_messages_json())
    assert (found.shape, found.calls, found.results, found.errors) == ("pydantic-ai", 5, 5, 1)
    assert (found.orphan_calls, found.orphan_results, found.unread.count) == (0, 0, 0)
