"""From a marker back to the whole."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire

STYLES = ("anthropic", "openai", "responses", "ollama", "gemini", "bedrock")
MESSAGES = [
    *wire.bash("ls", "a\nb", "t1"),
    *wire.bash("ls", "c" * 100, "t1"),
    wire.assistant(wire.use("t2")),
    wire.user(wire.result("t9", [{"type": "text", "text": "lost"}])),
]


@pytest.mark.parametrize(("ref", "text"), [("t1", "a\nb"), ("t1#2", "c" * 100), ("t9", "lost")])
def test_a_reference_names_one_result(api: ModuleType, ref: str, text: str) -> None:
    assert api.resolve(MESSAGES, ref) == text
    assert api.resolve(json.dumps(MESSAGES).encode(), ref) == text


def test_an_output_resolves_to_the_text_for_the_model(api: ModuleType) -> None:
    output = '{"output": "x", "metadata": {"exit_code": 1}}'
    item = {"type": "function_call_output", "call_id": "c1", "output": output}
    assert api.resolve([item], "c1") == output


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("t2", "call 't2' has no result"),
        ("t1#3", "no tool result has the reference 't1#3'"),
        ("", "''"),
    ],
)
def test_an_unknown_reference_is_reported(api: ModuleType, ref: str, message: str) -> None:
    with pytest.raises(api.InputError, match=message):
        api.resolve(MESSAGES, ref)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"ref": "t1"}, "a\nb"),
        ('{"ref": "t1", "offset": 2}', "b\n[toolcarry: characters 2 to 3 of 3]"),
        (
            {"ref": "t1#2", "offset": "90", "limit": 5.0},
            "ccccc\n[toolcarry: characters 90 to 95 of 100]",
        ),
        ({"ref": "t1", "offset": 9}, "\n[toolcarry: characters 9 to 9 of 3]"),
    ],
)
def test_a_model_asks_for_a_part(api: ModuleType, arguments: Any, answer: str) -> None:
    assert api.read_tool_result(MESSAGES, arguments) == answer


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "ref: None"),
        ("", "ref: None"),
        ("no json", "^arguments: not JSON at byte 0"),
        ('{"ref": "t1"', "^arguments: not JSON at byte 12"),
        ('["t1"]', "^arguments must be an object, not list$"),
        (None, "^arguments must be an object, not NoneType$"),
        (["t1"], "^arguments must be an object, not list$"),
        (b'{"ref": "t1"}', "^arguments must be an object, not bytes$"),
        ({"ref": "t1", "offset": -1}, "offset: -1"),
        ({"ref": "t1", "limit": True}, "limit: True"),
        ({"ref": "t1", "limit": 1.5}, "limit: 1.5"),
    ],
)
def test_arguments_that_are_invalid_say_so(api: ModuleType, arguments: Any, message: str) -> None:
    with pytest.raises(api.InputError, match=message):
        api.read_tool_result(MESSAGES, arguments)


@pytest.mark.parametrize("style", STYLES)
def test_the_tool_is_defined_for_each_provider(api: ModuleType, style: Any) -> None:
    tool = api.retrieval_tool(style)
    inner = tool.get("function") or tool.get("toolSpec") or tool
    assert inner["name"] == "read_tool_result"
    schema = inner.get("parameters") or inner.get("input_schema") or inner["inputSchema"]["json"]
    assert schema["required"] == ["ref"]
    assert set(schema["properties"]) == {"ref", "offset", "limit"}


def test_there_is_no_other_style(api: ModuleType) -> None:
    with pytest.raises(api.ConfigError, match="style: 'cohere' is not allowed"):
        api.retrieval_tool("cohere")
