"""Requests without calls: they are repaired if their contents identify the provider."""

from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.repairs import answer, chat, kinds, repair

from toolcarry import ProjectPolicy

REPAIR = ProjectPolicy(repair=True)
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
DOCUMENT = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
BLANK = {"type": "text", "text": " "}


@pytest.mark.parametrize("shown", [IMAGE, DOCUMENT])
def test_media_without_text(api: ModuleType, shown: dict[str, Any]) -> None:
    """Anthropic: text content blocks must be non-empty. No other provider has images and documents with their source."""
    said = {"role": "assistant", "content": "I see: "}
    messages = [wire.user(shown, BLANK), {"role": "user", "content": "\n"}, said]
    found = repair(api, messages)
    assert found.messages == [wire.user(shown), {"role": "assistant", "content": "I see:"}]
    assert kinds(found) == ["empty_text", "empty_message", "trailing_space"]


def test_a_blank_text_of_bedrocks(api: ModuleType) -> None:
    """Bedrock: the text field in the ContentBlock object is blank. A text without a type is Bedrock's."""
    image = {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}
    found = repair(api, [{"role": "user", "content": [image, {"text": " "}]}], "bedrock")
    assert found.messages == [{"role": "user", "content": [image]}]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": " "}],
        [wire.user(BLANK), {"role": "assistant", "content": "I see: "}],
        [wire.user(BLANK, {"type": "image_url", "image_url": {"url": "https://e.org/a.png"}})],
        [{"type": "human", "content": [BLANK, IMAGE]}],
        [wire.user(BLANK, IMAGE), chat(("t1", "f")), answer("t1")],
    ],
)
def test_requests_valid_for_several_providers(api: ModuleType, messages: list[Any]) -> None:
    """Roles with texts are Chat's too, which takes blank ones, and a call tells more than what is shown."""
    assert api.project(messages, policy=REPAIR).messages == messages


def test_an_empty_list_of_calls(api: ModuleType) -> None:
    """OpenAI: [] is too short - 'messages.1.tool_calls'. What is dumped from objects has one in every answer."""
    said = {"role": "assistant", "content": "Hello."}
    messages = [{"role": "user", "content": "Hi."}, {**said, "tool_calls": []}]
    found = repair(api, messages, "openai")
    assert found.messages == [messages[0], said]
    assert kinds(found) == ["empty_calls"]


def test_an_empty_list_of_calls_next_to_evidence(api: ModuleType) -> None:
    """It goes as well where the request is another provider's, and it would tell of Chat without what goes there."""
    stray = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    said = {"role": "assistant", "content": "Hello."}
    found = repair(
        api, [wire.user(stray, {"type": "text", "text": "Hi."}), {**said, "tool_calls": []}]
    )
    assert found.messages == [wire.user({"type": "text", "text": "Hi."}), said]
    assert set(kinds(found)) == {"empty_calls", "orphan_result"}
