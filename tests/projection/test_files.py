"""Files, documents, sounds and films without the bytes that they say they have, and requests with too many of them."""

import base64
import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.faults import png

from toolcarry import ProjectPolicy, check

PDF = base64.b64encode(b"%PDF-1.4\n").decode()


def text(destination: str, words: str) -> dict[str, Any]:
    kind = {"openai-chat": "text", "openai-responses": "input_text"}.get(destination)
    return {"text": words} if kind is None else {"type": kind, "text": words}


def repaired(api: ModuleType, destination: str, *parts: dict[str, Any]) -> tuple[Any, list[str]]:
    """Return the repaired parts of a request, and the kinds of corrections."""
    key = {"openai-responses": "input", "gemini": "contents"}.get(destination, "messages")
    own = "parts" if destination == "gemini" else "content"
    request = {key: [{"role": "user", own: [text(destination, "Read it."), *parts]}]}
    policy = ProjectPolicy(repair=True, destination=destination)
    found = api.project_body(json.dumps(request).encode(), policy=policy)
    made = json.loads(found.body)
    assert api.project(request[key], policy=policy).messages == made[key]
    assert api.project_body(found.body, policy=policy).body == found.body
    named = [problem.rule for problem in check(json.dumps(request).encode(), destination=destination)]  # fmt: skip
    assert named == [mend.kind for mend in found.report.mends]
    return made[key][0][own][1:], named


def file_of(destination: str, data: str) -> dict[str, Any]:
    url = f"data:application/pdf;base64,{data}"
    return {
        "openai-chat": {"type": "file", "file": {"filename": "a.pdf", "file_data": url}},
        "openai-responses": {"type": "input_file", "filename": "a.pdf", "file_data": url},
        "gemini": {"inlineData": {"mimeType": "application/pdf", "data": data}},
        "bedrock": {"document": {"format": "pdf", "name": "a", "source": {"bytes": data}}},
    }[destination]


@pytest.mark.parametrize("destination", ["openai-chat", "openai-responses", "gemini", "bedrock"])
def test_a_file_without_its_bytes_becomes_a_line(api: ModuleType, destination: str) -> None:
    fine = file_of(destination, PDF)
    assert repaired(api, destination, fine) == ([fine], [])
    for data in ("", "[redacted]", "JVBERi0...[truncated]"):
        (line,), kinds = repaired(api, destination, file_of(destination, data))
        assert kinds == ["unreadable_media"]
        assert line == text(destination, line["text"])
        assert "pdf" in line["text"] or "file" in line["text"]


def test_a_film_and_a_sound_without_their_bytes(api: ModuleType) -> None:
    film = {"video": {"format": "mp4", "source": {"bytes": "[..]"}}}
    assert repaired(api, "bedrock", film) == ([{"text": "[video: mp4, 3 bytes]"}], ["unreadable_media"])  # fmt: skip
    sound = {"inlineData": {"mimeType": "audio/wav", "data": ""}}
    assert repaired(api, "gemini", sound) == ([{"text": "[audio: audio/wav, 0 bytes]"}], ["unreadable_media"])  # fmt: skip
    stored = {"document": {"format": "pdf", "name": "a", "source": {"s3Location": {"uri": "s3://a/b"}}}}  # fmt: skip
    assert repaired(api, "bedrock", stored) == ([stored], [])


@pytest.mark.parametrize("destination", ["bedrock", "openai-chat", "openai-responses"])
def test_the_oldest_of_too_many_images_go(api: ModuleType, destination: str) -> None:
    url = f"data:image/png;base64,{png(1, 1)}"
    image: Any = {
        "bedrock": {"image": {"format": "png", "source": {"bytes": png(1, 1)}}},
        "openai-chat": {"type": "image_url", "image_url": {"url": url}},
        "openai-responses": {"type": "input_image", "image_url": url},
    }[destination]
    most = 20 if destination == "bedrock" else 500
    assert repaired(api, destination, *[image] * most) == ([image] * most, [])
    left, kinds = repaired(api, destination, *[image] * (most + 1))
    assert set(kinds) == {"oversized_image"}
    assert left[len(kinds) :] == [image] * (most + 1 - len(kinds))
    assert image not in left[: len(kinds)]


def test_newer_models_of_bedrock_take_more_images(api: ModuleType) -> None:
    image = {"image": {"format": "png", "source": {"bytes": png(1, 1)}}}
    assert repaired(api, "bedrock-claude-4-6", *[image] * 29) == ([image] * 29, [])


def test_parts_of_the_protocol_at_bedrock(api: ModuleType) -> None:
    shown = {"type": "image", "data": png(1, 1), "mimeType": "image/png"}
    link = {"type": "resource_link", "uri": "file:///a.py", "name": "a.py"}
    left, kinds = repaired(api, "bedrock", shown, link)
    assert left == [
        {"image": {"format": "png", "source": {"bytes": png(1, 1)}}},
        {"text": "[resource_link: file:///a.py]"},
    ]
    assert kinds == ["foreign_part"] * 2


def test_images_of_ollama(api: ModuleType) -> None:
    """ "illegal base64 data at input byte 4": an image is base64 without the header of a URL."""
    policy = ProjectPolicy(repair=True, destination="ollama")
    image = png(1, 1)
    asked = {"role": "user", "content": "Look.", "images": [image, f"data:image/png;base64,{image}", "[redacted]"]}  # fmt: skip
    found = api.project([asked, {"role": "user", "images": [""]}], policy=policy)
    assert found.messages == [
        {"role": "user", "content": "Look.\n[image: 7 bytes]", "images": [image, image]},
        {"role": "user", "content": "[image: 0 bytes]"},
    ]
    kinds = ["media_type", "unreadable_media", "unreadable_media"]
    assert [mend.kind for mend in found.report.mends] == kinds
    assert api.project(found.messages, policy=policy).report.mends == ()


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_an_empty_list_of_parts(api: ModuleType, role: str) -> None:
    policy = ProjectPolicy(repair=True, destination="openai-chat")
    user = {"role": "user", "content": "Go."}
    found = api.project([user, {"role": role, "content": []}, user], policy=policy)
    assert found.messages == [user, {"role": role, "content": ""}, user]
    assert [mend.kind for mend in found.report.mends] == ["empty_content"]


def test_an_answer_of_nothing(api: ModuleType) -> None:
    """A text that says something else stays: "expected a string, got null" is about neither words nor calls."""
    policy = ProjectPolicy(repair=True, destination="openai-chat")
    user, said = {"role": "user", "content": "Go."}, {"role": "assistant", "content": None}
    for more in ({"reasoning_content": "Hm."}, {"refusal": "No."}, {"audio": {"id": "a"}}):
        assert api.project([user, {**said, **more}, user], policy=policy).report.mends == ()
    found = api.project([user, said, user], policy=policy)
    assert found.messages[1] == {"role": "assistant", "content": ""}


@pytest.mark.parametrize("kind", ["text", "document"])
def test_a_request_that_stays_too_large_is_named(api: ModuleType, kind: str) -> None:
    """Nothing but images may go: much text, or a large document, is left to the caller."""
    data = base64.b64encode(b"%PDF-1.4\n" + bytes(25_000_000)).decode()
    part: Any = {"type": "text", "text": data}
    if kind == "document":
        source = {"type": "base64", "media_type": "application/pdf", "data": data}
        part = {"type": "document", "source": source}
    body = json.dumps({"messages": [{"role": "user", "content": [part]}]}).encode()
    policy = ProjectPolicy(repair=True, destination="anthropic")
    assert api.project_body(body, policy=policy).report.not_repaired == f"{len(body)} bytes"
    assert [problem.rule for problem in check(body, destination="anthropic")] == ["not_repaired"]
