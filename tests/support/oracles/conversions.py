"""A conversation's calls and results, in any format, and the providers' own requirements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolcarry import InputError
from toolcarry._input.document import decode_messages
from toolcarry._input.json import compact_json, loads_arguments
from toolcarry.importers.messages import Import
from toolcarry.model.content import result_text
from toolcarry.model.formats import read_result
from toolcarry.model.pairing import Walk
from toolcarry.types.results import Converted
from toolcarry.types.shapes import Target

TARGETS: tuple[Target, ...] = (
    "anthropic", "openai", "responses", "ollama", "gemini", "bedrock",
)  # fmt: skip
MARK_ERRORS: tuple[Target, ...] = ("anthropic", "gemini", "bedrock")
"""The targets that say that a result is a failure."""
Message = dict[str, Any]


def conversation_in(path: Path) -> list[Any]:
    """Return the messages in a file of any format; skip the test if there are no messages."""
    try:
        return decode_messages(path.read_bytes())[0]
    except InputError:
        pytest.skip("no conversation")


class Held(NamedTuple):
    """A call and its result; ``texts`` is empty if the call has no result."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    texts: tuple[str, ...]
    is_error: bool


def held(messages: Sequence[Any]) -> list[Held]:
    """The blocks of the active branch, in the order of their calls."""
    walk = Walk(Import().messages(messages))
    entries = [entry for entry in walk.entries() if entry.is_active]
    found = []
    for entry in reversed(entries):
        texts = [] if entry.result is None else [result_text(entry.content)]
        seconds = walk.second_results.get(entry.order, ())
        texts += [result_text(read_result(second).content) for second in seconds]
        given = entry.arguments
        if entry.call is not None and entry.call.get("type") == "custom":
            given = {"input": given}
        name = entry.name if entry.call is not None else "a result"
        arguments = loads_arguments(
            compact_json(loads_arguments(given))
        )  # the values that JSON gives
        found.append(Held(entry.call_id, name, arguments, tuple(map(told, texts)), entry.is_error))
    return found


def told(text: str) -> str:
    """Return a text without blank lines, which are not possible next to an image, the mark of a failure, and the size and
    type of media."""
    lines = ["[medium]" if line.startswith(MEDIA) else line for line in text.split("\n")]
    return "\n".join(line for line in lines if line.strip() and line not in MARKS)


MARKS = ("[Tool use failed]", "[Tool use failed: no output]")
"""The lines that ``convert`` adds to a failed result: before its text, and where it has none."""
MEDIA = ("[image", "[document", "[audio", "[file", "[video", "[medium")
"""The beginnings of lines that replace media."""


def without_ids(blocks: list[Held]) -> list[Held]:
    return [block._replace(call_id="", is_error=False) for block in blocks]


def without_names(blocks: list[Held]) -> list[Held]:
    return [block._replace(name="") for block in blocks]


def kinds(converted: Converted) -> set[str]:
    return {loss.kind for loss in converted.losses}


def check_shape(converted: Converted) -> None:
    """Check the rules of the target that its API enforces, if the repair could correct everything."""
    if converted.not_repaired:
        return
    {
        "anthropic": check_anthropic,
        "openai": check_openai,
        "responses": check_responses,
        "ollama": check_ollama,
        "gemini": check_gemini,
        "bedrock": check_bedrock,
    }[converted.target](converted.messages)


INTERRUPTED = "[Tool use interrupted: no result]"


def mended(blocks: Sequence[Held]) -> list[Held]:
    """The blocks as a repair leaves them, if no result is without a call: each call has one result."""
    return [block._replace(texts=block.texts or (INTERRUPTED,)) for block in blocks]


def check_anthropic(messages: list[Message]) -> None:
    # Messages of one role may follow one another: the API joins them.
    # https://platform.claude.com/docs/en/api/messages
    assert {message["role"] for message in messages} <= {"user", "assistant"}
    seen: set[str] = set()
    asked: list[str] = []
    for message in messages:
        blocks = message["content"]
        if isinstance(blocks, str):
            assert blocks.strip()
            blocks = [{"type": "text", "text": blocks}]
        assert blocks
        types = [block["type"] for block in blocks]
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert "tool_result" not in types[len(answers) :]
        assert sorted(answers) == sorted(asked)
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert not asked or message["role"] == "assistant"
        assert len(set(asked)) == len(asked)
        assert not seen & set(asked)
        seen |= set(asked)
        for block in blocks:
            if block["type"] == "text":
                assert block["text"].strip()
            elif block["type"] == "tool_use":
                assert block["id"].replace("_", "a").replace("-", "a").isalnum()
                assert block["name"]
                assert isinstance(block["input"], dict)
    assert not asked


def check_openai(messages: list[Message]) -> None:
    asked: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message.keys() - {"name"} == {"role", "tool_call_id", "content"}
            assert isinstance(message["content"], (str, list))
            asked.remove(message["tool_call_id"])
            continue
        assert not asked
        assert message["role"] in ("system", "user", "assistant")
        calls = message.get("tool_calls", [])
        assert not calls or message["role"] == "assistant"
        assert isinstance(message["content"], (str, list)) or calls
        asked = [call["id"] for call in calls]
        assert len(set(asked)) == len(asked)
        for call in calls:
            assert 1 <= len(call["id"]) <= 40
            if call["type"] == "function":
                assert call["function"]["name"]
                assert isinstance(call["function"]["arguments"], str)
    assert not asked


def check_responses(items: list[Message]) -> None:
    asked: list[str] = []
    for item in items:
        kind = item.get("type", "message")
        if kind.endswith("_call") and "call_id" in item:
            assert item["call_id"] not in asked
            assert 1 <= len(item["call_id"]) <= 64
            asked.append(item["call_id"])
        elif kind.endswith("_call_output"):
            is_screenshot = kind == "computer_call_output"
            assert isinstance(item["output"], dict if is_screenshot else (str, list))
            asked.remove(item["call_id"])
        elif "role" in item:
            assert item["role"] in ("system", "user", "assistant")
            assert isinstance(item["content"], (str, list))
    assert not asked


def check_ollama(messages: list[Message]) -> None:
    asked: list[str] = []
    for message in messages:
        assert isinstance(message["content"], str)
        assert all(isinstance(image, str) for image in message.get("images", []))
        if message["role"] == "tool":
            asked.remove(message["tool_name"])
            continue
        assert not asked
        asked = [call["function"]["name"] for call in message.get("tool_calls", [])]
        for call in message.get("tool_calls", []):
            assert isinstance(call["function"]["arguments"], dict)
    assert not asked


def check_gemini(contents: list[Message]) -> None:
    asked: list[tuple[str, str]] = []
    for content in contents:
        assert content.keys() == {"role", "parts"}
        assert content["role"] in ("user", "model")
        assert content["parts"]
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        responses = [
            part["functionResponse"] for part in content["parts"] if "functionResponse" in part
        ]
        assert all(isinstance(response["response"], dict) for response in responses)
        assert [(one.get("id", ""), one["name"]) for one in responses] == asked
        assert not responses or content["role"] == "user"
        assert not calls or content["role"] == "model"
        asked = [(call.get("id", ""), call["name"]) for call in calls]
        assert all(name for _, name in asked)
        assert all(isinstance(call["args"], dict) for call in calls)
    assert not asked


def check_bedrock(messages: list[Message]) -> None:
    assert all(one["role"] != other["role"] for one, other in pairwise(messages))
    seen: set[str] = set()
    asked: list[str] = []
    for message in messages:
        blocks = message["content"]
        assert blocks
        assert message["role"] in ("user", "assistant")
        results = [block["toolResult"] for block in blocks if "toolResult" in block]
        assert all("toolResult" in block for block in blocks[: len(results)])
        assert sorted(result["toolUseId"] for result in results) == sorted(asked)
        assert all(result["content"] or result.get("status") != "error" for result in results)
        asked = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
        assert not asked or message["role"] == "assistant"
        assert len(set(asked)) == len(asked)
        assert not seen & set(asked)
        seen |= set(asked)
        for block in (*blocks, *(part for result in results for part in result["content"])):
            assert "type" not in block
            assert block.get("text", "x").strip()
            if "toolUse" in block:
                assert re.fullmatch(r"[A-Za-z0-9_.:-]{1,64}", block["toolUse"]["toolUseId"])
                assert block["toolUse"]["name"]
                assert isinstance(block["toolUse"]["input"], dict)
    assert not asked
