"""Messages for Ollama: a content is a text, and images are base64 in a member of their own.

"json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string": ollama/ollama#10255
"""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.faults import png
from support.providers.requests import refused

from toolcarry import ProjectPolicy, check

POLICY = ProjectPolicy(repair=True, destination="ollama")
PNG = png(1, 1)
SHOWN = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]}  # fmt: skip


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def sent(api: ModuleType, messages: list[Any]) -> tuple[list[Any], list[str]]:
    body = json.dumps({"model": "qwen3", "messages": messages}).encode()
    once = api.project_body(body, policy=POLICY)
    found = json.loads(once.body)["messages"]
    assert refused("ollama", {"messages": found}) == []
    assert api.project_body(once.body, policy=POLICY).body == once.body
    assert check(once.body, destination="ollama") == ()
    assert api.project(messages, policy=POLICY).messages == found
    return found, [mend.kind for mend in once.report.mends]


@pytest.mark.parametrize("role", ["system", "user"])
def test_texts_are_joined(api: ModuleType, role: str) -> None:
    message = {"role": role, "name": "x", "content": [text("Go."), text("Now.")]}
    found, kinds = sent(api, [message, {"role": "user", "content": "Go."}])
    assert found[0] == {"role": role, "name": "x", "content": "Go.\nNow."}
    assert kinds == ["joined_content"]


@pytest.mark.parametrize(
    "image",
    [
        SHOWN,
        {"type": "image", "data": PNG, "mimeType": "image/png"},
    ],
)
def test_images_stand_next_to_the_text(api: ModuleType, image: Any) -> None:
    message = {"role": "user", "content": [text("Look."), image], "images": [PNG]}
    found, _ = sent(api, [message])
    assert found == [{"role": "user", "content": "Look.", "images": [PNG, PNG]}]


def test_an_image_that_is_elsewhere_becomes_a_line(api: ModuleType) -> None:
    far = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    sound = {"type": "input_audio", "input_audio": {"data": "UklGRiQAAABXQVZF", "format": "wav"}}
    found, _ = sent(api, [{"role": "user", "content": [far, text("Look."), sound]}])
    lines = "[image: https://example.org/a.png]\nLook.\n[audio: wav, 12 bytes]"
    assert found == [{"role": "user", "content": lines}]


def test_a_result(api: ModuleType) -> None:
    answer = {"role": "tool", "tool_name": "look", "content": [text("A coin."), SHOWN]}
    found, kinds = sent(api, [{"role": "user", "content": "Look."}, CALL, answer])
    assert found[2] == {"role": "tool", "tool_name": "look", "content": "A coin.", "images": [PNG]}
    assert kinds == ["joined_content"]


def test_a_shortened_result(api: ModuleType) -> None:
    answer = {"role": "tool", "tool_name": "look", "content": [text("word " * 400), SHOWN]}
    policy = ProjectPolicy(repair=True, destination="ollama", max_result_chars=300)
    found = api.project([{"role": "user", "content": "Look."}, CALL, answer], policy=policy)
    message = found.messages[2]
    assert message["images"] == [PNG]
    assert message["content"].startswith("word ")
    assert len(message["content"]) <= 300
    assert api.project(found.messages, policy=policy).messages == found.messages


def test_an_empty_list(api: ModuleType) -> None:
    found, kinds = sent(api, [{"role": "user", "content": []}])
    assert found == [{"role": "user", "content": ""}]
    assert kinds == ["joined_content"]


def test_what_ollama_takes_stays(api: ModuleType) -> None:
    given = [
        {"role": "user", "content": "Look.", "images": [PNG]},
        CALL,
        {"role": "tool", "tool_name": "look", "content": "A coin."},
    ]
    assert sent(api, given) == (given, [])
