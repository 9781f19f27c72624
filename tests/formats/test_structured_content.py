"""The structured content of an answer of the Model Context Protocol, next to its text."""

import json
from types import ModuleType
from typing import Any

from support.builders.wire import bash
from support.oracles.markdown import shown_blocks
from support.rows import for_each

ROWS = {"rows": [{"id": 7, "size": 1.5}, {"id": 8, "size": None}], "total": 2}
COMPACT = json.dumps(ROWS, separators=(",", ":"))
PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def answer(*content: Any, structured: Any = ROWS, **more: Any) -> dict[str, Any]:
    return {"content": list(content), "structuredContent": structured, "isError": False, **more}


def shown_text(api: ModuleType, content: Any) -> str:
    messages = bash("ls", content)
    (shown,) = shown_blocks(api.carry(messages).text)
    body = json.dumps({"messages": messages}).encode()
    assert api.carry(body).text == api.carry(messages).text
    return shown.fences[0][1].removesuffix("\n")


@for_each(
    ("content", "expected"),
    [
        (answer(text("Two rows.")), f"Two rows.\n{COMPACT}"),
        (answer(text("Two rows."), _meta={"cost": 3}), f"Two rows.\n{COMPACT}"),
        (answer(text("Two"), text("rows.")), f"Two\nrows.\n{COMPACT}"),
        (answer(PICTURE), f"[image: image/png, 2 bytes]\n{COMPACT}"),
        (answer(text("7"), structured={"result": 8}), '7\n{"result":8}'),
        (answer(text("a"), structured={"result": "a", "more": 1}), 'a\n{"result":"a","more":1}'),
        (answer(text("a"), structured=[1, 2]), "a\n[1,2]"),
        (answer(text('{"total":3}')), f'{{"total":3}}\n{COMPACT}'),
    ],
)
def test_content_that_the_text_does_not_repeat_is_kept(
    api: ModuleType, content: Any, expected: str
) -> None:
    assert shown_text(api, content) == expected
    assert shown_text(api, [content]) == expected


@for_each(
    ("content", "expected"),
    [
        (answer(text(COMPACT)), COMPACT),
        (answer(text(json.dumps(ROWS, indent=2))), json.dumps(ROWS, indent=2)),
        (answer(text("See:"), text(COMPACT)), f"See:\n{COMPACT}"),
        (answer(text('{"a":"é"}'), structured={"a": "\u00e9"}), '{"a":"é"}'),
        (answer(text("plain words"), structured={"result": "plain words"}), "plain words"),
        (answer(text("42"), structured={"result": 42}), "42"),
        (answer(text("42"), structured={"result": "42"}), "42"),
        (answer(text("[1, 2]"), structured={"result": [1, 2]}), "[1, 2]"),
        (answer(text("a"), structured={}), "a"),
        (answer(text("a"), structured=None), "a"),
    ],
)
def test_content_that_the_text_repeats_is_shown_once(
    api: ModuleType, content: Any, expected: str
) -> None:
    assert shown_text(api, content) == expected


def test_base64_in_structured_content_is_a_line(api: ModuleType) -> None:
    url = "data:image/png;base64,aGVsbG8="
    shown = shown_text(api, answer(text("A plot."), structured={"plot": url}))
    assert shown == 'A plot.\n{"plot":"[image: image/png, 5 bytes]"}'


def test_every_place_of_an_answer(api: ModuleType) -> None:
    given = answer(text("Two rows."))
    call = {"functionCall": {"name": "list", "args": {}}}
    gemini = [
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"functionResponse": {"name": "list", "response": given}}]},
    ]
    responses = [
        {"type": "function_call", "call_id": "c1", "name": "list", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": given},
    ]
    use = {"toolUse": {"toolUseId": "t1", "name": "list", "input": {}}}
    held = {"toolUseId": "t1", "content": [{"json": given}]}
    bedrock = [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"toolResult": held}]},
    ]
    record = {"type": "response_item"}
    codex = [{**record, "payload": item} for item in responses]
    for messages in (gemini, responses, bedrock, codex):
        shown = api.carry(messages).text
        assert "Two rows." in shown
        assert '"size":1.5' in shown


def test_an_answer_with_other_members_is_json(api: ModuleType) -> None:
    content = {**answer(text("a")), "page": 2}
    assert shown_text(api, content) == json.dumps(content, separators=(",", ":"))
