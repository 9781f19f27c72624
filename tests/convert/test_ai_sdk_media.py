"""Images and files of the Vercel AI SDK and of opencode, in every version: a part of the destination, or a line and a loss."""

import base64
import json
from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

from support.oracles.format_checks import JsonObject
from support.rows import for_each

Place: TypeAlias = Callable[[JsonObject], list[JsonObject]]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(90)
DATA = base64.b64encode(PNG).decode()
URL = "https://example.org/a.png"
DATA_URL = f"data:image/png;base64,{DATA}"

IMAGES_BY_DATA: list[JsonObject] = [
    {"type": "image", "image": DATA},
    {"type": "image", "image": DATA, "mimeType": "image/png"},
    {"type": "image", "image": DATA_URL},
    {"type": "image", "image": dict(enumerate(PNG)), "mediaType": "image/png"},
    {"type": "file", "data": DATA, "mimeType": "image/png"},
    {"type": "file", "data": DATA, "mediaType": "image/png", "filename": "a.png"},
    {"type": "file", "data": {"type": "data", "data": DATA}, "mediaType": "image/png"},
    {"type": "file", "data": {"type": "Buffer", "data": list(PNG)}, "mediaType": "image/png"},
    {"type": "file", "data": list(PNG), "mediaType": "image/png"},
    {"type": "file", "url": DATA_URL, "mediaType": "image/png"},
    {"type": "file", "url": DATA_URL, "mime": "image/png", "filename": "a.png"},
    {"type": "media", "data": DATA, "mediaType": "image/png"},
    {"type": "image-data", "data": DATA, "mediaType": "image/png"},
    {"type": "file-data", "data": DATA, "mediaType": "image/png", "filename": "a.png"},
]
IMAGES_BY_URL: list[JsonObject] = [
    {"type": "image", "image": URL},
    {"type": "file", "data": URL, "mediaType": "image/png"},
    {"type": "file", "data": {"type": "url", "url": URL}, "mediaType": "image/png"},
    {"type": "file", "url": URL, "mediaType": "image/png"},
    {"type": "image-url", "url": URL},
    {"type": "file-url", "url": URL, "mediaType": "image/png"},
]
ELSEWHERE: list[JsonObject] = [
    {"type": "file-id", "fileId": "file_1"},
    {"type": "image-file-id", "fileId": {"openai": "file_1"}},
    {"type": "file-reference", "providerReference": {"openai": "file_1"}},
]
PLAIN: list[JsonObject] = json.loads(json.dumps([*IMAGES_BY_DATA, *IMAGES_BY_URL]))
"""The parts as JSON, whose keys are strings."""

TARGETS = for_each(
    "to", ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock", "ollama"]
)
OWN = {
    "anthropic": ('"type": "image", "source"',),
    "openai-chat": ('"type": "image_url", "image_url": {"url"',),
    "openai-responses": ('"type": "input_image", "image_url": "',),
    "gemini": ('"inlineData"', '"fileData"'),
    "bedrock": ('"image": {"format": "png"',),
    "ollama": ('"images": [',),
}
"""An image in each format."""


def with_answer(question: JsonObject, *answer: JsonObject) -> list[JsonObject]:
    """A conversation of model messages. Its call shows whose they are."""
    shown = [{"type": "text", "text": "here"}, *answer]
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {}}
    output = {"type": "content", "value": shown}
    result = {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "output": output}
    return [
        question,
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
    ]


def in_text(part: JsonObject) -> list[JsonObject]:
    return with_answer({"role": "user", "content": [{"type": "text", "text": "see"}, part]})


def without_calls(part: JsonObject) -> list[JsonObject]:
    return in_text(part)[:1]


def in_result(part: JsonObject) -> list[JsonObject]:
    return with_answer({"role": "user", "content": "see"}, part)


def in_version_4_result(part: JsonObject) -> list[JsonObject]:
    messages = in_result(part)
    (result,) = messages[-1]["content"]
    result["experimental_content"] = result.pop("output")["value"]
    result["result"] = {"raw": True}
    return messages


def in_parts(part: JsonObject) -> list[JsonObject]:
    step = [{"type": "step-start"}, {"type": "text", "text": "ok"}]
    return [{"role": "user", "parts": [part]}, {"role": "assistant", "parts": step}]


def in_opencode(part: JsonObject) -> list[JsonObject]:
    return [{"info": {"role": "user"}, "parts": [part]}]


def in_opencode_result(part: JsonObject) -> list[JsonObject]:
    state = {"status": "completed", "input": {}, "output": "ok", "attachments": [part]}
    tool = {"type": "tool", "callID": "c1", "tool": "look", "state": state}
    return [*in_opencode({"type": "text", "text": "see"}), {"info": {"role": "assistant"}, "parts": [tool]}]  # fmt: skip


def attached(part: JsonObject) -> list[JsonObject]:
    given = {"contentType": "image/png", "name": "a.png", "url": part.get("url") or part.get("image")}  # fmt: skip
    (_, answer) = in_parts(part)
    return [{"role": "user", "content": "see", "experimental_attachments": [given]}, answer]


PLACES: list[Place] = [in_text, without_calls, in_result, in_version_4_result, in_parts, in_opencode, in_opencode_result]  # fmt: skip


def is_image(part: JsonObject) -> bool:
    return isinstance(part.get("url") or part.get("image"), str)


@TARGETS
@for_each("place", [*PLACES, attached])
@for_each("part", PLAIN)
def test_an_image_becomes_one_of_the_destination(
    rust: ModuleType, to: str, place: Place, part: JsonObject
) -> None:
    if place is attached and not is_image(part):
        return
    converted = rust.convert(place(part), to=to)
    text = json.dumps(converted.messages)
    is_url = URL in json.dumps(part)
    if to in ("bedrock", "ollama") and is_url:  # which take no addresses
        assert "media" in {loss.kind for loss in converted.losses}
        assert f"[image: {URL}]" in text
    else:
        assert any(own in text for own in OWN[to])
        assert text.count(URL if is_url else DATA) in ((1, 2) if is_url else (1,))
        assert "media" not in {loss.kind for loss in converted.losses}
    assert "mediaType" not in text
    assert not [loss for loss in converted.losses if loss.kind == "unknown"]


@TARGETS
@for_each("place", [in_text, in_result])
@for_each("part", ELSEWHERE)
def test_a_file_that_a_provider_holds_becomes_a_line(
    rust: ModuleType, to: str, place: Place, part: JsonObject
) -> None:
    converted = rust.convert(place(part), to=to)
    assert "media" in {loss.kind for loss in converted.losses}
    assert "file_1" in json.dumps(converted.messages)


@for_each("to", ["anthropic", "openai-chat", "openai-responses", "bedrock"])
def test_a_document_keeps_its_name(rust: ModuleType, to: str) -> None:
    part = {"type": "file", "data": "JVBERi0=", "mediaType": "application/pdf", "filename": "report.pdf"}  # fmt: skip
    text = json.dumps(rust.convert(in_text(part), to=to).messages)
    assert "report" in text
    assert "JVBERi0=" in text


@for_each("part", PLAIN)
def test_no_data_are_text(api: ModuleType, part: JsonObject) -> None:
    text = api.carry(in_result(part)).text
    assert DATA[:40] not in text
    assert "[image: " in text


@TARGETS
@for_each("part", [{"type": "file", "mediaType": "image/png", "url": URL}, {"type": "image_url", "image_url": URL}, {"type": "input_audio", "data": "AAAA"}])  # fmt: skip
def test_a_part_with_the_type_of_another_format_is_not_passed_on(rust: ModuleType, to: str, part: JsonObject) -> None:  # fmt: skip
    given = [{"role": "user", "content": [{"type": "text", "text": "see"}, part]}]
    assert json.dumps(part) not in json.dumps(rust.convert(given, to=to).messages)


def test_a_data_url_is_data_whatever_type_is_named(api: ModuleType) -> None:
    url = "data:image/png;base64,iVBORw0KGgo="
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    sdk = {"type": "file", "mediaType": "image/*", "data": url}
    genkit = {"media": {"url": url, "contentType": "image/png"}}
    call = {"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {}}
    asked = {"toolRequest": {"ref": "c", "name": "f", "input": {}}}
    for part, other in ((sdk, call), (genkit, asked)):
        messages = [{"role": "user", "content": [part]}, {"role": "assistant", "content": [other]}]
        (shown, *_) = api.convert(messages, to="anthropic").messages
        assert shown["content"] == [{"type": "image", "source": source}]
