"""The tools of a request: more than the provider takes, and names of tools that are not defined."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import bash, use
from support.oracles.repairs import ASK

from toolcarry import Destination, ProjectPolicy, check


def sent(
    api: ModuleType, request: dict[str, Any], destination: Any = None
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the repaired request, and the kinds and details of its corrections. `check` names the same."""
    if destination is None:
        destination = "anthropic" if "claude" in request["model"] else "openai-chat"
    policy = ProjectPolicy(repair=True, destination=destination)
    body = json.dumps(request).encode()
    once = api.project_body(body, policy=policy)
    assert api.project_body(once.body, policy=policy).body == once.body
    assert check(once.body, destination=destination) == ()
    named = [problem.rule for problem in check(body, destination=destination)]
    mends = [(mend.kind, mend.detail) for mend in once.report.mends]
    assert sorted(named) == sorted(kind for kind, _ in mends)
    return json.loads(once.body), mends


def anthropic(*names: str, **members: Any) -> dict[str, Any]:
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in names]
    return {"model": "claude-opus-5", "tools": tools, "messages": [ASK], **members}


def chat(*names: str, **members: Any) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    messages = [{"role": "user", "content": "Go."}]
    return {"model": "gpt-5", "tools": tools, "messages": messages, **members}


def test_too_many_tools(api: ModuleType) -> None:
    """Those that were called or are chosen stay, and the others in their order."""
    names = [f"tool_{number}" for number in range(131)]
    call = {"id": "c1", "type": "function", "function": {"name": "tool_130", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
    ]
    choice = {"type": "function", "function": {"name": "tool_129"}}
    given = chat(*names, messages=messages, tool_choice=choice)
    found, mends = sent(api, given)
    gone = ["tool_126", "tool_127", "tool_128"]
    assert mends == [("dropped_tool", name) for name in gone]
    left = [tool["function"]["name"] for tool in found["tools"]]
    assert left == [name for name in names if name not in gone]
    assert {**found, "tools": 0} == {**given, "tools": 0}
    assert sent(api, chat(*names[:128]))[1] == []
    assert sent(api, chat(*names), "qwen")[1] == []


def test_too_many_tools_of_other_forms(api: ModuleType) -> None:
    names = [f"tool_{number}" for number in range(514)]
    declared = [{"functionDeclarations": [{"name": name} for name in names]}]
    contents = [{"role": "user", "parts": [{"text": "Go."}]}]
    found, mends = sent(api, {"contents": contents, "tools": declared}, "gemini")
    assert len(found["tools"][0]["functionDeclarations"]) == 512
    assert [detail for _, detail in mends] == names[512:]
    tools = [{"type": "function", "name": name} for name in names[:129]]
    asked = [{"type": "message", "role": "user", "content": "Go."}]
    found, mends = sent(api, {"input": asked, "tools": tools}, "openai-responses")
    assert mends == [("dropped_tool", "tool_128")]
    assert found["tools"] == tools[:128]
    own = Destination("few", "anthropic", {"most_tools": 2})
    assert sent(api, anthropic("a", "b", "c"), own)[1] == [("dropped_tool", "c")]


def test_more_tools_are_needed_than_are_allowed(api: ModuleType) -> None:
    own = Destination("few", "anthropic", {"most_tools": 1})
    messages = [ASK, *bash("ls"), *bash("pwd", call_id="t2")]
    messages[3]["content"][0]["name"] = "Run"
    body = json.dumps(anthropic("Bash", "Run", messages=messages)).encode()
    found = api.project_body(body, policy=ProjectPolicy(repair=True, destination=own))
    assert found.report.not_repaired == "2 tools"


CHOICES = [
    (anthropic("a", tool_choice={"type": "tool", "name": "b"}), None),
    (chat("a", tool_choice={"type": "function", "function": {"name": "b"}}), None),
    (
        {
            "input": [{"type": "message", "role": "user", "content": "Go."}],
            "tools": [{"type": "function", "name": "a"}, {"type": "web_search"}],
            "tool_choice": {"type": "function", "name": "b"},
        },
        "openai-responses",
    ),
]


@pytest.mark.parametrize(("request_", "destination"), CHOICES)
def test_a_choice_of_no_tool(api: ModuleType, request_: dict[str, Any], destination: Any) -> None:
    found, mends = sent(api, request_, destination)
    assert mends == [("undefined_tool", "b")]
    assert found == {name: value for name, value in request_.items() if name != "tool_choice"}


def test_a_choice_in_bedrock(api: ModuleType) -> None:
    tools = [{"toolSpec": {"name": "a", "inputSchema": {"json": {"type": "object"}}}}]
    messages = [{"role": "user", "content": [{"text": "Go."}]}]
    config = {"tools": tools, "toolChoice": {"tool": {"name": "b"}}}
    found, mends = sent(api, {"messages": messages, "toolConfig": config}, "bedrock")
    assert mends == [("undefined_tool", "b")]
    assert found["toolConfig"] == {"tools": tools}
    fine = {"tools": tools, "toolChoice": {"any": {}}}
    assert sent(api, {"messages": messages, "toolConfig": fine}, "bedrock")[1] == []


def test_some_of_the_names_that_gemini_may_choose(api: ModuleType) -> None:
    contents = [{"role": "user", "parts": [{"text": "Go."}]}]
    calling = {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}
    request = {
        "contents": contents,
        "tools": [{"functionDeclarations": [{"name": "a"}]}],
        "toolConfig": {"functionCallingConfig": calling},
    }
    found, mends = sent(api, request, "gemini")
    assert mends == [("undefined_tool", "b")]
    assert found["toolConfig"]["functionCallingConfig"] == {
        **calling,
        "allowedFunctionNames": ["a"],
    }
    calling["allowedFunctionNames"] = ["b"]
    found, _ = sent(api, request, "gemini")
    assert found["toolConfig"] == {}


def test_some_of_the_tools_that_are_allowed(api: ModuleType) -> None:
    """One of the provider's own has no name, and stays."""
    named = [{"type": "function", "name": name} for name in ("a", "b")]
    choice = {"type": "allowed_tools", "mode": "auto", "tools": [*named, {"type": "web_search"}]}
    request = {
        "input": [{"type": "message", "role": "user", "content": "Go."}],
        "tools": [*named[:1], {"type": "web_search"}],
        "tool_choice": choice,
    }
    found, mends = sent(api, request, "openai-responses")
    assert mends == [("undefined_tool", "b")]
    assert found["tool_choice"]["tools"] == [named[0], {"type": "web_search"}]
    functions = [{"type": "function", "function": {"name": name}} for name in ("a", "b")]
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": functions}}
    found, _ = sent(api, chat("a", tool_choice=allowed))
    assert found["tool_choice"]["allowed_tools"]["tools"] == functions[:1]
    found, mends = sent(api, chat("c", tool_choice=allowed))
    assert mends == [("undefined_tool", "a"), ("undefined_tool", "b")]
    assert "tool_choice" not in found


@pytest.mark.parametrize(
    "request_",
    [
        anthropic("a", tool_choice={"type": "tool", "name": "a"}),
        anthropic("a", tool_choice={"type": "any"}),
        anthropic(tool_choice={"type": "none"}),
        anthropic(
            tools=[{"type": "mcp_toolset", "mcp_server_name": "s"}],
            tool_choice={"type": "tool", "name": "b"},
        ),
        anthropic(mcp_servers=[{"name": "s"}], tool_choice={"type": "tool", "name": "b"}),
        chat("a", tool_choice="required", parallel_tool_calls=False),
        chat("a", tool_choice={"type": "function", "function": {"name": "a"}}),
    ],
)
def test_choices_that_are_fine(api: ModuleType, request_: dict[str, Any]) -> None:
    assert sent(api, request_) == (request_, [])


def test_a_choice_without_tools(api: ModuleType) -> None:
    found, mends = sent(api, anthropic(tool_choice={"type": "auto"}))
    assert mends == [("undefined_tool", "")]
    assert "tool_choice" not in found
    found, mends = sent(api, chat(tool_choice="auto", parallel_tool_calls=True), "openai-chat")
    assert mends == [("undefined_tool", "")] * 2
    assert found.keys() == {"model", "tools", "messages"}


def test_references_to_tools(api: ModuleType) -> None:
    """Found in public: a session ends when an MCP server is gone whose tools were found before."""

    def search(*names: str) -> list[Any]:
        return bash("find", [{"type": "tool_reference", "tool_name": name} for name in names])

    given = anthropic("a", messages=[ASK, *search("a", "b")])
    found, mends = sent(api, given)
    assert mends == [("undefined_tool", "b")]
    assert found["messages"] == [ASK, *search("a")]
    found, mends = sent(api, anthropic("a", messages=[ASK, *search("b", "c")]))
    assert [detail for _, detail in mends] == ["b", "c"]
    text = {"type": "text", "text": "[tool_reference: b]\n[tool_reference: c]"}
    assert found["messages"][2]["content"][0]["content"] == [text]
    fine = anthropic("a", "b", messages=[ASK, *search("a", "b")])
    assert sent(api, fine) == (fine, [])


def test_references_of_the_providers_search(api: ModuleType) -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_regex", "input": {}}
    references = [{"type": "tool_reference", "tool_name": name} for name in ("a", "b")]
    content = {"type": "tool_search_tool_search_result", "tool_references": references}
    answer = {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": content}
    said = {"role": "assistant", "content": [call, answer, use("t1")]}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "1"}
    messages = [ASK, said, {"role": "user", "content": [result]}]
    found, mends = sent(api, anthropic("a", messages=messages))
    assert mends == [("undefined_tool", "b")]
    new = found["messages"][1]["content"][1]["content"]
    assert new == {**content, "tool_references": references[:1]}


def test_one_tool_is_loaded(api: ModuleType) -> None:
    def tools(*, finds: bool, loads: bool) -> list[Any]:
        plain = [
            {"name": name, "input_schema": {"type": "object"}, "defer_loading": True}
            for name in ("a", "b")
        ]
        finder = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
        return [*plain, {**finder, "defer_loading": not loads}] if finds else plain

    found, mends = sent(api, anthropic(tools=tools(finds=True, loads=False)))
    assert mends == [("refused_member", "defer_loading")]
    assert ["defer_loading" in tool for tool in found["tools"]] == [True, True, False]
    found, _ = sent(api, anthropic(tools=tools(finds=False, loads=False)))
    assert ["defer_loading" in tool for tool in found["tools"]] == [False, True]
    fine = anthropic(tools=tools(finds=True, loads=True))
    assert sent(api, fine) == (fine, [])
