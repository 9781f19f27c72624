"""Media of a kind that a destination does not take, and sounds of another type than stated."""

import base64
import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy, check

WAV = base64.b64encode(b"RIFF\x24\0\0\0WAVEfmt " + bytes(20)).decode()
MP3 = base64.b64encode(b"ID3\x04" + bytes(30)).decode()
OGG = base64.b64encode(b"OggS" + bytes(30)).decode()
URL = "https://example.org/eel"


def sound(data: str, stated: str) -> dict[str, Any]:
    return {"type": "input_audio", "input_audio": {"data": data, "format": stated}}


FILM = {"type": "video_url", "video_url": {"url": f"{URL}.mp4"}}
IMAGE = {"type": "image_url", "image_url": {"url": f"{URL}.png"}}


def sent(api: ModuleType, part: Any, destination: str) -> tuple[Any, list[str]]:
    messages = [{"role": "user", "content": [{"type": "text", "text": "See."}, part]}]
    policy = ProjectPolicy(repair=True, destination=destination)
    body = json.dumps({"messages": messages}).encode()
    once = api.project_body(body, policy=policy)
    assert api.project_body(once.body, policy=policy).body == once.body
    assert check(once.body, destination=destination) == ()
    kinds = [mend.kind for mend in once.report.mends]
    assert [problem.rule for problem in check(body, destination=destination)] == kinds
    return json.loads(once.body)["messages"][0]["content"][1], kinds


@pytest.mark.parametrize(
    ("part", "destination"),
    [
        (FILM, "openai-chat"),
        (FILM, "mistral"),
        (FILM, "deepseek"),
        (IMAGE, "deepseek"),
        (sound(WAV, "wav"), "deepseek"),
        (sound(WAV, "wav"), "groq"),
        (sound(WAV, "wav"), "cohere"),
        (sound(OGG, "ogg"), "openai-chat"),
        (sound("", "wav"), "openai-chat"),
        (sound("...[truncated]", "mp3"), "openai-chat"),
    ],
)
def test_what_is_not_taken_becomes_a_line(
    api: ModuleType, part: dict[str, Any], destination: str
) -> None:
    found, kinds = sent(api, part, destination)
    assert kinds == ["unreadable_media"]
    assert found["type"] == "text"
    assert found["text"].startswith(("[audio", "[video", "[image"))


@pytest.mark.parametrize(
    ("part", "destination"),
    [
        (FILM, "qwen"),
        (FILM, "openrouter"),
        (IMAGE, "openai-chat"),
        (IMAGE, "deepseek-vision"),
        (sound(WAV, "wav"), "openai-chat"),
        (sound(MP3, "mp3"), "openai-chat"),
        (sound(OGG, "ogg"), "qwen"),
    ],
)
def test_what_is_taken_stays(api: ModuleType, part: dict[str, Any], destination: str) -> None:
    assert sent(api, part, destination) == (part, [])


def test_a_sound_of_another_type(api: ModuleType) -> None:
    assert sent(api, sound(MP3, "wav"), "openai-chat") == (sound(MP3, "mp3"), ["media_type"])


def test_a_model_that_sees(api: ModuleType) -> None:
    """The longest name that a model's has decides."""
    asked = {"role": "user", "content": [{"type": "text", "text": "See."}, IMAGE]}
    messages = [{"role": "system", "content": "Look."}, asked]
    policy = ProjectPolicy(repair=True)
    for model, sees in (("deepseek-v4-pro", False), ("deepseek-vl2", True)):
        body = json.dumps({"model": model, "messages": messages}).encode()
        assert (api.project_body(body, policy=policy).body == body) is sees


@pytest.mark.parametrize("kind", ["audio", "video"])
def test_anthropic_has_neither(api: ModuleType, kind: str) -> None:
    part = {"type": kind, "source": {"type": "url", "url": URL}}
    found, kinds = sent(api, part, "anthropic")
    assert (found, kinds) == ({"type": "text", "text": f"[{kind}: {URL}]"}, ["unreadable_media"])
