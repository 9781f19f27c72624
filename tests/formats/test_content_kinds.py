"""Every kind of result content: texts, parts, JSON and media. The base64 data of media is never shown as text."""

import json
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.builders.media import LINES, PAYLOAD, PLACES, JsonObject, found, gemini, text
from support.builders.wire import assistant, bash, use
from support.examples import examples
from support.oracles.markdown import shown_blocks
from support.rows import for_each

MARK = "QUJD" * 10


def shown_text(api: ModuleType, content: Any) -> str:
    """Return what a context shows of a result with this content, without its final newline."""
    (shown,) = shown_blocks(api.carry(bash("ls", content)).text)
    return shown.fences[0][1].removesuffix("\n")


@for_each(
    ("content", "expected"),
    [
        ("words", "words"),
        ("", "(no output)"),
        (None, "(no output)"),
        ([], "(no output)"),
        ([text("one"), "two", text("three")], "one\ntwo\nthree"),
        (
            [{"type": "output_text", "text": "one"}, {"type": "input_text", "text": "two"}],
            "one\ntwo",
        ),
        (0, "0"),
        (-1.5, "-1.5"),
        (1e9, "1000000000.0"),
        (True, "true"),
        (False, "false"),
        ({"a": {"b": [1, None, "\u00e9"]}}, '{"a":{"b":[1,null,"\u00e9"]}}'),
        ([{"a": 1}, 2, None, True], '{"a":1}\n2\nnull\ntrue'),
        ([[1, [2]]], "[1,[2]]"),
        ({}, "{}"),
        (found(text("one"), text("two")), "one\ntwo"),
        ({"json": {"a": 1}}, '{"a":1}'),
    ],
)
def test_values(api: ModuleType, content: Any, expected: str) -> None:
    assert shown_text(api, content) == expected


@for_each("name", LINES)
def test_parts(api: ModuleType, name: str) -> None:
    part, expected = LINES[name]
    assert shown_text(api, [text("before"), part, text("behind")]) == f"before\n{expected}\nbehind"
    assert shown_text(api, [part]) == expected
    assert shown_text(api, found(text("before"), part)) == f"before\n{expected}"


def test_an_image_in_the_files_of_a_provider(api: ModuleType) -> None:
    part = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}
    assert shown_text(api, [part]).startswith("[image")


@for_each(
    "part",
    [
        {"type": "tool_reference", "tool_name": "WORD"},
        {"type": "web_search_result", "url": "https://WORD.org", "encrypted_content": PAYLOAD},
        {"type": "resource_link", "uri": "file:///WORD", "name": "a"},
        {"type": "json", "json": {"WORD": 1}},
        {"type": "refusal", "refusal": "WORD"},
    ],
    ids=lambda part: part["type"],
)
def test_parts_that_say_something_of_their_own(api: ModuleType, part: JsonObject) -> None:
    assert "WORD" in shown_text(api, [part])


@for_each(
    "content",
    [
        {"type": "code_execution_result", "stdout": "WORD", "stderr": "", "content": []},
        {
            "type": "bash_code_execution_result",
            "stdout": "WORD",
            "stderr": "",
            "return_code": 0,
            "content": [{"type": "bash_code_execution_output", "file_id": "f"}],
        },
        {"type": "text_editor_code_execution_view_result", "content": "WORD", "num_lines": 1},
        {
            "type": "web_fetch_result",
            "url": "https://x.org",
            "content": {"type": "document", "source": {"type": "text", "data": "WORD"}},
        },
        {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "WORD"}],
        },
    ],
    ids=lambda content: content["type"],
)
def test_server_search_results_are_kept(api: ModuleType, content: JsonObject) -> None:
    messages = [
        assistant(
            use("s1", "server") | {"type": "server_tool_use"},
            {"type": "server_tool_result", "tool_use_id": "s1", "content": content},
        )
    ]
    assert "WORD" in api.carry(messages).text


def test_bytes_as_python_holds_them_are_no_text(api: ModuleType) -> None:
    """The SDK of Bedrock decodes base64."""
    for kind in ("image", "document", "video"):
        part = {kind: {"format": "png", "source": {"bytes": b"QUJD" * 50}}}
        content = shown_text(api, [part])
        assert content.startswith(f"[{kind}: png")
        assert "QUJD" not in content


@for_each("place", PLACES)
def test_base64_is_never_text(api: ModuleType, rust: ModuleType, place: str) -> None:
    small, large = PLACES[place](PAYLOAD), PLACES[place](PAYLOAD * 100)
    for messages in (small, large):
        carried = api.carry(messages)
        assert carried.report.shown == 1
        assert MARK not in carried.text
        assert MARK not in api.carry(json.dumps(messages).encode()).text
    digits = len("15,000") - len("150")
    for chars, on in ((chars_before, api), (chars_surveyed, rust)):
        assert 0 <= chars(on, large) - chars(on, small) <= digits


def chars_before(api: ModuleType, messages: list[JsonObject]) -> int:
    count: int = api.carry(messages).report.chars_before
    return count


def chars_surveyed(rust: ModuleType, messages: list[JsonObject]) -> int:
    count: int = rust.inspect(messages).chars
    return count


parts = st.sampled_from([part for part, _ in LINES.values()])


@examples(200)
@given(
    given_parts=st.lists(parts | st.just(text("x")), max_size=6),
    depth=st.integers(0, 4),
    is_protocol=st.booleans(),
    is_json=st.booleans(),
)
def test_base64_is_never_text_at_any_depth(
    api: ModuleType, given_parts: list[JsonObject], depth: int, is_protocol: bool, is_json: bool
) -> None:
    content: Any = given_parts
    for _ in range(depth):
        content = {"a": [content]} if is_json else [{"type": "tool_result", "content": content}]
    if is_protocol and not is_json:
        content = found(text("x"), *content)
    messages = bash("ls", content)
    carried = api.carry(messages)
    assert MARK not in carried.text
    assert carried.report.chars_before < 200 * (len(given_parts) + depth + 2)
    assert api.carry(json.dumps(messages).encode()).text == carried.text


@for_each("name", LINES)
def test_media_parts_are_not_text_in_json(api: ModuleType, name: str) -> None:
    part, _ = LINES[name]
    nested = {"answer": [{"screenshot": part}], "caption": "x"}
    for messages in (
        bash("ls", nested),
        bash("ls", [{"json": nested}]),
        gemini({"response": nested}),
    ):
        for given_messages in (messages, json.dumps(messages).encode()):
            shown = api.carry(given_messages).text
            assert MARK not in shown
            assert '"caption":"x"' in shown
