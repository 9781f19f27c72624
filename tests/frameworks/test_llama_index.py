"""LlamaIndex writes the talk."""

from __future__ import annotations

import base64
import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, answered, check

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed; `just frameworks` installs it")  # fmt: skip


def talk(*, in_blocks: bool) -> list[Any]:
    from llama_index.core.base.llms import types as t

    found: list[Any] = [t.ChatMessage(role="system", content="Du malst.")]
    for asked, calls in TURNS:
        image = t.ImageBlock(image=base64.b64decode(PIXEL), image_mimetype="image/png")
        if asked is not None:
            blocks: list[Any] = [t.TextBlock(text=asked)] + ([] if asked == ASKED else [image])
            found.append(t.ChatMessage(role="user", blocks=blocks))
        said: list[Any] = [t.ThinkingBlock(content="Hm."), t.TextBlock(text=SAID)] if asked == ASKED else []  # fmt: skip
        if in_blocks:
            made: list[Any] = [t.ToolCallBlock(tool_call_id=call.call_id, tool_name=call.name, tool_kwargs=call.arguments) for call in calls]  # fmt: skip
            found.append(t.ChatMessage(role="assistant", blocks=said + made))
        else:
            entries = [{"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}} for call in calls]  # fmt: skip
            found.append(t.ChatMessage(role="assistant", blocks=said, additional_kwargs={"tool_calls": entries}))  # fmt: skip
        for call, text in answered(calls):
            shown: list[Any] = [t.TextBlock(text=text), *([image] if call.has_image else [])]
            found.append(t.ChatMessage(role="tool", blocks=shown, additional_kwargs={"tool_call_id": call.call_id, "name": call.name}))  # fmt: skip
    return [*found, t.ChatMessage(role="assistant", content=DONE)]


@pytest.mark.parametrize("in_blocks", [True, False])
def test_messages(api: ModuleType, in_blocks: bool) -> None:
    messages = talk(in_blocks=in_blocks)
    kind = "calls as blocks" if in_blocks else "calls in additional_kwargs"
    # A message with a result has no flag of a failure.
    lost: Any = {"lost_failures": True}
    dumped = json.dumps([message.model_dump(mode="json") for message in messages])
    check(api, "llama-index-core", f"model_dump, {kind}", dumped.encode(), "llama-index", **lost)
    lines = "\n".join(message.model_dump_json() for message in messages)
    check(api, "llama-index-core", f"model_dump_json, lines, {kind}", lines.encode(), "llama-index", **lost)  # fmt: skip
    check(api, "llama-index-core", f"objects, {kind}", messages, "llama-index", **lost)
