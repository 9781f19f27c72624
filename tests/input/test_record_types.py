"""The type of a record says if it holds a message: what a client notes about its requests is no part of a conversation."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.records import Record, out, record, run, said
from support.examples import examples
from support.oracles.format_checks import as_lines, blocks
from support.rows import for_each

REMINDER = {"type": "text", "text": "<system-reminder>The date is known.</system-reminder>"}
SESSION = [
    record("1", None, said("Count the hens.")),
    record("2", "1", run("a") | {"id": "m1"}),
    record("3", "2", out("a")),
    record("4", "3", run("b") | {"id": "m2"}),
    record("5", "4", out("b")),
    record("6", "5", {"role": "assistant", "content": "Forty.", "id": "m3"}),
]
MESSAGES = [each["message"] for each in SESSION]
SENT = [{"role": "user", "content": [REMINDER, *MESSAGES[2]["content"]]}, *MESSAGES]
"""The messages that a request repeats."""
KNOWN = ("api-request-blob", "api-request", "api-request-shape", "api-request-resumed")
"""The types of records that Claude Code 2.1.332 writes about a request."""


def noted(kind: str, message: Any, **more: Any) -> Record:
    """A record of a request, which holds a message again."""
    return {"type": kind, "sessionId": "s", "hash": "h", "message": message, **more}


def facts(api: ModuleType, messages: Any) -> tuple[Any, ...]:
    """What both backends say of a conversation, without positions."""
    return (
        [
            (block.call_id, block.tool_name, block.notes.is_active)
            for block in blocks(api, messages)
        ],
        api.carry(messages).text,
        api.dialogue(messages),
        sum(api.count_message_tokens(messages)),
    )


def rust_facts(rust: ModuleType, messages: Any) -> tuple[Any, ...]:
    """What only Rust says of it."""
    survey = rust.inspect(messages, tokens=True)
    counts = (survey.shape, survey.calls, survey.results, survey.errors, survey.orphan_results)
    recounted = rust.recount(messages)
    converted = rust.convert(messages, to="openai-responses").messages
    parts = {**survey.context.parts, "frame": 0}  # of a list, it has some tokens for each item
    return counts, parts, recounted.messages, converted


@pytest.mark.parametrize("kind", KNOWN)
def test_a_request_that_is_noted_again_says_nothing(
    api: ModuleType, rust: ModuleType, kind: str
) -> None:
    records = [
        each for at, own in enumerate(SESSION) for each in (noted(kind, SENT[at]), own)
    ]  # fmt: skip
    for written, plain in ((records, SESSION), (as_lines(records), as_lines(SESSION))):
        assert facts(api, written) == facts(api, plain)
        assert rust_facts(rust, written) == rust_facts(rust, plain)
        assert rust.inspect(written).unread.count == 0


COPIES = st.lists(
    st.builds(
        lambda kind, message, own: noted(kind, message, **own),
        st.sampled_from([*KNOWN, "from-the-future", "context-copy"]),
        st.sampled_from(SENT),
        st.sampled_from([{}, {"uuid": "x1", "parentUuid": "2"}]),
    ),
    max_size=2,
)
"""Records of types that hold no message, known or not."""


@given(st.tuples(*[COPIES] * len(SESSION)), COPIES)
@examples(60)
def test_only_a_type_of_messages_makes_a_record_a_message(
    api: ModuleType, rust: ModuleType, before: tuple[list[Record], ...], after: list[Record]
) -> None:
    records = [each for copies, own in zip(before, SESSION, strict=True) for each in (*copies, own)]
    records += after
    for written, plain in ((records, SESSION), (as_lines(records), as_lines(SESSION))):
        assert facts(api, written) == facts(api, plain)
        assert rust_facts(rust, written) == rust_facts(rust, plain)


def test_a_copy_of_unknown_type_is_unread(api: ModuleType, rust: ModuleType) -> None:
    records = [noted("from-the-future", SENT[0]), *SESSION]
    for written in (records, json.dumps(records).encode(), as_lines(records)):
        unread = rust.inspect(written).unread
        assert (unread.count, unread.first[0].position) == (1, 0)
        assert api.carry(written).report.unread.count == 1


@pytest.mark.parametrize("kind", ["user", "assistant", "message", "tool_result", "system", None])
def test_types_of_messages(api: ModuleType, kind: str | None) -> None:
    message = {"role": "user", "content": "Count the hens."}
    for held in ({"uuid": "1", "parentUuid": None}, {}):
        own = {"type": kind, "message": message, **held}
        assert "Count the hens." in api.dialogue([own])
        del own["type"]
        assert "Count the hens." in api.dialogue([own])


def test_a_text_in_the_queue_counts_once(api: ModuleType, rust: ModuleType) -> None:
    """Claude Code writes each prompt into its queue before it writes the message; a text that stands there alone counts."""
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s"}
    alone = {**queued, "content": "And the geese?"}
    records = [{**queued, "content": "Count the hens."}, *SESSION]
    for written in (records, as_lines(records)):
        counts = api.count_message_tokens(written)
        assert counts == [0, *api.count_message_tokens(SESSION)]
        assert rust.inspect(written, tokens=True).context.parts["text"] == 7
    for written in ([*SESSION, alone], as_lines([*SESSION, alone])):
        assert api.count_message_tokens(written)[-1] == api.count_tokens("And the geese?")


def test_the_history_keeps_no_copy(api: ModuleType) -> None:
    from toolcarry.importers.parts import read_parts

    assert read_parts(noted("api-request-blob", SENT[0])) == []
    assert len(read_parts(SESSION[2])) == 1


EVENTS: list[Record] = [
    {"uuid": "e1", "kind": "scope", "name": "agent", "data": {"input": "Count the hens."}},
    {"uuid": "e2", "type": "tool-ended", "data": {"output": "forty"}},
    {"uuid": "e3", "sender": "human", "text": "Count the hens."},
    {"uuid": "e4", "type": "user", "text": "Count the hens."},
    {"uuid": "e5", "type": "note", "message": "Count the hens."},
    {"uuid": "e6", "type": "from-the-future", "message": {"role": "user", "content": "Hi."}},
]


@for_each("event", EVENTS)
def test_what_has_an_id_and_no_message_is_unread(
    api: ModuleType, rust: ModuleType, event: Record
) -> None:
    """An id does not make an object a record without a message: its structure must be known."""
    records = [{**event, "uuid": f"{event['uuid']}-{number}"} for number in range(3)]
    for written in (records, json.dumps(records).encode(), as_lines(records)):
        assert rust.inspect(written).unread.count == 3
        assert api.carry(written).report.unread.count == 3
        assert api.dialogue(written) == ""


@given(st.lists(st.sampled_from(EVENTS), max_size=3), st.integers(0, len(SESSION)))
@examples(40)
def test_events_in_a_session_are_unread_alone(
    api: ModuleType, rust: ModuleType, events: list[Record], at: int
) -> None:
    """They break no branch, and the messages around them are read."""
    odd = [{**event, "uuid": f"{event['uuid']}-{number}"} for number, event in enumerate(events)]
    records = [*SESSION[:at], *odd, *SESSION[at:]]
    for written, plain in ((records, SESSION), (as_lines(records), as_lines(SESSION))):
        assert facts(api, written) == facts(api, plain)
        assert api.carry(written).report.unread.count == len(events)
        assert rust.inspect(written).unread.count == len(events)


STREAMED: list[Record] = [
    {"type": "system", "subtype": "init", "uuid": "s1", "session_id": "s"},
    {"type": "stream_event", "event": {"type": "message_stop"}, "uuid": "s2", "session_id": "s"},
    {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}, "uuid": "s3", "session_id": "s"},
    {"type": "tool_progress", "tool_use_id": "t", "elapsed_time_seconds": 3, "uuid": "s4", "session_id": "s"},
    {"type": "result", "subtype": "success", "uuid": "s5", "session_id": "s"},
    {"type": "attachment", "attachment": {"type": "date"}, "uuid": "s6", "parentUuid": None},
    {"type": "progress", "data": {"type": "hook_progress"}, "uuid": "s7", "parentUuid": None},
]  # fmt: skip


def test_the_events_of_the_agent_sdk_are_known(api: ModuleType) -> None:
    for written in (STREAMED, as_lines(STREAMED)):
        assert api.carry(written).report.unread.count == 0
