"""Conversions checked with the SDKs of Amazon and Google, which validate requests against their provider's own model."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from support.builders.sources import SOURCES
from support.oracles.conversions import conversation_in
from support.sdk import sdk
from support.strategies.conversations import transcripts
from support.transcripts import FILES

from toolcarry import convert
from toolcarry.types.shapes import Target

pytestmark = pytest.mark.sdk
types = sdk("google.genai.types")
ParamValidator = sdk("botocore.validate").ParamValidator
CONVERSE = (
    sdk("botocore.session")
    .get_session()
    .get_service_model("bedrock-runtime")
    .operation_model("Converse")
    .input_shape
)
MEDIA: list[Any] = [
    {
        "role": "user",
        "content": [{"type": "image", "source": source}, {"type": "text", "text": "x"}],
    }
    for source in (
        {"type": "base64", "media_type": "image/png", "data": "aGk="},
        {"type": "url", "url": "https://example.org/a.png"},
        {"type": "file", "file_id": "f"},
    )
]
SNAKE: list[Any] = [
    {"role": "user", "parts": [{"inline_data": {"mime_type": "audio/wav", "data": "aGk="}}]}
]


def decoded(value: Any) -> Any:
    """A request with bytes as boto3 wants them: what was cut anywhere in base64 is read as far as it goes."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: decoded(item) for name, item in value.items()}
    if isinstance(found.get("bytes"), str):
        found["bytes"] = base64.b64decode(found["bytes"][: len(found["bytes"]) // 4 * 4])
    return found


def check_bedrock(messages: Any) -> None:
    request = decoded(convert(messages, to="bedrock").to_dict())
    report = ParamValidator().validate({"modelId": "m", **request}, CONVERSE)
    assert not report.has_errors(), report.generate_report()


def check_gemini(messages: Any) -> None:
    request = convert(messages, to="gemini").to_dict()
    system = [request["systemInstruction"]] if "systemInstruction" in request else []
    for content in (*system, *request["contents"]):
        types.Content.model_validate(content)


CHECKS: dict[Target, Callable[[Any], None]] = {"bedrock": check_bedrock, "gemini": check_gemini}
each_check = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)


@each_check
def test_every_shape(check: Callable[[Any], None]) -> None:
    for messages in (*SOURCES.values(), MEDIA, SNAKE):
        check([{"role": "system", "content": "Be kind."}, *messages])


@each_check
@given(messages=transcripts)
def test_whatever_it_is(check: Callable[[Any], None], messages: list[Any]) -> None:
    check(messages)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name[:40])
def test_real_conversations(path: Path, real_transcripts: Path) -> None:
    messages = conversation_in(path)
    for check in CHECKS.values():
        check(messages)


def test_refusals_of_the_sdks_are_noticed() -> None:
    image = {"role": "user", "content": [{"inline_data": {"data": "aGk="}}]}
    assert ParamValidator().validate({"modelId": "m", "messages": [image]}, CONVERSE).has_errors()
    with pytest.raises(ValueError, match="inline_audio"):
        types.Content.model_validate({"role": "user", "parts": [{"inline_audio": {}}]})
