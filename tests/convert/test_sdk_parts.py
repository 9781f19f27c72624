"""A conversion to its own shape, without a repair, keeps every part that the provider's SDK declares.

The parts come from the type definitions of the SDKs. A part of a new type that a conversion drops or changes fails here
until somebody decides: it is kept (``OWN_PARTS`` and ``ITEMS`` of ``toolcarry.api.convert``), or has a reason in ``CHANGED``.
"""

from typing import Any, Final

import pytest
from support.builders.sdk_parts import (
    fields_of,
    sample,
    samples,
    shape_samples,
    typed_dicts,
)
from support.sdk import sdk

from toolcarry import convert
from toolcarry.types.results import Converted
from toolcarry.types.shapes import Target

pytestmark = pytest.mark.sdk
JsonObject = dict[str, Any]

CHANGED: Final = {
    "ChatCompletionFunctionMessageParam": "functions are deprecated: it becomes the message of a tool",
    "function_call": "functions are deprecated: it becomes a call of a tool",
    "refusal": "it becomes a part of the content, which says the same",
}
"""The types and members that are not kept, each with the reason."""


def without_marks(value: Any) -> Any:
    """A part without cache marks, of which a request may have only four."""
    if isinstance(value, list):
        return [without_marks(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: without_marks(each) for key, each in value.items() if key != "cache_control"}


def is_in(part: Any, value: Any) -> bool:
    """True if a value holds a part, unchanged, at any depth."""
    if part == value:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(is_in(part, each) for each in inner)


def check_kept(part: JsonObject, converted: Converted) -> None:
    assert is_in(part, converted.messages), (part, converted)
    assert {loss.kind for loss in converted.losses} <= {"made_up_ids"}
    assert not converted.unread


STARTS: Final = {"function_call": "fc", "custom_tool_call": "ctc", "message": "msg"}
"""The letters with which OpenAI's server begins an id, and without which it refuses it."""


def with_server_id(item: JsonObject) -> JsonObject:
    start = STARTS.get(item.get("type", ""), "")
    return {**item, "id": f"{start}_1"} if start and "id" in item else item


BLOCKS: Final = (
    *typed_dicts(sdk("anthropic.types").ContentBlockParam),
    *typed_dicts(sdk("anthropic.types.beta").BetaContentBlockParam),
)


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.__name__)
def test_anthropic(kind: type, role: str) -> None:
    for part in map(without_marks, samples(kind)):
        messages = [{"role": "user", "content": "Hi."}, {"role": role, "content": [part]}]
        check_kept(part, convert(messages, to="anthropic", repair=False))


@pytest.mark.parametrize(
    "kind",
    typed_dicts(sdk("openai.types.responses").ResponseInputItemParam),
    ids=lambda kind: kind.__name__,
)
def test_responses(kind: type) -> None:
    for found in samples(kind):
        item = with_server_id(found)
        check_kept(
            item, convert([{"role": "user", "content": "Hi."}, item], to="responses", repair=False)
        )


@pytest.mark.parametrize(
    "kind",
    typed_dicts(sdk("openai.types.chat").ChatCompletionMessageParam),
    ids=lambda kind: kind.__name__,
)
def test_chat(kind: type) -> None:
    if kind.__name__ in CHANGED:
        return
    for found in samples(kind):
        message = {key: value for key, value in found.items() if key not in CHANGED}
        for number, call in enumerate(message.get("tool_calls", ())):
            call["id"] = f"call{number}"
        check_kept(
            message,
            convert([{"role": "user", "content": "Hi."}, message], to="openai", repair=False),
        )


CONTENT_BLOCK: Final = (
    sdk("botocore.session")
    .get_session()
    .get_service_model("bedrock-runtime")
    .shape_for("ContentBlock")
)


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("name", list(CONTENT_BLOCK.members))
def test_bedrock(name: str, role: str) -> None:
    for held in shape_samples(CONTENT_BLOCK.members[name]):
        part = {name: held}
        messages = [
            {"role": "user", "content": [{"text": "Hi."}]},
            {"role": role, "content": [part]},
        ]
        check_kept(part, convert(messages, to="bedrock", repair=False))


PART: Final = fields_of(sdk("google.genai.types").Part) or {}
ALONE: Final = {"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
    "codeExecutionResult", "toolCall", "toolResponse"}  # fmt: skip
"""The members that are the content of a part. Others say more about such content."""


@pytest.mark.parametrize("role", ["user", "model"])
@pytest.mark.parametrize("name", list(PART))
def test_gemini(name: str, role: str) -> None:
    contents: list[JsonObject] = [
        {"text": "y"},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"functionCall": {"id": "x", "name": "f", "args": {}}},
    ]
    for held in samples(PART[name]):
        for content in [{}] if name in ALONE else contents:
            part = {**content, name: held}
            messages = [
                {"role": "user", "parts": [{"text": "Hi."}]},
                {"role": role, "parts": [part]},
            ]
            check_kept(part, convert(messages, to="gemini", repair=False))


MESSAGE: Final = fields_of(sdk("ollama").Message) or {}


@pytest.mark.parametrize("name", [name for name in MESSAGE if name != "role"])
def test_ollama(name: str) -> None:
    held = ["aGk="] if name == "images" else sample(MESSAGE[name], 0)
    call = {"role": "assistant", "content": "", "tool_calls": sample(MESSAGE["tool_calls"], 0)}
    answer = {"role": "tool", "content": "y", "tool_name": "x"}
    speaker = "assistant" if name == "thinking" else "user"
    said = {"role": speaker, "content": "y", name: held}
    parts = [call, answer] if name in ("tool_calls", "tool_name") else [said]
    converted = convert([{"role": "user", "content": "Hi."}, *parts], to="ollama", repair=False)
    for part in parts:
        check_kept(part, converted)


def test_a_part_that_is_dropped_is_noticed() -> None:
    to: Target = "anthropic"
    unknown = {"type": "of_tomorrow", "x": 1}
    with pytest.raises(AssertionError):
        check_kept(unknown, convert([{"role": "user", "content": [unknown]}], to=to, repair=False))
