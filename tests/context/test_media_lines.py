"""A cut splits no line of an image or a document: it is shown whole, or the marker says that it is left out."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.rows import for_each

from toolcarry import CarryPolicy

URL = "https://example.org/" + "a" * 300
IMAGE = {"type": "image", "source": {"type": "url", "url": URL}}
LINE = f"[image: {URL}]"
DATA = {"type": "base64", "media_type": "image/png", "data": "iVBO" * 900}


def carried(api: ModuleType, content: Any, policy: CarryPolicy, name: str = "shot") -> str:
    call = {"type": "tool_use", "id": "c1", "name": name, "input": {"command": "show"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": content}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    found = api.carry(messages, policy=policy)
    body = json.dumps({"messages": messages}).encode()
    assert api.carry(body, policy=policy).text == found.text
    text: str = found.text
    assert "iVBOiVBO" not in text
    assert LINE in text or "aaaa" not in text
    return text


def text(size: int, letter: str = "x") -> dict[str, Any]:
    return {"type": "text", "text": f"{letter * 9}\n" * (size // 10)}


@for_each("limit", [10, 100, 320, 340, 500])
@for_each("keep", ["head", "tail", "ends"])
def test_a_limit_on_one_result(api: ModuleType, limit: int, keep: Any) -> None:
    for content in ([IMAGE, text(900)], [text(900), IMAGE], [text(300), IMAGE, text(300, "z")]):
        policy = CarryPolicy(max_result_chars=limit, keep=keep)
        found = carried(api, content, policy)
        assert "characters shown" in found
        assert (LINE in found) is not ("image left out" in found)


def test_an_image_alone_is_left_out(api: ModuleType) -> None:
    for content in ([IMAGE], [IMAGE, IMAGE]):
        found = carried(api, content, CarryPolicy(max_result_chars=100))
        assert "... [truncated: 0 of " in found
        assert " characters shown, image left out; whole: c1]" in found


def test_the_line_of_an_image_stays_next_to_a_cut_text(api: ModuleType) -> None:
    line = "[image: image/png, 2,700 bytes]"
    content = [{"type": "image", "source": DATA}, text(900)]
    found = carried(api, content, CarryPolicy(max_result_chars=200))
    assert f"{line}\nxxxxxxxxx\n" in found
    assert "left out" not in found


def test_tokens(api: ModuleType) -> None:
    for tokens in range(10, 160, 10):
        policy = CarryPolicy(max_result_tokens=tokens)
        carried(api, [text(200), IMAGE, text(200)], policy)
        carried(api, [text(200), IMAGE, text(200)], policy, "Bash")


@pytest.mark.parametrize("unit", ["chars", "tokens"])
def test_a_total_is_kept(api: ModuleType, unit: str) -> None:
    for limit in range(60, 900, 31):
        policy = CarryPolicy(**{f"max_{unit}": limit}, keep="ends")
        found = carried(api, [text(300), IMAGE, text(600, "z")], policy)
        assert (len(found) if unit == "chars" else api.count_tokens(found)) <= limit


def test_a_text_that_looks_like_a_line_is_cut_as_text(api: ModuleType) -> None:
    """No image is in this result."""
    found = carried(api, LINE.replace("aaaa", "abab"), CarryPolicy(max_result_chars=100))
    assert "100 of 329 characters shown; whole: c1]" in found
