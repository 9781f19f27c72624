"""Media between formats: shared kinds are converted, by bytes or by URL; a line of text replaces the others."""

import json
from typing import Any

import pytest
from support.builders.sources_providers import result, said, text, use
from support.builders.wire import assistant, user
from support.oracles.conversions import kinds

from toolcarry import convert
from toolcarry.types import Loss
from toolcarry.types.shapes import Target

JsonObject = dict[str, Any]
PNG = "iVBORw0KGgoAAAANSUhEUg=="
URL = "https://example.org/a.png"


def anthropic_image(**source: str) -> JsonObject:
    return {"type": "image", "source": source}


ANTHROPIC_IMAGE = anthropic_image(type="base64", media_type="image/png", data=PNG)
OPENAI_IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
RESPONSES_IMAGE = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}


@pytest.mark.parametrize("part", [ANTHROPIC_IMAGE, OPENAI_IMAGE, RESPONSES_IMAGE])
def test_images_by_their_bytes(part: JsonObject) -> None:
    messages = [user(text("See."), part)]
    assert convert(messages, to="anthropic").messages == [user(text("See."), ANTHROPIC_IMAGE)]
    assert convert(messages, to="openai").messages == [user(text("See."), OPENAI_IMAGE)]
    assert convert(messages, to="responses").messages == [
        user(text("See.", "input_text"), RESPONSES_IMAGE)
    ]
    ollama = convert(messages, to="ollama")
    assert ollama.messages == [said("user", "See.", images=[PNG])]
    assert ollama.losses == ()
    assert convert(ollama.messages, to="anthropic").messages == [
        user(text("See."), ANTHROPIC_IMAGE)
    ]


@pytest.mark.parametrize(
    "part",
    [
        anthropic_image(type="url", url=URL),
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "input_image", "image_url": URL},
    ],
)
def test_images_by_their_address(part: JsonObject) -> None:
    messages = [user(part)]
    (message,) = convert(messages, to="anthropic").messages
    assert message["content"] == [anthropic_image(type="url", url=URL)]
    (message,) = convert(messages, to="openai").messages
    assert message["content"] == [{"type": "image_url", "image_url": {"url": URL}}]
    (message,) = convert(messages, to="responses").messages
    assert message["content"] == [{"type": "input_image", "image_url": URL}]
    ollama = convert(messages, to="ollama")
    assert ollama.messages == [said("user", f"[image: {URL}]")]
    assert kinds(ollama) == {"media"}


@pytest.mark.parametrize(
    "part",
    [
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"image": {"format": "png", "source": {"bytes": PNG}}},
        {"type": "blob", "mime_type": "image/png", "modality": "image", "content": PNG},
        {"type": "image", "mimeType": "image/png", "data": PNG},
        {"type": "image", "mime_type": "image/png", "base64": PNG},
    ],
)
def test_images_of_other_shapes(part: JsonObject) -> None:
    key = "parts" if "inlineData" in part or part.get("type") == "blob" else "content"
    (message,) = convert([{"role": "user", key: [part]}], to="openai").messages
    assert message["content"] == [OPENAI_IMAGE]


def test_documents_and_sounds() -> None:
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"}
    sound = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}
    messages = [user({"type": "document", "source": pdf, "title": "Bill"}, sound)]
    (message,) = convert(messages, to="openai").messages
    url = "data:application/pdf;base64,JVBERi0xLjQK"
    file = {"type": "file", "file": {"filename": "Bill.pdf", "file_data": url}}
    assert message["content"] == [file, sound]
    responses = convert([said("user", [file])], to="responses").messages[0]["content"]
    assert responses == [{"type": "input_file", "filename": "Bill.pdf", "file_data": url}]
    back = convert([message], to="anthropic")
    assert back.messages[0]["content"][0]["source"] == pdf
    assert back.losses == (Loss(0, "media", "[audio: wav, 2 bytes]"),)


def test_images_in_results() -> None:
    shot = result("t1", "") | {"content": [text("Here."), ANTHROPIC_IMAGE]}
    messages = [assistant(use("t1", "shot", {})), user(shot)]
    assert convert(messages, to="anthropic").messages == messages
    responses = convert(messages, to="responses")
    assert responses.messages[1]["output"] == [text("Here.", "input_text"), RESPONSES_IMAGE]
    assert convert(responses.messages, to="anthropic").messages == messages


IN_A_USER_MESSAGE: dict[Target, Any] = {
    "openai": [
        {"type": "text", "text": "[from the result of shot t1]"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ],
    "ollama": "[from the result of shot t1]",
}


@pytest.mark.parametrize("to", IN_A_USER_MESSAGE)
def test_an_image_in_a_result_moves_to_a_user_message_after_the_results(to: Target) -> None:
    calls = [use("t1", "shot", {}), use("t2", "f", {})]
    shot = result("t1", "") | {"content": [text("Here."), ANTHROPIC_IMAGE]}
    messages = [assistant(*calls), user(shot, result("t2", "ok"), text("Go on."))]
    converted = convert(messages, to=to)
    roles = [message["role"] for message in converted.messages]
    assert roles == ["assistant", "tool", "tool", "user", "user"]
    assert converted.messages[1]["content"] == "Here.\n[image: image/png, 16 bytes]"
    assert converted.messages[3]["content"] == IN_A_USER_MESSAGE[to]
    assert converted.messages[3].get("images") == ([PNG] if to == "ollama" else None)
    loss = Loss(1, "moved_media", "image in the result of shot t1")
    assert [each for each in converted.losses if "media" in each.kind] == [loss]
    assert convert(converted.messages, to=to).messages == converted.messages


def test_a_kind_of_media_that_the_target_does_not_have_stays_a_line() -> None:
    video = {"type": "video", "source": {"type": "base64", "media_type": "video/mp4", "data": PNG}}
    shot = result("t1", "") | {"content": [video]}
    converted = convert([assistant(use("t1", "film", {})), user(shot)], to="openai")
    assert converted.messages[1:] == [
        {"role": "tool", "tool_call_id": "t1", "content": "[video: video/mp4, 16 bytes]"}
    ]
    loss = Loss(1, "media", "[video: video/mp4, 16 bytes], in the result of film t1")
    assert loss in converted.losses


@pytest.mark.parametrize("data", [PNG[:9] + "..." + PNG[9:], "<omitted>", "iVBOR=w0KGgo"])
@pytest.mark.parametrize("to", ["gemini", "bedrock", "openai", "responses", "ollama"])
def test_data_that_no_provider_can_decode_become_a_line(to: Target, data: str) -> None:
    image = anthropic_image(type="base64", media_type="image/png", data=data)
    shot = result("t1", "") | {"content": [image]}
    messages = [user(image), assistant(use("t1", "shot", {})), user(shot)]
    converted = convert(messages, to=to)
    assert data not in str(converted.messages)
    losses = [loss for loss in converted.losses if loss.kind == "media"]
    assert [loss.position for loss in losses] == [0, 2]
    assert all(loss.detail.endswith(": its data are not base64") for loss in losses)
    assert data in str(convert(messages, to="anthropic", repair=False).messages)


def test_images_of_several_results_follow_the_line_that_names_theirs() -> None:
    shots = [result(key, "") | {"content": [ANTHROPIC_IMAGE, ANTHROPIC_IMAGE]} for key in "ab"]
    messages = [assistant(use("a", "f", {}), use("b", "g", {})), user(*shots)]
    (*_, moved) = convert(messages, to="openai").messages
    assert [part.get("text", part["type"]) for part in moved["content"]] == [
        "[from the result of f a]", "image_url", "image_url",
        "[from the result of g b]", "image_url", "image_url",
    ]  # fmt: skip


def test_media_next_to_a_gemini_answer_are_kept_or_reported() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    answer = {"name": "f", "response": {"ok": 1}, "parts": [image]}
    messages = [
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
    ]
    kept = convert(messages, to="anthropic")
    assert [block["type"] for block in kept.messages[1]["content"][0]["content"]] == [
        "text",
        "image",
    ]
    assert "media" not in {loss.kind for loss in kept.losses}
    assert "moved_media" in {loss.kind for loss in convert(messages, to="openai").losses}


def test_a_resource_is_its_text_or_its_bytes() -> None:
    def block(resource: dict[str, str]) -> object:
        result = {"type": "tool_result", "tool_use_id": "t", "content": []}
        result["content"] = [{"type": "resource", "resource": {"uri": "file:///a", **resource}}]
        call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
        messages = [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
        return convert(messages, to="anthropic").messages[1]["content"][0]["content"]

    assert block({"text": "words"}) == "words"
    given = block({"mimeType": "application/pdf", "blob": "JVBERi0="})
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    assert given == [{"type": "document", "source": source}]


def test_a_data_url_that_no_provider_reads_stays_text() -> None:
    """A shell printed it; as an image it would be refused in every request."""
    url = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnLz4="
    call = {"id": "c1", "type": "function", "function": {"name": "sh", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Inline it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": url},
    ]
    found = convert(messages, to="anthropic")
    assert '"image"' not in json.dumps(found.messages)
    assert "image/svg+xml" in json.dumps(found.messages)
