"""Messages of other producers whose results have no place for a marker: they stay, as the very objects."""

import json
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy

LONG = "word " * 4_000
POLICIES = (
    ProjectPolicy(max_result_chars=500),
    ProjectPolicy(max_request_tokens=3_000),
    ProjectPolicy(max_request_tokens=3_000, repair=True),
    ProjectPolicy(max_all_results_tokens=100, clear_tool_inputs=True),
)


@dataclass
class Part:
    part_kind: str
    content: Any = ""
    tool_name: str = ""
    tool_call_id: str = ""
    args: Any = None


@dataclass
class Message:
    """A message as pydantic-ai has it."""

    kind: str
    parts: list[Part] = field(default_factory=list)


def of_pydantic_ai() -> list[Any]:
    found = [Message("request", [Part("user-prompt", "Go.")])]
    for number in range(4):
        name = {"tool_name": "dig", "tool_call_id": f"c{number}"}
        found.append(Message("response", [Part("tool-call", args={"at": LONG}, **name)]))
        found.append(Message("request", [Part("tool-return", LONG, **name)]))
    return found


def of_langchain() -> list[Any]:
    more = {"additional_kwargs": {}, "response_metadata": {}}
    found: list[Any] = [{"type": "human", "content": "Go.", **more}]
    for number in range(4):
        call = {"name": "dig", "args": {"at": LONG}, "id": f"c{number}", "type": "tool_call"}
        found.append({"type": "ai", "content": "", "tool_calls": [call], **more})
        found.append({"type": "tool", "content": LONG, "tool_call_id": f"c{number}", **more})
    return found


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("make", [of_pydantic_ai, of_langchain])
def test_they_are_returned(api: ModuleType, make: Any, policy: ProjectPolicy) -> None:
    messages = make()
    found = api.project(messages, policy=policy)
    assert len(found.messages) == len(messages)
    assert all(new is old for new, old in zip(found.messages, messages, strict=True))
    name = {of_pydantic_ai: "pydantic-ai", of_langchain: "langchain"}[make]
    assert found.report.untouched == f"not projected: {name}"
    assert found.report.replacements == ()
    assert found.report.tokens_before == found.report.tokens_after


def test_so_are_their_bytes(api: ModuleType) -> None:
    body = json.dumps({"messages": of_langchain()}).encode()
    found = api.project_body(body, policy=POLICIES[1])
    assert found.body is body
    assert found.report.untouched == "not projected: langchain"
    assert found.report.over_request > 0
    assert [problem.rule for problem in api.check(body)] == ["not_repaired"]


def test_objects_of_a_framework_stay_if_nothing_changes(api: ModuleType) -> None:
    messages = of_pydantic_ai()[:1]
    found = api.project(messages)
    assert found.messages[0] is messages[0]
    assert found.report.untouched == "", "there is nothing that could be replaced"
