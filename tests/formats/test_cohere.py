"""Cohere's chat, version 2: the plan of the model, and results that are documents. https://docs.cohere.com/reference/chat"""

import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy, check

CALL = {"id": "s0", "type": "function", "function": {"name": "search", "arguments": "{}"}}


def talk(*documents: Any) -> list[dict[str, Any]]:
    parts = [{"type": "document", "document": {"id": "d", "data": data}} for data in documents]
    return [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_plan": "I will search.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "s0", "content": parts},
        {"role": "assistant", "content": "Eels swim.", "citations": []},
    ]


def test_documents_are_text(api: ModuleType) -> None:
    messages = talk("Eels swim.", {"depth": 3})
    assert api.carry(messages).text.split("```")[1] == '\nEels swim.\n{"depth":3}\n'
    assert api.dialogue(messages) == (
        "[USER]\nGo.\n[/USER]\n\n[ASSISTANT]\nEels swim.\n[/ASSISTANT]"
    )
    blocks = api.extract_tool_blocks(messages)
    assert [block.tool_name for block in blocks] == ["search"]


def test_a_document_of_bytes_is_a_line(api: ModuleType) -> None:
    """As a document of any other provider."""
    assert "[document: 90 bytes]" in api.carry(talk("QUJD" * 30)).text


@pytest.mark.rust
def test_the_plan_is_known() -> None:
    import toolcarry

    assert toolcarry.inspect(talk("a")).unread.count == 0
    converted = toolcarry.convert(talk("Eels swim."), to="anthropic")
    assert converted.messages[2]["content"][0]["content"] == "Eels swim."
    assert "thinking" in {loss.kind for loss in converted.losses}


@pytest.mark.rust
def test_what_cohere_takes() -> None:
    import toolcarry

    messages = talk("Eels swim.", {"depth": 3})
    policy = ProjectPolicy(repair=True, destination="cohere")
    body = {"model": "command-a-03-2025", "messages": messages, "tool_choice": "REQUIRED"}
    body["tools"] = [{"type": "function", "function": {"name": "search", "parameters": {}}}]
    written = json.dumps(body).encode()
    assert toolcarry.project_body(written, policy=policy).body == written
    assert toolcarry.project_body(written, policy=ProjectPolicy(repair=True)).body == written
    body |= {"tool_choice": "auto", "parallel_tool_calls": True}
    found = toolcarry.project_body(json.dumps(body).encode(), policy=policy)
    assert json.loads(found.body).keys() == {"model", "messages", "tools"}
    assert sorted(mend.kind for mend in found.report.mends) == ["refused_member", "undefined_tool"]


@pytest.mark.rust
@pytest.mark.parametrize("destination", ["openai-chat", "mistral"])
def test_documents_elsewhere(destination: str) -> None:
    """Other servers of the format know no such documents, so that they are texts."""
    import toolcarry

    messages = talk("Eels swim.", {"depth": 3})
    found = toolcarry.project(messages, policy=ProjectPolicy(repair=True, destination=destination))
    texts = ["Eels swim.", '{"depth":3}']
    result = next(message for message in found.messages if message["role"] == "tool")
    assert result["content"] == [{"type": "text", "text": text} for text in texts]
    kinds = [mend.kind for mend in found.report.mends]
    assert kinds.count("foreign_part") == 2
    assert check(found.messages, destination=destination) == ()
