"""``survey_context``: the tokens of a context, their parts, and the states of the results."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.builders import wire

import toolcarry
from toolcarry import InputError, context_usage, estimate_tokens
from toolcarry.api.survey import count_context, survey_context

EXAMPLE = Path(__file__).parents[2] / "examples" / "session.jsonl"
LONG = "".join(f"line {number} of a long file\n" for number in range(40))
TALK = [
    {"role": "user", "content": "Please fix it."},
    *wire.read("a.py", LONG, "t1"),
    *wire.edit("a.py", "line 3", "line three", "t2"),
    *wire.bash("make", "1 failed", "t3", is_error=True),
    *wire.read("b.py", "x = 1", "t4"),
    *wire.read("b.py", "x = 2", "t5"),
    *wire.bash("cat c.py", LONG + LONG, "t6"),
    *wire.bash("cat c.py d.py", LONG + LONG, "t7"),
]


def test_every_result_is_in_one_state(api):
    found = survey_context(TALK, model="gpt-4o")
    counts = {state: amount.count for state, amount in found.results.items()}
    assert counts == {"needed": 3, "superseded": 1, "stale": 1, "repeated": 1, "failed": 1}
    states = {each.reference: each.state for each in found.heaviest}
    assert states == {
        "t1": "stale",
        "t2": "needed",
        "t3": "failed",
        "t4": "superseded",
        "t5": "needed",
        "t6": "repeated",
        "t7": "needed",
    }
    weights = [each.tokens for each in found.heaviest]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "unheard-of"])
def test_the_parts_are_the_whole(api, model):
    system = [{"type": "text", "text": "Be careful. " * 20}]
    body = json.dumps({"model": model, "system": system, "messages": TALK}).encode()
    found = survey_context(body)
    assert found.model == model
    assert found.tokens == sum(found.parts.values())
    assert found.tokens == context_usage(body, model=model, limit=1).used
    assert found.exact is (model == "gpt-4o")
    assert found.parts["frame"] > 60
    assert sum(each.tokens for each in found.results.values()) == found.parts["results"]


def test_thinking_and_media_count_apart(api):
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
    }
    thought = {"type": "thinking", "thinking": "It is the third line. " * 9, "signature": "s"}
    talk = [
        wire.user({"type": "text", "text": "Look."}, image),
        wire.assistant(thought, wire.use("t1", "Bash", command="ls")),
        wire.user(wire.result("t1", [image])),
    ]
    found = survey_context(talk, model="gpt-4o")
    assert found.parts["media"] == 3_200
    assert found.parts["thinking"] > 40
    assert found.heaviest[0].tokens > 1_600


def test_files_by_their_calls_with_results(api):
    found = survey_context(TALK, model="gpt-4o")
    uses = {each.path: (each.reads, each.edits) for each in found.files}
    assert uses == {"a.py": (1, 1), "b.py": (2, 0)}
    assert found.files[0].path == "a.py"
    assert found.files[0].tokens > found.heaviest[2].tokens


def record(uuid: str, parent: str | None, message: dict[str, object], **more: object) -> dict[str, object]:  # fmt: skip
    return {"uuid": uuid, "parentUuid": parent, "message": message, **more}


def test_the_facts_of_a_session(api):
    said = {"role": "assistant", "model": "claude-sonnet-4-5", "content": "Done."}
    made = {"role": "assistant", "model": "<synthetic>", "content": "Stopped."}
    facts = {"sessionId": "s1", "cwd": "/w"}
    records = [
        record("1", None, TALK[0], timestamp="2026-03-14T09:12:45.605Z", **facts),
        record("2", "1", said, timestamp="2026-03-14T10:00:00+01:00", **facts),
        record("3", "2", made, timestamp="2026-03-14T11:00:00Z", **facts),
    ]
    session = survey_context("\n".join(map(json.dumps, records)).encode()).session
    assert (session.session_id, session.directory) == ("s1", "/w")
    assert session.models == ("claude-sonnet-4-5",)
    assert session.first == datetime(2026, 3, 14, 9, 0, tzinfo=UTC)
    assert session.last == datetime(2026, 3, 14, 11, 0, tzinfo=UTC)
    json.dumps(session.to_dict())


def test_codex_names_its_session_and_its_model(api):
    lines = [
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "c1", "cwd": "/r"}},
        {"timestamp": "2026-01-01T00:00:01Z", "type": "turn_context", "payload": {"cwd": "/r", "model": "gpt-5"}},
        {"timestamp": "2026-01-01T00:00:02Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}},
    ]  # fmt: skip
    found = survey_context("\n".join(map(json.dumps, lines)).encode())
    assert (found.session.session_id, found.session.directory, found.model) == ("c1", "/r", "gpt-5")
    assert found.exact
    assert found.usage is not None


def test_results_of_parallel_calls_are_in_the_context(api):
    """Claude Code writes each of them on a branch of its own, next to the one that goes on."""
    first = {"id": "m1", **wire.assistant(wire.use("t1", "Read", file_path="a.py"))}
    second = {"id": "m1", **wire.assistant(wire.use("t2", "Read", file_path="b.py"))}
    records = [
        record("1", None, TALK[0]),
        record("2", "1", first),
        record("3", "2", second),
        record("4", "2", wire.user(wire.result("t1", LONG))),
        record("5", "3", wire.user(wire.result("t2", "short"))),
        record("6", "5", wire.assistant({"type": "text", "text": "Done."})),
    ]
    found = survey_context(records, model="gpt-4o")
    assert found.results["needed"].count == 2
    assert found.heaviest[0].reference == "t1"
    assert found.parts["results"] > toolcarry.count_tokens(LONG)


def test_side_chains_are_not_in_the_context(api):
    side = wire.read("s.py", LONG, "s1")
    records = [
        record("1", None, TALK[0]),
        record("2", None, side[0], isSidechain=True, agentId="a"),
        record("3", "2", side[1], isSidechain=True, agentId="a"),
        record("4", "1", wire.assistant({"type": "text", "text": "Done."})),
    ]
    found = survey_context(records)
    assert (found.parts["results"], found.heaviest, found.files) == (0, (), ())


def test_an_imported_conversation(api):
    """A session of Gemini CLI is read by an importer."""
    call = {"id": "g1", "name": "read_file", "args": {"file_path": "a.py"}, "status": "success", "result": [{"functionResponse": {"id": "g1", "name": "read_file", "response": {"output": LONG}}}]}  # fmt: skip
    chat = {
        "sessionId": "g",
        "startTime": "2026-01-01T00:00:00Z",
        "messages": [
            {"id": "1", "type": "user", "content": "Read it."},
            {"id": "2", "type": "gemini", "content": "", "model": "gemini-2.5-pro", "toolCalls": [call]},
        ],
    }  # fmt: skip
    found = survey_context(json.dumps(chat).encode())
    assert (found.session.session_id, found.model) == ("g", "gemini-2.5-pro")
    assert found.results["needed"].count == 1
    assert found.tokens >= estimate_tokens(json.dumps(chat).encode(), model=found.model).value
    assert found.session.first == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_document_that_is_no_conversation(api):
    with pytest.raises(InputError):
        survey_context(b"42")


@pytest.mark.rust
def test_both_backends_say_the_same():
    for data in (
        EXAMPLE.read_bytes(),
        json.dumps({"system": "Be brief.", "messages": TALK}).encode(),
    ):
        with toolcarry._backend.using("python"):
            expected = survey_context(data)
        with toolcarry._backend.using("rust"):
            assert survey_context(data) == expected


def compacted(marks: list[dict[str, object]], form: str = "claude") -> bytes:
    """A session with two turns before these records, and one after them."""
    talk = [*wire.read("a.py", LONG, "t1"), *wire.bash("make", "done", "t2")]
    after = wire.read("b.py", "x = 1", "t3")
    if form == "codex":
        items = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": LONG}]}
        ]
        records = [
            *items,
            *marks,
            {**items[0], "content": [{"type": "input_text", "text": "Go on."}]},
        ]
        records = [each if "payload" in each else {"type": "response_item", "payload": each} for each in records]  # fmt: skip
    else:
        messages = [*talk, *marks, *after]
        records = [
            {"uuid": str(at), "parentUuid": str(at - 1) if at else None, **(each if "message" in each else {"message": each})}
            for at, each in enumerate(messages)
        ]  # fmt: skip
    return "\n".join(map(json.dumps, records)).encode()


SUMMARY = {"isCompactSummary": True, "message": {"role": "user", "content": "So far all is read."}}
HISTORY = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "So far all is read."}]}]  # fmt: skip


@pytest.mark.parametrize(
    ("marks", "form", "kept"),
    [
        ([SUMMARY], "claude", ["So far all is read.", "Read", '{"file_path":"b.py"}', "x = 1"]),
        ([SUMMARY, SUMMARY], "claude", ["So far all is read.", "Read", '{"file_path":"b.py"}', "x = 1"]),
        ([{"type": "compacted", "payload": {"message": "So far all is read."}}], "codex", ["So far all is read.", "Go on."]),
        ([{"type": "compacted", "payload": {"message": "", "replacement_history": HISTORY}}], "codex", ["So far all is read.", "Go on."]),
    ],
)  # fmt: skip
def test_what_was_compacted_is_not_in_the_context(api, rust, marks, form, kept):
    data = compacted(marks, form)
    found, whole = survey_context(data, model="gpt-4o"), compacted([], form)
    assert found.tokens == sum(api.count_tokens(text) for text in kept)
    everything = survey_context(whole, model="gpt-4o").tokens + len(marks) * api.count_tokens(kept[0])  # fmt: skip
    assert found.tokens + found.compacted == everything
    assert found.compacted >= api.count_tokens(LONG)
    assert [each.reference for each in found.heaviest] == (["t3"] if form == "claude" else [])
    assert [each.path for each in found.files] == (["b.py"] if form == "claude" else [])
    for shape in ("mixed", rust.inspect(data).shape):
        counted = count_context(data, "gpt-4o", shape)
        assert (counted.tokens, counted.compacted) == (found.tokens, found.compacted)


def test_a_compaction_without_a_summary_says_nothing_of_the_context(api):
    data = compacted([{"type": "compacted", "payload": {"replacement_history": []}}], "codex")
    assert survey_context(data).tokens == survey_context(compacted([], "codex")).tokens


def test_a_summary_on_another_branch_is_no_compaction(api):
    data = compacted([])
    left = {"uuid": "left", "parentUuid": "1", **SUMMARY}
    lines = data.splitlines()
    lines.insert(3, json.dumps(left).encode())
    named = json.dumps({"role": "user", "content": '"isCompactSummary" and "compacted"'})
    lines.insert(0, named.encode())
    found = survey_context(b"\n".join(lines), model="gpt-4o")
    assert found.compacted == 0
    assert count_context(b"\n".join(lines), "gpt-4o").tokens == found.tokens
