"""Inspect AI writes the talk into its logs, as JSON and as ``.eval``."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, answered, check

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed; `just frameworks` installs it")  # fmt: skip


def talk() -> list[Any]:
    from inspect_ai import model as m
    from inspect_ai.tool import ToolCall, ToolCallError

    found: list[Any] = [m.ChatMessageSystem(content="Du malst.")]
    image = m.ContentImage(image=f"data:image/png;base64,{PIXEL}")
    for asked, calls in TURNS:
        if asked is not None:
            found.append(m.ChatMessageUser(content=asked if asked == ASKED else [m.ContentText(text=asked), image]))  # fmt: skip
        made = [ToolCall(id=call.call_id, function=call.name, arguments=call.arguments) for call in calls]  # fmt: skip
        said: Any = [m.ContentReasoning(reasoning="Hm."), m.ContentText(text=SAID)] if asked == ASKED else ""  # fmt: skip
        found.append(m.ChatMessageAssistant(content=said, tool_calls=made, source="generate"))
        for call, text in answered(calls):
            error = ToolCallError("unknown", text) if call.has_failed else None
            content: Any = [m.ContentText(text=text), image] if call.has_image else text
            found.append(m.ChatMessageTool(content="" if error else content, tool_call_id=call.call_id, function=call.name, error=error))  # fmt: skip
    return [*found, m.ChatMessageAssistant(content=DONE)]


@pytest.mark.parametrize("kind", ["json", "eval"])
def test_a_log(api: ModuleType, tmp_path: Path, kind: Any) -> None:
    from inspect_ai.log import EvalLog, EvalSample, write_eval_log

    spec = {"created": "2026-01-02T03:04:05+00:00", "task": "zaun", "dataset": {}, "model": "none/none", "config": {}}  # fmt: skip
    sample = EvalSample(id=1, epoch=1, input=ASKED, target="", messages=talk())
    log = EvalLog.model_validate({"status": "success", "eval": spec})
    log.samples = [sample]
    path = tmp_path / f"log.{kind}"
    write_eval_log(log, str(path), kind)
    check(
        api, "inspect-ai", f"write_eval_log, {kind}", api.Conversation.of(path).given, "inspect-ai"
    )


def test_messages(api: ModuleType) -> None:
    messages = talk()
    lines = "\n".join(message.model_dump_json() for message in messages)
    check(api, "inspect-ai", "messages, model_dump_json, lines", lines.encode(), "inspect-ai")
    check(api, "inspect-ai", "messages, objects", messages, "inspect-ai")
