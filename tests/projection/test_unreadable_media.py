"""Images and documents that a provider cannot read, and those in the form of the Model Context Protocol."""

import base64
import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import bash
from support.oracles.repairs import ASK
from support.rows import for_each

from toolcarry import Destination, ProjectPolicy, check

HEADS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x10\0\0\0WEBP",
    "image/bmp": b"BM\x10\0",
    "image/heic": b"\0\0\0\x18ftypheic",
    "image/svg+xml": b"<svg xmlns=''/>",
    "application/pdf": b"%PDF-1.7",
}
DATA = {kind: base64.b64encode(head + bytes(20)).decode() for kind, head in HEADS.items()}


def image(stated: str, data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": stated, "data": data}}


def in_chat(stated: str, data: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{stated};base64,{data}"}}


def in_responses(stated: str, data: str) -> dict[str, Any]:
    return {"type": "input_image", "image_url": f"data:{stated};base64,{data}"}


def in_gemini(stated: str, data: str) -> dict[str, Any]:
    return {"inlineData": {"mimeType": stated, "data": data}}


def in_bedrock(stated: str, data: str) -> dict[str, Any]:
    return {"image": {"format": stated.removeprefix("image/"), "source": {"bytes": data}}}


FORMS = {
    "anthropic": image,
    "openai-chat": in_chat,
    "openai-responses": in_responses,
    "gemini": in_gemini,
    "bedrock": in_bedrock,
}


def shown(destination: str, part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a request with a part of the user's."""
    text = {"type": "input_text" if destination == "openai-responses" else "text", "text": "Look."}
    if destination in ("gemini", "bedrock"):
        del text["type"]
    return [{"role": "user", ("parts" if destination == "gemini" else "content"): [text, part]}]


def sent(
    api: ModuleType, messages: list[dict[str, Any]], destination: str
) -> tuple[Any, list[str]]:
    """Return the repaired messages and the kinds of the mends; both doors, `check` and a second repair agree."""
    policy = ProjectPolicy(repair=True, destination=destination)
    found = api.project(messages, policy=policy)
    assert api.project(found.messages, policy=policy).messages == found.messages
    holder = {"openai-responses": "input", "gemini": "contents"}.get(destination, "messages")
    body = api.project_body(json.dumps({holder: messages}).encode(), policy=policy)
    assert json.loads(body.body)[holder] == found.messages
    kinds = [mend.kind for mend in found.report.mends]
    assert [problem.rule for problem in check(messages, destination=destination)] == kinds
    assert check(found.messages, destination=destination) == ()
    return found.messages, kinds


def part_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    message = messages[0]
    part: dict[str, Any] = (message.get("content") or message["parts"])[1]
    return part


@pytest.mark.parametrize("destination", FORMS)
def test_what_a_provider_reads_is_unchanged(api: ModuleType, destination: str) -> None:
    for kind in ("image/png", "image/jpeg", "image/webp"):
        messages = shown(destination, FORMS[destination](kind, DATA[kind]))
        assert sent(api, messages, destination) == (messages, [])


@for_each("destination", FORMS)
@for_each("data", ["", "iVBOR...[truncated]", "[redacted]", "%%%%", DATA["image/bmp"], "aGk="])
def test_data_that_are_no_image_become_a_line(api: ModuleType, destination: str, data: str) -> None:
    messages = shown(destination, FORMS[destination]("image/png", data))
    found, kinds = sent(api, messages, destination)
    assert kinds == ["unreadable_media"]
    assert part_of(found)["text"].startswith("[image: ")
    assert set(part_of(found)) <= {"type", "text"}


@pytest.mark.parametrize("destination", ["anthropic", "bedrock"])
def test_the_type_is_that_of_the_bytes(api: ModuleType, destination: str) -> None:
    for kind in ("image/jpeg", "image/gif", "image/webp"):
        messages = shown(destination, FORMS[destination]("image/png", DATA[kind]))
        found, kinds = sent(api, messages, destination)
        assert (part_of(found), kinds) == (FORMS[destination](kind, DATA[kind]), ["media_type"])


@pytest.mark.parametrize("destination", FORMS)
def test_a_type_that_is_refused_becomes_that_of_the_bytes(
    api: ModuleType, destination: str
) -> None:
    messages = shown(destination, FORMS[destination]("image/x-png", DATA["image/png"]))
    found, kinds = sent(api, messages, destination)
    assert (part_of(found), kinds) == (
        FORMS[destination]("image/png", DATA["image/png"]),
        ["media_type"],
    )


def test_chat_takes_an_image_of_another_type(api: ModuleType) -> None:
    messages = shown("openai-chat", in_chat("image/png", DATA["image/jpeg"]))
    assert sent(api, messages, "openai-chat") == (messages, [])


def test_documents(api: ModuleType) -> None:
    def document(stated: str, data: str) -> dict[str, Any]:
        return image(stated, data) | {"type": "document", "title": "Tides"}

    pdf = document("application/pdf", DATA["application/pdf"])
    assert sent(api, shown("anthropic", pdf), "anthropic") == (shown("anthropic", pdf), [])
    found, kinds = sent(
        api, shown("anthropic", document("text/plain", DATA["application/pdf"])), "anthropic"
    )
    assert (part_of(found), kinds) == (pdf, ["media_type"])
    for broken in (document("application/pdf", ""), document("text/csv", "YSxi")):
        found, kinds = sent(api, shown("anthropic", broken), "anthropic")
        assert (part_of(found)["type"], kinds) == ("text", ["unreadable_media"])


def test_the_line_keeps_the_cache_mark(api: ModuleType) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    found, _ = sent(api, shown("anthropic", image("image/png", "") | mark), "anthropic")
    assert part_of(found) == {"type": "text", "text": "[image: image/png, 0 bytes]", **mark}


@pytest.mark.parametrize("is_error", [False, True])
def test_images_in_results(api: ModuleType, is_error: bool) -> None:
    """Those of a failure follow it, with the type of their bytes; a line of text may stay."""
    parts = [
        {"type": "text", "text": "kelp"},
        image("image/png", DATA["image/jpeg"]),
        image("image/png", ""),
    ]
    messages = [ASK, *bash("view", parts)]
    messages[2]["content"][0]["is_error"] = is_error
    found, kinds = sent(api, messages, "anthropic")
    line = {"type": "text", "text": "[image: image/png, 0 bytes]"}
    jpeg = image("image/jpeg", DATA["image/jpeg"])
    content = found[2]["content"]
    assert kinds[:2] == ["media_type", "unreadable_media"]
    if is_error:
        assert (content[0]["content"], content[1]) == ([parts[0], line], jpeg)
    else:
        assert content[0]["content"] == [parts[0], jpeg, line]


def test_parts_of_the_model_context_protocol(api: ModuleType) -> None:
    png, wav = DATA["image/png"], "UklGRgAAAABXQVZF"
    parts = [
        {"type": "image", "data": png, "mimeType": "image/png"},
        {
            "type": "resource",
            "resource": {"uri": "file:///log", "mimeType": "text/plain", "text": "calm"},
        },
        {"type": "resource", "resource": {"uri": "a.png", "mimeType": "image/png", "blob": png}},
        {"type": "resource_link", "uri": "file:///tides", "name": "tides"},
        {"type": "audio", "data": wav, "mimeType": "audio/wav"},
    ]
    found, kinds = sent(api, [ASK, *bash("cam", parts)], "anthropic")
    assert kinds == ["foreign_part"] * 5
    words = [image("image/png", png), "calm", image("image/png", png)]
    words += ["[resource_link: file:///tides]", "[audio: audio/wav, 12 bytes]"]
    expected = [
        each if isinstance(each, dict) else {"type": "text", "text": each} for each in words
    ]
    assert found[2]["content"][0]["content"] == expected


def test_an_image_of_the_protocol_follows_a_result_of_chat(api: ModuleType) -> None:
    part = {"type": "image", "data": DATA["image/png"], "mimeType": "image/png"}
    call = {"id": "c1", "type": "function", "function": {"name": "cam", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    messages = [ASK, asked, {"role": "tool", "tool_call_id": "c1", "content": [part]}]
    found, kinds = sent(api, messages, "openai-chat")
    assert kinds == ["foreign_part", "moved_media"]
    assert found[3]["content"][-1] == in_chat("image/png", DATA["image/png"])


def test_a_destination_of_a_user_takes_other_types(api: ModuleType) -> None:
    own = Destination("local", "openai-chat", {"image_types": ["image/bmp"]})
    messages = shown("openai-chat", in_chat("image/bmp", DATA["image/bmp"]))
    assert (
        api.project(messages, policy=ProjectPolicy(repair=True, destination=own)).messages
        == messages
    )
