"""Sessions that a client compacted: the summary is told as the client's, and what it covers is neither active nor carried."""

import json
from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import pytest
from support.examples import IS_LONG
from support.oracles.format_checks import JsonObject, blocks

from toolcarry import convert

SUMMED = "Forty bales; the loft is locked."
Session = list[JsonObject]
Covers = Callable[[Random, int], tuple[Session, int]]
"""Takes a number of steps, and returns a session whose summary covers the first ones, with the number of those."""


def step(number: int) -> tuple[str, str, str]:
    """Return the id, the words and the result of a step."""
    return f"c{number}", f"I open door {number}.", f"bale {number} of the barn"


def adk(random: Random, count: int) -> tuple[Session, int]:
    def event(time: int, role: str, *parts: JsonObject) -> JsonObject:
        return {"author": role, "invocationId": "i", "timestamp": time, "content": {"role": role, "parts": [*parts]}}  # fmt: skip

    events = [event(0, "user", {"text": "What is in the barn?"})]
    for number in range(count):
        call_id, words, result = step(number)
        call = {"functionCall": {"id": call_id, "name": "look", "args": {"door": number}}}
        answer = {"id": call_id, "name": "look", "response": {"result": result}}
        events.append(event(2 * number + 1, "model", {"text": words}, call))
        events.append(event(2 * number + 2, "user", {"functionResponse": answer}))
    covered = random.randint(1, count)
    summary = {"role": "model", "parts": [{"text": SUMMED}]}
    made = {"startTimestamp": 1, "endTimestamp": 2 * covered, "compactedContent": summary}
    events.append({"author": "user", "invocationId": "k", "timestamp": 99, "actions": {"compaction": made}})  # fmt: skip
    return events, covered


def openhands(random: Random, count: int) -> tuple[Session, int]:
    def said(event_id: str, role: str, text: str) -> JsonObject:
        content = [{"type": "text", "text": text}]
        return {"id": event_id, "kind": "MessageEvent", "source": role, "llm_message": {"role": role, "content": content}}  # fmt: skip

    events = [said("m0", "user", "What is in the barn?")]
    for number in range(count):
        call_id, words, result = step(number)
        asked = {"id": call_id, "name": "look", "arguments": json.dumps({"door": number})}
        own: JsonObject = {"tool_name": "look", "tool_call_id": call_id}
        thought = [{"type": "text", "text": words}]
        events.append({"id": f"a{number}", "kind": "ActionEvent", "thought": thought, "tool_call": asked, **own})  # fmt: skip
        seen = {"content": [{"type": "text", "text": result}]}
        events.append({"id": f"o{number}", "kind": "ObservationEvent", "observation": seen, **own})
    covered = random.randint(1, count)
    ids = [f"{kind}{number}" for number in range(covered) for kind in "ao"]
    events.append({"id": "k", "kind": "Condensation", "forgotten_event_ids": ids, "summary": SUMMED, "summary_offset": 1})  # fmt: skip
    return events, covered


def openhands_v0(random: Random, count: int) -> tuple[Session, int]:
    def event(number: int, source: str, **more: Any) -> JsonObject:
        return {"id": number, "source": source, **more}

    events = [event(0, "user", action="message", args={"content": "What is in the barn?"})]
    for number in range(count):
        call_id, words, result = step(number)
        metadata = {"function_name": "look", "tool_call_id": call_id}
        args = {"command": f"look {number}", "thought": words}
        events.append(event(2 * number + 1, "agent", action="run", args=args, tool_call_metadata=metadata))  # fmt: skip
        events.append(event(2 * number + 2, "agent", observation="run", content=result, extras={}, tool_call_metadata=metadata))  # fmt: skip
    covered = random.randint(1, count)
    forgotten: JsonObject = {"forgotten_events_start_id": 1, "forgotten_events_end_id": 2 * covered}
    if random.random() < 0.5:
        forgotten = {"forgotten_event_ids": list(range(1, 2 * covered + 1))}
    args = {**forgotten, "summary": SUMMED, "summary_offset": 1}
    events.append(event(99, "agent", action="condensation", args=args))
    return events, covered


def goose(random: Random, count: int) -> tuple[Session, int]:
    covered = random.randint(1, count)

    def message(role: str, is_covered: bool, *content: JsonObject) -> JsonObject:
        metadata = {"userVisible": True, "agentVisible": not is_covered}
        return {"role": role, "created": 1, "content": [*content], "metadata": metadata}

    messages = [message("user", True, {"type": "text", "text": "What is in the barn?"})]
    later = []
    for number in range(count):
        call_id, words, result = step(number)
        asked = {"status": "success", "value": {"name": "look", "arguments": {"door": number}}}
        seen = {"status": "success", "value": {"content": [{"type": "text", "text": result}]}}
        pair = [
            message("assistant", number < covered, {"type": "text", "text": words}, {"type": "toolRequest", "id": call_id, "toolCall": asked}),
            message("user", number < covered, {"type": "toolResponse", "id": call_id, "toolResult": seen}),
        ]  # fmt: skip
        (messages if number < covered else later).extend(pair)
    summary = {"role": "user", "created": 1, "content": [{"type": "text", "text": SUMMED}], "metadata": {"userVisible": False, "agentVisible": True}}  # fmt: skip
    return [*messages, summary, *later], covered


def kimi(random: Random, count: int) -> tuple[Session, int]:
    def loop(event: JsonObject) -> JsonObject:
        return {"type": "context.append_loop_event", "event": event}

    asked = {"role": "user", "content": [{"type": "text", "text": "What is in the barn?"}], "origin": {"kind": "user"}}  # fmt: skip
    lines = [{"type": "metadata"}, {"type": "context.append_message", "message": asked}]
    for number in range(count):
        call_id, words, result = step(number)
        lines += [
            loop({"type": "content.part", "part": {"type": "text", "text": words}}),
            loop({"type": "tool.call", "toolCallId": call_id, "name": "look", "args": {"door": number}}),
            loop({"type": "tool.result", "toolCallId": call_id, "result": {"output": result, "isError": False}}),
        ]  # fmt: skip
    covered = random.randint(1, count)
    lines.append({"type": "context.apply_compaction", "summary": SUMMED, "compactedCount": 1 + 2 * covered})  # fmt: skip
    return lines, covered


PRODUCERS: dict[str, Covers] = {
    "adk": adk,
    "openhands": openhands,
    "openhands-v0": openhands_v0,
    "goose": goose,
    "kimi": kimi,
}


@pytest.mark.parametrize("name", PRODUCERS)
def test_what_a_summary_covers_is_not_current(api: ModuleType, name: str) -> None:
    for seed in range(200 if IS_LONG else 20):
        random = Random(f"{name} {seed}")
        count = random.randint(1, 6)
        session, covered = PRODUCERS[name](random, count)
        found = blocks(api, session)
        assert len(found) == count
        active = {block.call_id for block in found if block.notes.is_active}
        assert active == {f"c{number}" for number in range(covered, count)}, session
        if (
            name != "goose"
        ):  # whose texts are those of other formats, so that the dialogue asks no importer
            assert f"[SUMMARY]\n{SUMMED}\n[/SUMMARY]" in api.dialogue(session)
        sent = json.dumps(convert(session, to="anthropic").messages)
        assert SUMMED in sent
        for number in range(count):
            _, words, result = step(number)
            assert (words in sent, result in sent) == (number >= covered, number >= covered)


def test_a_compaction_of_kimi_without_a_number_covers_all(api: ModuleType) -> None:
    session, _ = kimi(Random(1), 3)
    del session[-1]["compactedCount"]
    assert [block.call_id for block in blocks(api, session) if block.notes.is_active] == []


def test_a_summary_of_grok_is_told_as_one(api: ModuleType) -> None:
    """Grok writes its history again after a compaction, with the summary as a message that nobody said."""
    text = [{"type": "text", "text": SUMMED}]
    call = {"id": "c1", "name": "look", "arguments": "{}"}
    session = [
        {"type": "user", "content": text, "synthetic_reason": "compaction_meta"},
        {"type": "assistant", "content": "Yes.", "tool_calls": [call]},
        {"type": "tool_result", "tool_call_id": "c1", "content": "ok"},
    ]
    assert f"[SUMMARY]\n{SUMMED}\n[/SUMMARY]" in api.dialogue(session)
