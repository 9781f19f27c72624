"""The contents of every real transcript: the library's survey against a table and against an independent count."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from support.rows import for_each
from support.transcripts import TRANSCRIPTS

PATTERNS = (
    "claude_code/**/*.jsonl",
    "openai_chat/*.json",
    "swe_agent/*.traj",
    "cline/*.json",
    "http/*.yaml",
)
PATHS = sorted(
    path.relative_to(TRANSCRIPTS).as_posix()
    for pattern in PATTERNS
    for path in TRANSCRIPTS.glob(pattern)
)
TABLE_PATH = Path(__file__).parents[1] / "cases" / "real_counts.json"
TABLE: dict[str, list[int]] = json.loads(TABLE_PATH.read_text())

LISTS = ("messages", "contents", "input")


class Count(NamedTuple):
    """Calls, results, orphans of both kinds, and results for calls that were answered already."""

    calls: int
    results: int
    orphan_calls: int
    orphan_results: int
    second_results: int


class Transcript(NamedTuple):
    """A transcript as bytes input, and its messages."""

    body: bytes
    messages: list[Any]


def load(name: str) -> Transcript:
    data = (TRANSCRIPTS / name).read_bytes()
    if name.endswith(".jsonl"):
        return Transcript(data, list(readable_lines(data)))
    document = longest_request(data) if name.endswith(".yaml") else json.loads(data)
    body = json.dumps(document).encode() if name.endswith(".yaml") else data
    return Transcript(body, [*messages_of(document), *answer_of(document)])


def answer_of(document: Any) -> list[Any]:
    """The model's answer, which a log has next to the request."""
    response = document.get("response") if isinstance(document, dict) else None
    return [choice["message"] for choice in response["choices"]] if isinstance(response, dict) else []  # fmt: skip


def readable_lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def longest_request(data: bytes) -> dict[str, Any]:
    """Of recorded traffic, the request with the most messages, the last of them."""
    yaml = pytest.importorskip("yaml")
    best: dict[str, Any] = {"messages": []}
    for recorded in yaml.safe_load(data)["interactions"]:
        request = recorded["request"]
        body = request.get("parsed_body", request.get("body"))
        if isinstance(body, str) and body.startswith("{"):
            body = json.loads(body)
        if isinstance(body, dict) and len(messages_of(body)) >= len(messages_of(best)):
            best = body
    return best


def messages_of(document: Any) -> list[Any]:
    if isinstance(document, list):
        return document
    if "history" in document:
        has_calls = any("tool_calls" in message for message in document["history"])
        found: list[Any] = document["history" if has_calls else "trajectory"]
        return found
    return next((document[key] for key in LISTS if isinstance(document.get(key), list)), [])


def count(messages: list[Any]) -> Count:
    """A plain count by ids, from the first message to the last."""
    calls: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    orphan_results = second_results = results = 0
    for number, message in enumerate(messages):
        call_ids, result_ids = ids_of(message, f"step {number}")
        calls.update(call_ids)
        for call_id in result_ids:
            results += 1
            if not calls[call_id]:
                orphan_results += 1
            elif answered[call_id] == calls[call_id]:
                second_results += 1
            else:
                answered[call_id] += 1
    total = calls.total()
    return Count(total, results, total - answered.total(), orphan_results, second_results)


ON_SERVER = (
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
)


def ids_of(message: dict[str, Any], step: str) -> tuple[list[str], list[str]]:
    """The ids of a message's calls, and of the calls that its results answer. An older step has none: its place is it."""
    if isinstance(message.get("action"), str) and "observation" in message:
        return [step], [step]
    kind = message.get("type")
    if kind == "function_call":
        return [message["call_id"]], []
    if kind == "function_call_output":
        return [], [message["call_id"]]
    if kind in ON_SERVER:
        return [message["id"]], [message["id"]]
    if message.get("role") == "tool":
        return [], [message.get("tool_call_id") or message["tool_call_ids"][0]]
    said = message["message"] if isinstance(message.get("message"), dict) else message
    blocks = said.get("content") or said.get("parts") or []
    calls = [call["id"] for call in said.get("tool_calls") or []]
    results: list[str] = []
    for block in blocks if isinstance(blocks, list) else []:
        read_block(block, calls, results)
    return calls, results


def read_block(block: dict[str, Any], calls: list[str], results: list[str]) -> None:
    """Note what a block of Anthropic, Bedrock or Gemini says."""
    kind = str(block.get("type", ""))
    if kind.endswith("tool_use"):
        calls.append(block["id"])
    if kind.endswith("tool_result"):
        results.append(block["tool_use_id"])
    if "toolUse" in block:
        calls.append(block["toolUse"]["toolUseId"])
    if "toolResult" in block:
        results.append(block["toolResult"]["toolUseId"])
    if "functionCall" in block:
        calls.append(block["functionCall"]["id"])
    if "functionResponse" in block:
        results.append(block["functionResponse"]["id"])


def surveyed(survey: Any) -> Count:
    return Count(
        survey.calls,
        survey.results,
        survey.orphan_calls,
        survey.orphan_results,
        survey.duplicate_results,
    )


def test_every_transcript_is_in_the_table(real_transcripts: Path) -> None:
    assert sorted(TABLE) == PATHS


@for_each("name", PATHS or [None])
def test_counts(rust: ModuleType, real_transcripts: Path, name: str) -> None:
    body, messages = load(name)
    *counts, superseded = TABLE[name]
    assert count(messages) == Count(*counts)
    for survey in (rust.inspect(messages), rust.inspect(body)):
        assert surveyed(survey) == Count(*counts)
        assert survey.duplicates == superseded


@for_each("name", PATHS or [None])
def test_every_superseded_block_is_in_the_report(
    api: ModuleType, real_transcripts: Path, name: str
) -> None:
    """Deduplication leaves out as many blocks as the table says, and no others."""
    blocks = api.extract_tool_blocks(load(name).messages)
    kept = api.deduplicate_tools(blocks)
    assert len(blocks) - len(kept) == TABLE[name][-1]


def test_recorded_streams_hold_no_messages(rust: ModuleType, real_transcripts: Path) -> None:
    for name, row in TABLE.items():
        if name.startswith("cline/") and not name.endswith("session.messages.json"):
            assert row == [0] * 6
            assert rust.inspect((real_transcripts / name).read_bytes()).shape == "unknown"


def test_the_table_is_no_table_of_zeros() -> None:
    """Of all that is counted there is something in some transcript."""
    assert all(any(row[column] for row in TABLE.values()) for column in (0, 1, 2, 3, 5))
