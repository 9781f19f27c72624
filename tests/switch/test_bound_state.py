"""State that only one backend can resolve does not cross a switch, and what goes is reported."""

import json
from typing import Any

import pytest
from support.rows import for_each

from toolcarry import SummarizeTransformer
from toolcarry.switch.bound import KINDS
from toolcarry.switch.types import Switched, SwitchedBody

JsonObject = dict[str, Any]


def user(*parts: Any, key: str = "content") -> JsonObject:
    return {"role": "user", key: list(parts)}


CHAT = [
    {"role": "user", "content": "Hi."},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "List."},
]
GEMINI = [
    user({"text": "Hi."}, key="parts"),
    {"role": "model", "parts": [{"text": "Hello."}]},
    user({"text": "List."}, key="parts"),
]


def both(request: JsonObject, key: str) -> tuple[SwitchedBody, Switched]:
    """The request at another backend than the one that answered, from bytes and from objects."""
    made = [SummarizeTransformer(), SummarizeTransformer()]
    for each in made:
        each.answered("c", "a")
    body = made[0].transform_body(json.dumps(request).encode(), conversation="c", backend="b")
    objects = made[1].transform(request[key], conversation="c", backend="b")
    assert json.loads(body.body)[key] == json.loads(json.dumps(objects.messages))
    assert body.report.reason == objects.report.reason == "switched"
    return body, objects


@for_each(
    ("key", "messages", "members"),
    [
        ("input", CHAT, {"previous_response_id": "resp_a"}),
        ("input", CHAT, {"conversation": {"id": "conv_a"}}),
        ("messages", CHAT, {"container": "container_a"}),
        ("contents", GEMINI, {"cachedContent": "cachedContents/a"}),
        ("contents", GEMINI, {"cached_content": "cachedContents/a"}),
    ],
)
def test_members_that_name_state_of_the_other_backend_go(
    key: str, messages: list[Any], members: JsonObject
) -> None:
    body, _ = both({"model": "m", "store": True, **members, key: messages}, key)
    assert json.loads(body.body).keys() == {"model", "store", key}
    (kind,) = body.report.bound
    assert kind in KINDS
    assert body.report.to_dict()["bound"] == [kind]


def test_they_stay_gone_in_later_requests_but_for_a_container() -> None:
    made = SummarizeTransformer()
    made.answered("c", "a")
    request = {"previous_response_id": "resp_a", "conversation": "conv_a", "container": "cntr_b"}
    first = made.transform_body(
        json.dumps({**request, "input": CHAT}).encode(), conversation="c", backend="b"
    )
    assert json.loads(first.body).keys() == {"input"}
    made.answered("c", "b")
    more = [*CHAT, {"role": "assistant", "content": "a.py"}, {"role": "user", "content": "More."}]
    later = made.transform_body(
        json.dumps({**request, "input": more}).encode(), conversation="c", backend="b"
    )
    assert later.report.reason == "resumed"
    assert json.loads(later.body).keys() == {"container", "input"}


def test_nothing_goes_without_a_switch() -> None:
    made = SummarizeTransformer()
    made.answered("c", "a")
    body = json.dumps({"previous_response_id": "resp_a", "input": CHAT}).encode()
    sent = made.transform_body(body, conversation="c", backend="a")
    assert sent.body is body
    assert sent.report.bound == ()


UPLOADS = [
    ("messages", {"type": "image", "source": {"type": "file", "file_id": "file_9"}}, "text"),
    (
        "messages",
        {"type": "document", "title": "plan.pdf", "source": {"type": "file", "file_id": "file_9"}},
        "text",
    ),
    ("messages", {"type": "container_upload", "file_id": "file_9"}, "text"),
    ("messages", {"type": "file", "file": {"file_id": "file-9", "filename": "plan.pdf"}}, "text"),
    ("input", {"type": "input_image", "file_id": "file-9", "detail": "auto"}, "input_text"),
    ("input", {"type": "input_file", "file_id": "file-9"}, "input_text"),
    (
        "contents",
        {"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/file_9"}},
        None,
    ),
    ("contents", {"file_data": {"file_uri": "files/file_9", "mime_type": "image/png"}}, None),
]


@for_each(("key", "part", "kind"), UPLOADS, ids=str)
def test_a_line_stands_for_an_uploaded_file(key: str, part: JsonObject, kind: str | None) -> None:
    content = "parts" if key == "contents" else "content"
    word = {"text": "Look.", **({"type": kind} if kind else {})}
    messages = [*(GEMINI if key == "contents" else CHAT)[:2], user(word, part, key=content)]
    body, _ = both({key: messages}, key)
    line = json.loads(body.body)[key][-1][content][-1]
    assert line.keys() == ({"type", "text"} if kind else {"text"})
    assert line.get("type") == kind
    assert "plan.pdf" in line["text"] or "file" in line["text"]
    assert "file_id" not in body.body.decode()
    assert "file" in body.report.bound


KEPT = [
    ("messages", {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}),
    ("messages", {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:,x"}}),
    ("input", {"type": "input_file", "file_url": "https://a.example/b.pdf"}),
    ("contents", {"fileData": {"fileUri": "gs://bucket/b.png", "mimeType": "image/png"}}),
    ("contents", {"inlineData": {"data": "aGk=", "mimeType": "image/png"}}),
]


@for_each(("key", "part"), KEPT, ids=str)
def test_what_every_backend_can_read_stays(key: str, part: JsonObject) -> None:
    content = "parts" if key == "contents" else "content"
    messages = [*(GEMINI if key == "contents" else CHAT)[:2], user(part, key=content)]
    body, _ = both({key: messages}, key)
    assert part in json.loads(body.body)[key][-1][content]
    assert body.report.bound == ()


def test_files_in_results_of_an_open_call_become_lines() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "shot", "input": {}}
    image = {"type": "image", "source": {"type": "file", "file_id": "file_9"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [image]}
    messages = [*CHAT, {"role": "assistant", "content": [call]}, user(result)]
    body, _ = both({"messages": messages}, "messages")
    assert b"file_id" not in body.body
    assert body.report.bound == ("file",)
    item = {
        "type": "function_call",
        "id": "fc_a",
        "call_id": "c1",
        "name": "shot",
        "arguments": "{}",
    }
    output = {"type": "function_call_output", "call_id": "c1",
              "output": [{"type": "input_image", "file_id": "file-9"}]}  # fmt: skip
    body, _ = both({"input": [*CHAT, item, output]}, "input")
    sent = json.loads(body.body)["input"][-2:]
    assert "id" not in sent[0]
    assert sent[1]["output"][0]["type"] == "input_text"
    assert body.report.bound == ("file", "item_id")


@pytest.mark.parametrize("signature", [None, "sig-of-a", "skip_thought_signature_validator"])
def test_the_first_call_of_an_open_gemini_turn_has_the_stand_in(signature: str | None) -> None:
    calls: list[JsonObject] = [
        {"functionCall": {"name": name, "args": {}}} for name in ("ls", "ps")
    ]
    if signature:
        calls[0]["thoughtSignature"] = signature
    answers = [{"functionResponse": {"name": name, "response": {}}} for name in ("ls", "ps")]
    messages = [
        *GEMINI,
        {"role": "model", "parts": [{"text": "I look."}, *calls]},
        user(*answers, key="parts"),
    ]
    body, _ = both({"contents": messages}, "contents")
    sent = json.loads(body.body)["contents"][-2]["parts"]
    assert [part.get("thoughtSignature") for part in sent] == [
        None, "skip_thought_signature_validator", None,
    ]  # fmt: skip
    assert b"sig-of-a" not in body.body


def test_calls_of_bedrocks_server_are_carried_and_do_not_go_on() -> None:
    call = {"toolUseId": "s1", "name": "ground", "input": {"q": "tea"}, "type": "server_tool_use"}
    result = {"toolUseId": "s1", "content": [{"text": "hot"}], "type": "ground_result"}
    said = {"role": "assistant", "content": [{"toolUse": call}, {"toolResult": result}]}
    messages = [user({"text": "Hi."}), said, user({"text": "And?"})]
    body, _ = both({"messages": messages}, "messages")
    assert b"toolUse" not in body.body
    assert b"hot" in body.body
