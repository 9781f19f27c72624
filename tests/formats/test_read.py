"""Reading: every shape by its own structure, results of every kind as text, and strangers passed by."""

from collections import UserDict
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import assistant, bash, result, turn, use, user
from support.oracles.markdown import shown_blocks
from support.rows import for_each


def call_of(api: ModuleType, message: Any) -> tuple[str, str, str | None]:
    """The only call of a message: its tool, its id and its key."""
    (block,) = api.extract_tool_blocks([message])
    assert block.tool_use is not None
    return block.tool_name, block.call_id, block.dedup_key


def shown_text(api: ModuleType, content: Any) -> str:
    """Return what a context shows of a result with this content."""
    (shown,) = shown_blocks(api.carry(bash("ls", content)).text)
    return shown.fences[0][1]


def test_anthropic(api: ModuleType) -> None:
    call = use("t1", "Read", file_path="a.py")
    assert call_of(api, assistant({"type": "text", "text": "Look."}, call)) == (
        "Read",
        "t1",
        "read:a.py",
    )


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use", "mcp_tool_use"])
def test_every_kind_of_tool_use(api: ModuleType, kind: str) -> None:
    assert (
        call_of(api, assistant(use("t1", "Read", file_path="a.py") | {"type": kind}))[0] == "Read"
    )


@pytest.mark.parametrize("kind", ["tool_result", "web_search_tool_result", "mcp_tool_result"])
def test_every_kind_of_tool_result(api: ModuleType, kind: str) -> None:
    (block,) = api.extract_tool_blocks([assistant(use("s1")), user(result("s1") | {"type": kind})])
    assert block.tool_result["type"] == kind


def test_openai_chat(api: ModuleType) -> None:
    function = {"name": "read_file", "arguments": '{"path": "a.py"}'}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert call_of(api, message) == ("read_file", "call_1", "read:a.py")
    answer = {"role": "tool", "tool_call_id": "call_1", "content": "x"}
    (block,) = api.extract_tool_blocks([message, answer])
    assert block.tool_use is call
    assert block.tool_result is answer


def test_calls_stand_in_the_content_and_next_to_it_without_a_role(api: ModuleType) -> None:
    call = {"id": "c1", "function": {"name": "g", "arguments": "{}"}}
    message = {"content": [use("t1", "f")], "tool_calls": [call]}
    blocks = api.extract_tool_blocks([message])
    assert [block.call_id for block in blocks] == ["t1", "c1"]


def test_legacy_function_call(api: ModuleType) -> None:
    message = {
        "role": "assistant",
        "function_call": {"name": "bash", "arguments": '{"command": "ls"}'},
    }
    assert call_of(api, message) == ("bash", "", "command:ls")


def test_ollama_arguments_are_objects(api: ModuleType) -> None:
    call = {"function": {"name": "read_file", "arguments": {"path": "a.py"}}}
    assert call_of(api, {"role": "assistant", "content": "", "tool_calls": [call]}) == (
        "read_file",
        "",
        "read:a.py",
    )


def test_claude_code_records(api: ModuleType) -> None:
    record = {
        "uuid": "u1",
        "parentUuid": None,
        "message": assistant(use("t1", "Bash", command="ls")),
    }
    assert call_of(api, record) == ("Bash", "t1", "command:ls")


def test_shapes_may_be_mixed(api: ModuleType) -> None:
    chat = {"id": "c1", "function": {"name": "Grep", "arguments": '{"pattern": "x"}'}}
    messages = [
        *bash("ls", "anthropic"),
        {"role": "assistant", "tool_calls": [chat]},
        {"role": "tool", "tool_call_id": "c1", "content": "chat"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
        {"role": "tool", "tool_name": "f", "content": "ollama"},
    ]
    assert [fences[0][1] for _, _, fences in shown_blocks(api.carry(messages).text)] == [
        "anthropic\n",
        "chat\n",
        "ollama\n",
    ]


@for_each(
    "message",
    [
        {},
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": 7},
        {"role": ["x"], "content": {"type": "tool_use"}},
        {"type": "unknown_item", "payload": {"id": "t1"}},
        {"role": "assistant", "content": [None, 3, "x", [], {"type": 5}], "tool_calls": "x"},
        {"role": "assistant", "tool_calls": [None, "x"], "function_call": "x"},
        {"type": "summary", "summary": "S", "leafUuid": "u1"},
        {"uuid": "u1", "message": None},
        {"uuid": "u1", "message": "text"},
    ],
)
def test_an_unknown_structure_is_skipped(api: ModuleType, message: Any) -> None:
    assert api.extract_tool_blocks([message]) == []
    assert api.carry([message]).text == ""


@for_each("arguments", ["not json", "[1, 2]", '"text"', "", None, "{bad", 7])
def test_arguments_that_are_no_object(api: ModuleType, arguments: Any) -> None:
    call = {"id": "c1", "function": {"name": "read_file", "arguments": arguments}}
    assert call_of(api, {"role": "assistant", "tool_calls": [call]}) == ("read_file", "c1", None)


def test_arguments_that_are_no_json_are_shown_as_they_are(api: ModuleType) -> None:
    call = {"id": "c1", "function": {"name": "f", "arguments": "not json"}}
    text = api.carry([{"role": "assistant", "tool_calls": [call]}]).text
    assert '### f(arguments="not json") (interrupted: no result)\n' in text


class Dumped:
    """An SDK's object."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self._fields


def test_objects_of_an_sdk_are_dumped(api: ModuleType) -> None:
    function = Dumped(name="bash", arguments='{"command": "ls"}')
    message = Dumped(role="assistant", tool_calls=[Dumped(id="c1", function=function)])
    answer = Dumped(role="tool", tool_call_id="c1", content="a.py")
    assert "### ls\n```\na.py\n```\n" in api.carry([message, answer]).text


def test_other_mappings_and_sequences_are_read(api: ModuleType) -> None:
    messages = tuple(UserDict(message) for message in bash("ls", "a.py"))
    assert "### ls\n```\na.py\n```\n" in api.carry(messages).text


@for_each(
    ("content", "text"),
    [
        ("text", "text\n"),
        (["one", "two"], "one\ntwo\n"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo\n"),
        (None, "(no output)\n"),
        ([], "(no output)\n"),
        (7, "7\n"),
        (True, "true\n"),
        ({"a": [1, None]}, '{"a":[1,null]}\n'),
        ([{"a": "\u00e9"}], '{"a":"\u00e9"}\n'),
    ],
)
def test_the_text_of_a_result(api: ModuleType, content: Any, text: str) -> None:
    assert shown_text(api, content) == text


PNG = "QUJD" * 4_000
SIZE = "12,000 bytes"


@for_each(
    ("part", "line"),
    [
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            f"[image: image/png, {SIZE}]",
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            f"[image: image/png, {SIZE}]",
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}},
            "[image: https://x.org/a.png]",
        ),
        ({"type": "image", "data": PNG, "mimeType": "image/png"}, f"[image: image/png, {SIZE}]"),
        (
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "QQ=="},
            },
            "[document: application/pdf, 1 bytes]",
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "QUI=", "format": "wav"}},
            "[audio: wav, 2 bytes]",
        ),
        (
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "words"},
            },
            "words",
        ),
        ({"type": "image"}, "[image]"),
    ],
)
def test_media_become_a_line(api: ModuleType, part: Any, line: str) -> None:
    text = api.carry(bash("ls", [{"type": "text", "text": "before"}, part])).text
    assert f"```\nbefore\n{line}\n```\n" in text
    assert "QUJDQUJD" not in text


def test_base64_is_not_counted_as_text(api: ModuleType) -> None:
    part = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    assert api.carry(bash("ls", [part])).report.chars_before == len(f"[image: image/png, {SIZE}]")


@pytest.mark.parametrize(
    "part",
    [
        {
            "type": "search_result",
            "source": "https://x.org",
            "content": [{"type": "text", "text": "FOUND"}],
        },
        {
            "type": "resource",
            "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "FOUND"},
        },
        {
            "type": "document",
            "source": {"type": "content", "content": [{"type": "text", "text": "FOUND"}]},
        },
        {"type": "json", "json": {"answer": "FOUND"}},
    ],
    ids=lambda part: part["type"],
)
def test_text_in_a_part_of_another_type_is_not_lost(api: ModuleType, part: Any) -> None:
    assert "FOUND" in shown_text(api, [part])


def test_a_result_of_role_tool_is_the_message(api: ModuleType) -> None:
    message = {"role": "tool", "tool_call_id": "x", "content": "out"}
    assert api.extract_tool_blocks([message])[0].tool_result is message


@pytest.mark.parametrize(
    ("given", "is_error"), [(True, True), (False, False), (None, False), ("yes", False)]
)
def test_is_error(api: ModuleType, given: Any, is_error: bool) -> None:
    (block,) = api.extract_tool_blocks(bash("ls", "x", is_error=given))
    assert block.is_error is is_error


def test_an_answer_that_names_its_call_as_responses_do(api: ModuleType) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = {"role": "tool", "call_id": "c", "content": "out"}
    (block,) = api.extract_tool_blocks([{"role": "assistant", "tool_calls": [call]}, answer])
    assert (block.call_id, block.tool_result) == ("c", answer)


@pytest.mark.parametrize("flag", ["is_error", "tool_call_error"])
def test_a_flag_of_a_failure_in_chat(api: ModuleType, flag: str) -> None:
    message = {"role": "tool", "tool_call_id": "x", "content": "out", flag: True}
    (block,) = api.extract_tool_blocks([message])
    assert block.is_error


def test_arguments_may_hold_values_outside_json(api: ModuleType) -> None:
    text = api.carry(turn("f", {"a": {1}, "b": 1 << 70, "c": [float("nan")]}, object)).text
    assert "### f(a=" in text


@pytest.mark.parametrize(
    ("part", "line"),
    [
        (
            {"type": "resource", "resource": {"blob": "QUFBQQ==", "mimeType": "image/png"}},
            "[resource: image/png, 4 bytes]",
        ),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,QUFBQQ=="}},
            "[file: application/pdf, 4 bytes]",
        ),
        ({"type": "resource", "resource": {"uri": "u", "text": "FOUND"}}, "FOUND"),
    ],
)
def test_base64_is_never_text(api: ModuleType, part: dict[str, Any], line: str) -> None:
    text = api.carry([{"role": "tool", "tool_call_id": "1", "content": [part]}]).text
    assert f"\n{line}\n" in text
    assert "QUFB" not in text


def test_a_custom_call_of_chat_is_free_text(api: ModuleType) -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": '{"a": 1}'}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    assert r'### patch(input="{\"a\": 1}")' in api.carry(messages).text
