"""A JSON result stays whole: an object with more than the members of a message part is not treated as a part."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.rows import for_each

PAYLOAD = "QUJD" * 50
ANSWERS: tuple[Any, ...] = (
    {"document": {"id": 5, "body": "long text"}, "count": 3},
    {"image": {"url": "https://x.org", "width": 3}, "caption": "a cat"},
    {"video": {"title": "x", "length": 3}},
    {"type": "invoice", "source": "email", "amount": 5},
    {"type": "issue", "content": "body", "title": "T", "number": 7},
    {"type": "error", "error": "not found", "detail": "more"},
    {"type": "page", "text": "t", "url": "u"},
    {"name": "x", "parts": [1, 2], "price": 3},
    {"content": [{"type": "text", "text": "a"}], "next": "b"},
    {"text": "a page", "status": 200},
    {"type": "file", "path": "a.py", "bytes": 120},
    {"format": "csv", "data": "name, price\n" * 9},
    {"tx": {"data": "0x" + "a9059cbb" * 20}},
    {"type": "page", "data": "words and words " * 9},
)


def shown(api: ModuleType, content: Any) -> str:
    """Return the block of a result, as it is carried."""
    messages = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f"}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": content}],
        },
    ]
    text: str = api.carry(messages).text
    assert api.carry(json.dumps(messages).encode()).text == text
    return text.split("```\n")[1].removesuffix("\n")


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


@for_each("answer", ANSWERS, ids=compact)
def test_an_answer_is_whole(api: ModuleType, answer: Any) -> None:
    assert shown(api, answer) == compact(answer)
    assert shown(api, [answer]) == compact(answer)
    assert shown(api, [answer, answer]) == f"{compact(answer)}\n{compact(answer)}"


@for_each(
    ("content", "text"),
    [
        ([{"json": None}], "null"),
        ([{"json": {"a": 1}}], '{"a":1}'),
        ([{"document": {}, "mediaType": "x"}], '{"document":{},"mediaType":"x"}'),
        (
            [{"type": "foo", "foo": {"content": {}}, "content": "hello"}],
            '{"type":"foo","foo":{"content":{}},"content":"hello"}',
        ),
        ([{"type": "resource", "resource": {"uri": "file:///a", "text": "words"}}], "words"),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ([{"text": "a", "cache_control": {"type": "ephemeral"}}], "a"),
        ({"content": [{"type": "text", "text": "a"}], "isError": False}, "a"),
        (f"data:image/png;base64,{PAYLOAD}", "[image: image/png, 150 bytes]"),
        ({"mimeType": "image/png", "data": PAYLOAD}, "[image: image/png, 150 bytes]"),
        ([{"type": "own", "source": {"data": PAYLOAD}}], "[own: 150 bytes]"),
    ],
    ids=lambda value: compact(value)[:50],
)
def test_recognised_parts(api: ModuleType, content: Any, text: str) -> None:
    assert shown(api, content) == text


@for_each(
    ("holder", "shown_holder"),
    [
        (
            {"mimeType": "image/png", "data": PAYLOAD, "width": 80},
            {"mimeType": "image/png", "data": "[image: image/png, 150 bytes]", "width": 80},
        ),
        (
            {"inlineData": {"mimeType": "audio/wav", "data": PAYLOAD}},
            {"inlineData": {"mimeType": "audio/wav", "data": "[audio: audio/wav, 150 bytes]"}},
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PAYLOAD}"}},
            {"type": "image_url", "image_url": {"url": "[image: image/png, 150 bytes]"}},
        ),
        (
            {"type": "base64", "media_type": "application/pdf", "data": PAYLOAD},
            {
                "type": "base64",
                "media_type": "application/pdf",
                "data": "[document: application/pdf, 150 bytes]",
            },
        ),
        ({"input_audio": {"data": PAYLOAD}}, {"input_audio": {"data": "[audio: 150 bytes]"}}),
        ({"type": "image", "data": PAYLOAD}, {"type": "image", "data": "[image: 150 bytes]"}),
        ({"source": {"bytes": PAYLOAD}}, {"source": {"bytes": "[data: 150 bytes]"}}),
        (
            {"type": "blob", "modality": "image", "content": PAYLOAD},
            {"type": "blob", "modality": "image", "content": "[image: 150 bytes]"},
        ),
        (
            [f"data:;base64,{PAYLOAD}", f"data:x/y;base64,{PAYLOAD}"],
            ["[data: , 150 bytes]", "[document: x/y, 150 bytes]"],
        ),
        ({"data": PAYLOAD}, {"data": PAYLOAD}),  # nothing says that it is media
        ({"type": "image", "data": PAYLOAD[:63]}, {"type": "image", "data": PAYLOAD[:63]}),
        ({"mimeType": "", "data": PAYLOAD}, {"mimeType": "", "data": PAYLOAD}),
        ({"type": "blob", "data": "x"}, {"type": "blob", "data": "x"}),
        ({"blob": "\u00e9" * 64}, {"blob": "\u00e9" * 64}),
        ({"blob": "\u0141" * 64}, {"blob": "\u0141" * 64}),
    ],
    ids=lambda value: compact(value)[:40],
)
def test_base64_inside_of_an_answer_is_a_line(
    api: ModuleType, holder: Any, shown_holder: Any
) -> None:
    """The other members stay: they are part of the answer."""
    answer, expected = {"n": 1, "x": [holder]}, {"n": 1, "x": [shown_holder]}
    written = json.dumps(expected, separators=(",", ":"), ensure_ascii=False)
    assert shown(api, answer) == written
    assert shown(api, [{"json": answer}]) == written
    assert shown(api, [[answer]]) == f"[{written}]"


def test_the_last_duplicate_member_decides_base64(api: ModuleType) -> None:
    content = f'{{"a":{{"mimeType":"x/y","data":"{PAYLOAD}","mimeType":"image/png"}}}}'
    line = f'[{{"role":"tool","tool_call_id":"t","content":{content}}}]'
    assert (
        '{"mimeType":"image/png","data":"[image: image/png, 150 bytes]"}'
        in api.carry(line.encode()).text
    )


def test_data_counts_by_size(api: ModuleType) -> None:
    result = {"role": "tool", "tool_call_id": "t", "content": f"data:image/png;base64,{PAYLOAD}"}
    for given in ([result], json.dumps([result]).encode()):
        assert api.carry(given).report.chars_before == len("[image: image/png, 150 bytes]")


@pytest.mark.parametrize(
    "member",
    [
        {"payload": {"type": "x"}, "type": "response_item"},
        {"type": "ai", "data": {"content": "x"}},
        {"kind": "ActionEvent"},
        {"step_id": 1, "source": "agent"},
    ],
    ids=compact,
)
def test_a_message_with_a_role_is_of_no_shape_without(api: ModuleType, member: Any) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call], **member},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ]
    (block,) = api.extract_tool_blocks(messages)
    assert (block.tool_use, block.tool_result) == (call, messages[1])
