"""Images and documents in a result stay whole, or are cleared: no limit cuts their line, or counts their URL.

A provider charges for the pixels and pages that it fetches from a URL, not for the characters of the URL:
https://platform.claude.com/docs/en/build-with-claude/vision,
https://platform.openai.com/docs/guides/images-vision#calculating-costs.
"""

import json
from types import ModuleType
from typing import Any

import pytest

from toolcarry import ProjectPolicy

URL = "https://example.org/" + "a" * 600
DATA = "data:image/png;base64," + "iVBO" * 900
LIMIT = ProjectPolicy(max_result_chars=300)


def item(output: Any) -> list[Any]:
    call = {"type": "function_call", "call_id": "c1", "name": "shot", "arguments": "{}"}
    return [call, {"type": "function_call_output", "call_id": "c1", "output": output}]


def block(content: Any) -> list[Any]:
    call = {"type": "tool_use", "id": "c1", "name": "shot", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": content}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def response(answer: dict[str, Any], *parts: Any) -> list[Any]:
    held = {"name": "shot", "response": answer} | ({"parts": [*parts]} if parts else {})
    call = {"functionCall": {"name": "shot", "args": {}}}
    return [
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"functionResponse": held}]},
    ]


def project(api: ModuleType, messages: list[Any], policy: ProjectPolicy) -> Any:
    found = api.project(messages, policy=policy)
    assert api.project(found.messages, policy=policy).messages == found.messages
    key = "input" if "type" in messages[0] else "contents" if "parts" in messages[0] else "messages"
    body = api.project_body(json.dumps({key: messages}).encode(), policy=policy).body
    assert json.loads(body)[key] == found.messages
    return found


BY_URL = {
    "image of Responses": (item([{"type": "input_image", "image_url": URL}]), "image"),
    "image of Anthropic": (block([{"type": "image", "source": {"type": "url", "url": URL}}]), "image"),
    "document of Anthropic": (block([{"type": "document", "source": {"type": "url", "url": URL}}]), "document"),
    "image of Chat": (block([{"type": "image_url", "image_url": {"url": URL}}]), "image"),
    "two of them": (
        block([{"type": kind, "source": {"type": "url", "url": URL}} for kind in ("image", "document")]),
        "image, document",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_URL)
@pytest.mark.parametrize("limit", ["max_result_chars", "max_all_results_chars"])
def test_no_limit_counts_a_url(api: ModuleType, name: str, limit: str) -> None:
    """The line of each medium counts, such as ``[image]``: a limit below that clears the media whole."""
    messages, label = BY_URL[name]
    size = len("\n".join(f"[{each}]" for each in label.split(", ")))
    policy = ProjectPolicy(**{limit: size}, clear_at_least_tokens=0)
    assert project(api, messages, policy).messages == messages
    policy = ProjectPolicy(**{limit: size - 1}, clear_at_least_tokens=0)
    text = json.dumps(project(api, messages, policy).messages[1])
    assert f"[toolcarry: cleared, {label}; whole: c1]" in text
    assert URL[:40] not in text


def test_a_limit_in_tokens_counts_no_url(api: ModuleType) -> None:
    messages, _ = BY_URL["image of Responses"]
    assert project(api, messages, ProjectPolicy(max_result_tokens=20)).messages == messages
    assert project(api, messages, ProjectPolicy(max_result_tokens=1)).messages != messages


def test_a_size_and_a_type_count(api: ModuleType) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    messages = block([{"type": "image", "source": source}])
    size = len("[image: image/png, 8 bytes]")
    assert project(api, messages, ProjectPolicy(max_result_chars=size)).messages == messages
    assert project(api, messages, ProjectPolicy(max_result_chars=size - 1)).messages != messages


@pytest.mark.parametrize("messages", [item(DATA), block(DATA), response({"output": DATA})])
def test_a_data_url_is_the_medium_that_it_is(api: ModuleType, messages: list[Any]) -> None:
    """The provider receives all of its characters, so that a limit counts those. A part of it is no image."""
    assert project(api, messages, ProjectPolicy(max_result_chars=len(DATA))).messages == messages
    for limit in (len(DATA) - 1, 300, 10):
        found = project(api, messages, ProjectPolicy(max_result_chars=limit))
        assert "[toolcarry: cleared, image; whole: " in json.dumps(found.messages[1])
        assert "iVBOiVBO" not in json.dumps(found.messages)
        assert found.report.replacements[0].reason == "cleared"


TEXT_PARTS = {
    "part of Anthropic": block([{"type": "text", "text": DATA}]),
    "part of Responses": item([{"type": "input_text", "text": DATA}]),
    "part with a cache mark": block(
        [{"type": "text", "text": DATA, "cache_control": {"type": "ephemeral"}}]
    ),
    "two parts": item([{"type": "input_text", "text": DATA}] * 2),
}


@pytest.mark.parametrize("name", TEXT_PARTS)
def test_a_text_part_that_is_a_data_url(api: ModuleType, name: str) -> None:
    messages = TEXT_PARTS[name]
    assert project(api, messages, ProjectPolicy(max_result_chars=9_000)).messages == messages
    found = project(api, messages, LIMIT)
    text = json.dumps(found.messages)
    assert "[toolcarry: cleared, image; whole: c1]" in text
    assert "iVBOiVBO" not in text
    assert text.count("cache_control") == json.dumps(messages).count("cache_control")


def test_a_data_url_is_an_image_in_tokens(api: ModuleType) -> None:
    """It counts 1,600 tokens and its line, for a limit on one result, for a total, and for a request."""
    for messages in (item(DATA), block([{"type": "text", "text": DATA}])):
        (own,) = {api.count_tokens(messages) - api.count_tokens(messages[:1])}
        assert own > 1_600
        for name in ("max_result_tokens", "max_all_results_tokens"):
            fitting = ProjectPolicy(**{name: own}, clear_at_least_tokens=0)
            assert project(api, messages, fitting).messages == messages
            found = project(
                api, messages, ProjectPolicy(**{name: own - 1}, clear_at_least_tokens=0)
            )
            assert "[toolcarry: cleared, image; whole: c1]" in json.dumps(found.messages)
        found = project(api, messages, ProjectPolicy(max_request_tokens=1_000))
        assert "cleared, image" in json.dumps(found.messages)


def test_a_total_counts_a_data_url(api: ModuleType) -> None:
    messages = item(DATA)
    total = ProjectPolicy(max_all_results_chars=len(DATA), clear_at_least_tokens=0)
    assert project(api, messages, total).messages == messages
    found = project(
        api, messages, ProjectPolicy(max_all_results_chars=len(DATA) - 1, clear_at_least_tokens=0)
    )
    assert "cleared, image" in json.dumps(found.messages)
    assert not found.report.over_budget


def test_text_next_to_a_data_url(api: ModuleType) -> None:
    """The text is cut, the data URL stays with its mark; or both are cleared."""
    mark = {"cache_control": {"type": "ephemeral"}}
    url = {"type": "text", "text": DATA, **mark}
    messages = block([{"type": "text", "text": "x" * 900}, url])
    found = project(api, messages, ProjectPolicy(max_result_chars=len(DATA) + 400))
    text, kept = found.messages[1]["content"][0]["content"]
    assert kept == url
    assert len(text["text"]) <= 400
    cleared = project(api, messages, LIMIT).messages[1]["content"][0]["content"]
    assert "900 characters and image" in json.dumps(cleared)
    assert DATA not in json.dumps(cleared)


def test_only_the_text_next_to_an_image_is_cut(api: ModuleType) -> None:
    image = {"type": "input_image", "image_url": "https://example.org/a.png"}
    line = "[image]"
    found = project(api, item([{"type": "input_text", "text": "x" * 900}, image]), LIMIT)
    text, kept = found.messages[1]["output"]
    assert kept == image
    assert len(text["text"]) + 1 + len(line) <= 300
    assert [replacement.reason for replacement in found.report.replacements] == ["cut_text"]


def test_all_is_cleared_if_the_image_leaves_no_room(api: ModuleType) -> None:
    parts = [{"type": "input_text", "text": "x" * 40}, {"type": "input_image", "image_url": URL}]
    found = project(api, item(parts), ProjectPolicy(max_result_chars=47))
    marker = "[toolcarry: cleared, 40 characters and image; whole: c1]"
    assert found.messages[1]["output"] == [{"type": "input_text", "text": marker}]


def test_parts_next_to_a_response(api: ModuleType) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    messages = response({"output": "x" * 900}, image)
    held = project(api, messages, LIMIT).messages[1]["parts"][0]["functionResponse"]
    assert held["parts"] == [image]
    assert len(held["response"]["output"]) <= 300
    cleared = project(
        api, messages, ProjectPolicy(max_all_results_chars=0, clear_at_least_tokens=0)
    )
    held = cleared.messages[1]["parts"][0]["functionResponse"]
    assert "900 characters and image" in held["response"]["output"]
    assert "parts" not in held


def test_media_count_for_a_total(api: ModuleType) -> None:
    image = {"type": "image", "source": {"type": "url", "url": URL}}
    messages = block([{"type": "text", "text": "a caption"}, image])
    size = len("a caption\n[image]")
    policy = ProjectPolicy(max_all_results_chars=size, clear_at_least_tokens=0)
    assert project(api, messages, policy).messages == messages
    policy = ProjectPolicy(max_all_results_chars=size - 1, clear_at_least_tokens=0)
    assert "cleared" in json.dumps(project(api, messages, policy).messages)
