"""Texts in a provider's wrapper, structured content, data URLs and malformed arguments in another provider's format."""

import json
from typing import Any

import pytest
from support.builders.sources_providers import chat_call, said
from support.builders.wire import assistant, result, use, user
from support.oracles.conversions import TARGETS

from toolcarry import convert
from toolcarry.api.convert import KINDS
from toolcarry.types import Converted
from toolcarry.types.shapes import Target

each_target = pytest.mark.parametrize("to", TARGETS)
COMPACTION = {"type": "compaction", "content": "We moved the port.", "encrypted_content": "e"}
CITED = {"citationsContent": {"content": [{"text": "Bergen."}], "citations": [{"title": "Atlas"}]}}
GUARDED = {"guardContent": {"text": {"text": "My bank?", "qualifiers": ["query"]}}}
PNG = "data:image/png;base64,iVBORw0KGgo="


def written(converted: Converted) -> str:
    return json.dumps(converted.messages)


def losses_of(converted: Converted, kind: str) -> list[str]:
    assert {loss.kind for loss in converted.losses} <= KINDS.keys()
    return [loss.detail for loss in converted.losses if loss.kind == kind]


@each_target
@pytest.mark.parametrize(
    ("part", "family", "text", "kind"),
    [
        (COMPACTION, "anthropic", "We moved the port.", "compaction"),
        (CITED, "bedrock", "Bergen.", "citations"),
        (GUARDED, "bedrock", "My bank?", "guardrail"),
    ],
)
def test_its_own_provider_gets_it_unchanged(
    to: Target, part: Any, family: str, text: str, kind: str
) -> None:
    said_by = assistant if part is not GUARDED else user
    converted = convert([user({"type": "text", "text": "Go."}), said_by(part)], to=to)
    if to == family:
        assert json.dumps(part) in written(converted)
        assert converted.losses == ()
        assert convert(converted.messages, to=to).messages == converted.messages
    else:
        assert text in written(converted)
        assert len(losses_of(converted, kind)) == 1
        assert "encrypted_content" not in written(converted)


@each_target
@pytest.mark.parametrize("kind", ["compaction", "compaction_summary", "context_compaction"])
def test_only_its_own_provider_gets_an_encrypted_summary(to: Target, kind: str) -> None:
    item = {"type": kind, "encrypted_content": "gAAA"}
    converted = convert([{"role": "user", "content": "Go."}, item], to=to)
    assert ("gAAA" in written(converted)) == (to == "responses")
    told = (
        []
        if to == "responses"
        else [f"an item {kind}, which only the provider that wrote it can read"]
    )
    assert losses_of(converted, "unknown") == told


@each_target
def test_structured_content_goes_along(to: Target) -> None:
    content = [{"type": "text", "text": "Two rows."}]
    answer = {"content": content, "structuredContent": {"rows": ["R-8", "R-9"]}, "_meta": {"x": 1}}
    converted = convert([assistant(use("t1", "list")), user(result("t1", answer))], to=to)
    assert "Two rows." in written(converted)
    assert "R-9" in written(converted)
    assert losses_of(converted, "repeated") == []
    assert losses_of(converted, "metadata") == ["_meta of the result of list t1"]


@each_target
def test_structured_content_that_repeats_the_text_is_reported(to: Target) -> None:
    content = [{"type": "text", "text": '{"rows": ["R-8"]}'}]
    answer = {"content": content, "structuredContent": {"rows": ["R-8"]}}
    converted = convert([assistant(use("t1", "list")), user(result("t1", answer))], to=to)
    assert written(converted).count("R-8") == 1
    assert losses_of(converted, "repeated") == [
        "structuredContent of list t1: its text says the same"
    ]


def test_images_next_to_structured_content_stay_images() -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    answer = {"content": [{"type": "text", "text": "A plot"}, image], "structuredContent": {"a": 1}}
    converted = convert([assistant(use("t1", "f")), user(result("t1", answer))], to="responses")
    assert [part["type"] for part in converted.messages[1]["output"]] == [
        "input_text", "input_image", "input_text",
    ]  # fmt: skip


@pytest.mark.parametrize("content", [PNG, [{"type": "text", "text": PNG}]])
def test_a_data_url_is_an_image_where_results_may_hold_one(content: Any) -> None:
    messages = [
        said("assistant", None, tool_calls=[chat_call("c1", "shot", {})]),
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]
    (block,) = convert(messages, to="anthropic").messages[1]["content"][0]["content"]
    assert block == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    line = convert(messages, to="gemini")
    assert "[image: image/png, 8 bytes]" in written(line)
    assert len(losses_of(line, "moved_media")) == 1
    assert convert(messages, to="openai").messages == messages


@pytest.mark.rust
@pytest.mark.parametrize("text", ["not json{", '{"command": "make al', "[1, 2", "  ", "\ud83d"])
def test_malformed_arguments_become_a_member_of_an_object(text: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": text}}
    messages = [
        said("user", "Go."),
        said("assistant", None, tool_calls=[call]),
        {"role": "tool", "tool_call_id": "c1", "content": "no JSON"},
    ]
    there = convert(messages, to="responses")
    text = text.replace("\ud83d", "\ufffd")
    assert losses_of(there, "arguments") == ["f c1"]
    assert json.loads(there.messages[1]["arguments"]) == {
        "INVALID_JSON": text.replace("\ud83d", "\ufffd")
    }
    for to in ("anthropic", "bedrock", "gemini", "ollama"):
        assert losses_of(convert(messages, to=to), "arguments") == ["f c1"]  # type: ignore[arg-type]
        for given in (messages, there.messages):
            converted = convert(given, to=to)  # type: ignore[arg-type]
            assert f'{{"INVALID_JSON": {json.dumps(text)}}}' in written(converted)
    mend, *_ = convert(messages, to="openai").mends
    assert mend.kind == "mended_arguments"
    assert convert(messages, to="openai", repair=False).messages == messages


@pytest.mark.parametrize(
    "given", [{"INVALID_JSON": '{"a": 1}'}, {"INVALID_JSON": "x", "a": 1}, {"INVALID_JSON": 7}, {}]
)
def test_other_objects_are_not_taken_for_malformed_arguments(given: Any) -> None:
    converted = convert([assistant(use("t1", "f", **given)), user(result("t1"))], to="openai")
    arguments = converted.messages[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == given
