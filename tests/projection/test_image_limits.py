"""Images over a limit of the provider: pixels, characters, and the bytes of a request."""

import base64
import json
import struct
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import bash
from support.oracles.repairs import ASK

from toolcarry import Destination, ProjectPolicy, check


def png(width: int, height: int, size: int = 40) -> bytes:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)
    return head + bytes(max(0, size - len(head)))


def jpeg(width: int, height: int) -> bytes:
    frame = b"\xff\xc0\0\x11\x08" + struct.pack(">HH", height, width)
    return b"\xff\xd8\xff\xe1\0\x08" + bytes(6) + frame + bytes(10)


def webp(width: int, height: int) -> bytes:
    sides = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return b"RIFF\x30\0\0\0WEBPVP8X\x0a\0\0\0" + bytes(4) + sides + bytes(8)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20)


MAKERS = {"png": png, "jpeg": jpeg, "webp": webp, "gif": gif}


def image(data: bytes, kind: str = "png") -> dict[str, Any]:
    text = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": f"image/{kind}", "data": text}
    return {"type": "image", "source": source}


def sent(
    api: ModuleType, messages: list[Any], destination: Any = "anthropic"
) -> tuple[Any, list[str]]:
    policy = ProjectPolicy(repair=True, destination=destination)
    body = json.dumps({"messages": messages}).encode()
    once = api.project_body(body, policy=policy)
    assert api.project_body(once.body, policy=policy).body == once.body
    found = json.loads(once.body)["messages"]
    assert api.project(messages, policy=policy).messages == found
    kinds = [mend.kind for mend in once.report.mends]
    assert [problem.rule for problem in check(body, destination=destination)] == kinds
    assert check(once.body, destination=destination) == ()
    return found, kinds


def lines(found: Any) -> list[bool]:
    """Return for each part of the last message, or of its result, whether it is a line of text."""
    content = found[-1]["content"]
    parts = content[0]["content"] if content[0]["type"] == "tool_result" else content
    return [part["type"] == "text" for part in parts]


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("is_result", [False, True])
def test_pixels(api: ModuleType, kind: str, is_result: bool) -> None:
    sizes = [(8000, 8000), (8001, 10), (10, 9000)]
    parts = [image(MAKERS[kind](*size), kind) for size in sizes]
    messages = [ASK, *bash("shot", parts)] if is_result else [{"role": "user", "content": parts}]
    found, kinds = sent(api, messages)
    assert lines(found) == [False, True, True]
    assert kinds == ["oversized_image"] * 2


@pytest.mark.parametrize("is_result", [False, True])
def test_pixels_of_a_part_of_the_protocol(api: ModuleType, is_result: bool) -> None:
    """Found by fuzzing: such an image was judged by the next projection only."""
    data = base64.b64encode(png(9000, 10)).decode()
    parts = [
        {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "a.png", "mimeType": "image/png", "blob": data}},
    ]
    messages = [ASK, *bash("shot", parts)] if is_result else [{"role": "user", "content": parts}]
    found, kinds = sent(api, messages)
    assert lines(found) == [True, True]
    assert kinds == ["foreign_part"] * 2 + ["oversized_image"] * 2
    for part in parts:
        assert lines(sent(api, [{"role": "user", "content": [part]}])[0]) == [True]


def test_pixels_among_many(api: ModuleType) -> None:
    """The oldest large ones go, until there are so few that they may be large."""
    parts = [image(png(2400 if number < 4 else 100, 100)) for number in range(22)]
    found, kinds = sent(api, [ASK, *bash("shot", parts)])
    assert lines(found) == [True, True, *[False] * 20]
    assert kinds == ["oversized_image"] * 2
    few = [ASK, *bash("shot", parts[:20])]
    assert sent(api, few) == (few, [])


@pytest.mark.parametrize(("model", "most"), [("claude-sonnet-4-5", 100), ("claude-opus-4-8", 600)])
def test_too_many_images(api: ModuleType, model: str, most: int) -> None:
    """Several go at once, so that the next image does not change the prefix; those at a URL count, too."""
    there = {"type": "image", "source": {"type": "url", "url": "https://example.org/eel.png"}}
    policy = ProjectPolicy(repair=True)

    def gone(count: int) -> int:
        parts = [image(png(10, 10)) if number % 2 else there for number in range(count)]
        messages = [ASK, *bash("shot", parts)]
        body = json.dumps({"model": model, "max_tokens": 9, "messages": messages}).encode()
        once = api.project_body(body, policy=policy)
        assert api.project_body(once.body, policy=policy).body == once.body
        found = lines(json.loads(once.body)["messages"])
        assert len(once.report.mends) == sum(found)
        assert found == sorted(found, reverse=True)
        return sum(found)

    step = most // 32
    assert [gone(most + more) for more in (0, 1, step, step + 1)] == [0, step, step, 2 * step]


def test_images_of_other_chat_servers(api: ModuleType) -> None:
    """xAI reads PNG and JPEG, and Azure 50 images."""

    def shown(data: bytes, kind: str) -> dict[str, Any]:
        text = base64.b64encode(data).decode()
        return {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{text}"}}

    parts = [shown(png(9, 9), "png"), shown(webp(9, 9), "webp"), shown(jpeg(9, 9), "jpeg")]
    messages = [{"role": "user", "content": parts}]
    found, kinds = sent(api, messages, "xai")
    assert (lines(found), kinds) == ([False, True, False], ["unreadable_media"])
    assert sent(api, messages, "openai-chat") == (messages, [])
    many = [{"role": "user", "content": parts[:1] * 51}]
    assert sent(api, many, "azure-openai")[1] == ["oversized_image"]


def test_the_oldest_images_of_a_large_request_go(api: ModuleType) -> None:
    own = Destination("small", "anthropic", {"request_bytes": 100_000})
    shots = [
        bash(f"shot {number}", [image(png(100, 100, 20_000))], f"t{number}") for number in range(6)
    ]
    messages = [ASK, *(message for shot in shots for message in shot)]
    found, kinds = sent(api, messages, own)
    is_line = [message["content"][0]["content"][0]["type"] == "text" for message in found[2::2]]
    assert is_line == [True, True, True, False, False, False]
    assert kinds == ["oversized_image"] * 3
    assert len(json.dumps(found)) < 100_000
    few = messages[:7]
    assert sent(api, few, own) == (few, [])


def test_a_limit_on_the_request_sees_its_bytes(api: ModuleType) -> None:
    """Images have many bytes and few tokens."""
    shots = [
        bash(f"shot {number}", [image(png(100, 100, 2_000_000))], f"t{number}")
        for number in range(14)
    ]
    messages = [ASK, *(message for shot in shots for message in shot)]
    body = json.dumps({"model": "claude-opus-5", "messages": messages}).encode()
    assert len(body) > 32_000_000
    policy = ProjectPolicy(max_request_tokens=200_000)
    found = api.project_body(body, policy=policy)
    assert len(found.body) < 32_000_000
    assert {mend.kind for mend in found.report.mends} == {"oversized_image"}
    assert api.project_body(found.body, policy=policy).body == found.body
    assert api.project_body(body).body == body


def test_a_long_image(api: ModuleType) -> None:
    own = Destination("small", "anthropic", {"image_chars": 1_000})
    parts = [image(png(10, 10, 600)), image(png(10, 10, 900))]
    found, _ = sent(api, [{"role": "user", "content": parts}], own)
    assert lines(found) == [False, True]
    assert found[0]["content"][1]["text"] == "[image: image/png, 900 bytes]"
