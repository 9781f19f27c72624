"""What a record holds may be of any structure: every job ends, with the odd part reported or counted."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.producers import DOCUMENTS
from support.examples import examples
from support.oracles.format_checks import as_lines

from toolcarry import InputError
from toolcarry.cli import main

JsonObject = dict[str, Any]
TEXT = [{"type": "input_text", "text": "I counted forty."}]
AGENT: JsonObject = {"type": "agent_message", "author": "/a", "recipient": "/", "content": TEXT}
FOREIGN: list[JsonObject] = [message for make in DOCUMENTS.values() for message in make()]
"""Messages of all producers."""
ODD: list[Any] = [
    AGENT,
    {"role": "tool", "tool_call_ids": [], "content": "x"},
    {"role": "assistant", "message_type": "action", "content": "x"},
    {"kind": "x", "args": {}, "data": None},
    {"type": "tool_call", "tool_call": {}},
    {"role": "exit", "content": "x"},
    {},
    None,
    7,
    "text",
]


def compacted(held: Any) -> JsonObject:
    return {"type": "compacted", "payload": {"message": "", "replacement_history": [held]}}


HOLDERS: list[Callable[[Any], JsonObject]] = [
    compacted,
    lambda held: {"type": "compacted", "payload": held},
    lambda held: {"type": "response_item", "payload": held},
    lambda held: {"type": "event_msg", "payload": held},
    lambda held: {"type": "user", "uuid": "o", "parentUuid": None, "message": held},
    lambda held: {"type": "api-request-blob", "sessionId": "s", "message": held},
    lambda held: {"type": "attachment", "uuid": "o", "parentUuid": None, "attachment": held},
    lambda held: {"role": "user", "content": [held]},
    lambda held: {"role": "assistant", "content": None, "tool_calls": [held]},
    lambda held: {"role": "tool", "tool_call_id": "c", "content": [held]},
]
ITEM = {"type": "message", "role": "user", "content": TEXT}
BEFORE: JsonObject = {"type": "response_item", "payload": ITEM}


def run_all(api: ModuleType, rust: ModuleType, records: list[JsonObject]) -> None:
    """Run every job that reads a conversation. A job may refuse it, with a reason."""
    for messages in (records, as_lines(records)):
        for job in (api.carry, api.dialogue, api.extract_tool_blocks, api.count_message_tokens):
            with suppress(InputError):
                job(messages)
        for job, options in RUST_JOBS.items():
            with suppress(InputError):
                getattr(rust, job)(messages, **options)


RUST_JOBS: dict[str, JsonObject] = {
    "inspect": {"tokens": True},
    "recount": {},
    "convert": {"to": "anthropic"},
    "check": {"destination": "anthropic"},
}


@given(st.sampled_from([*FOREIGN, *ODD]), st.sampled_from(HOLDERS))
@examples(300)
def test_every_job_ends_whatever_a_record_holds(
    api: ModuleType, rust: ModuleType, held: Any, holder: Callable[[Any], JsonObject]
) -> None:
    run_all(api, rust, [BEFORE, holder(held), BEFORE])


def test_what_a_compaction_holds_is_counted(rust: ModuleType) -> None:
    """Codex's agents tell each other by items of their own, which stay in the compacted history."""
    records = [BEFORE, compacted(AGENT)]
    for messages in (records, as_lines(records)):
        found = rust.inspect(messages, tokens=True).context
        assert found.parts["text"] == rust.count_tokens("I counted forty.")
        assert found.compacted == rust.count_tokens("I counted forty.")


def test_the_report_of_a_folder_is_written_with_an_odd_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed; it is part of the extra report")
    for name, held in (("a", AGENT), ("b", {"type": "x", "args": {}})):
        (tmp_path / f"{name}.jsonl").write_bytes(as_lines([BEFORE, compacted(held), BEFORE]))
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path), "-o", str(page)]) == 0, capsys.readouterr().err
    assert "a.jsonl" in page.read_text("utf-8")
    assert json.dumps(AGENT["author"]) not in page.read_text("utf-8")
