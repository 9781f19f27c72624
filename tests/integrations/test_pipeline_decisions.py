"""The pipeline's decisions about a conversation hold in its later requests."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from support.builders.pipelines import CUT, LONG, ME, run
from support.servers.hosts import Changed, NamingTransformer, conversation

from toolcarry import ProjectPolicy
from toolcarry.integrations.identity import (
    Identification,
    ModelRequest,
    RequestIdentity,
    RequestView,
)
from toolcarry.integrations.lines import MOST_LINES
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.switch.request_fields import read_fields

# A conversation goes on

FIRST = conversation("x = 1\n" * 200)
SECOND = conversation("x = 1\n" * 200, "x = 2\n" * 10)
"""The second read supersedes the first, which was sent already: a change there has to win enough."""
PATIENT = ProjectPolicy(clear_at_least_tokens=100_000)
EAGER = ProjectPolicy(clear_at_least_tokens=0)


def first_result(body: bytes) -> str:
    text: str = json.loads(body)["messages"][2]["content"][0]["content"]
    return text


def test_earlier_decisions_are_repeated() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, FIRST)
    assert run(pipeline, SECOND).body is SECOND
    # A conversation that nothing is known of has no cache to lose.
    assert "superseded" in first_result(run(RequestPipeline(projection=PATIENT), SECOND).body)


@pytest.mark.parametrize(
    "other",
    [
        RequestIdentity("you", "c1", "a"),
        RequestIdentity("me", "c2", "a"),
        RequestIdentity("me", "c1", "a", is_side_request=True),
    ],
)
def test_another_conversation_decides_nothing(other: RequestIdentity) -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, FIRST, other)
    assert "superseded" in first_result(run(pipeline, SECOND).body)


def test_another_line_of_the_conversation_decides_nothing() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, conversation("y = 1\n" * 200, first="You are a sub-agent."))
    assert "superseded" in first_result(run(pipeline, SECOND).body)


def test_decisions_refer_to_the_sent_request() -> None:
    class Beginning(NamingTransformer):
        async def atransform_body(self, body: bytes, **_: Any) -> Changed:
            return Changed(body.replace(b"Look.", b"Context. Look."), True)

    pipeline = RequestPipeline(transformer=Beginning(), projection=PATIENT)
    asyncio.run(pipeline.process(ModelRequest(FIRST, ME, read_fields(FIRST))))
    pipeline = with_decisions_of(pipeline)
    assert "superseded" in first_result(run(pipeline, SECOND).body)
    sent = SECOND.replace(b"Look.", b"Context. Look.")
    assert run(pipeline, sent).body is sent


def with_decisions_of(other: RequestPipeline) -> RequestPipeline:
    """A pipeline that knows the same conversations and only projects."""
    pipeline = RequestPipeline(projection=PATIENT)
    pipeline._projections.known = other._projections.known
    return pipeline


def test_a_request_on_the_side_is_sent_as_the_conversation_is() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, FIRST)
    side = RequestIdentity("me", "c1", "a", is_side_request=True)
    assert run(pipeline, SECOND, side).body is SECOND


def test_decisions_are_made_again_after_an_edit() -> None:
    pipeline = RequestPipeline(projection=EAGER)
    assert "superseded" in first_result(run(pipeline, SECOND).body)
    # The read that superseded the first one is gone.
    assert run(pipeline, FIRST).body is FIRST
    assert "superseded" in first_result(run(pipeline, SECOND).body)


def test_each_request_begins_as_the_last_one_did() -> None:
    pipeline = RequestPipeline(
        projection=ProjectPolicy(max_result_chars=300, clear_at_least_tokens=0)
    )
    results: list[str] = []
    before: list[Any] = []
    for number in range(12):
        results.append(f"line {number}\n" * (20 + 30 * (number % 3)))
        messages = json.loads(run(pipeline, conversation(*results)).body)["messages"]
        superseded = [m for m in messages if "superseded" in json.dumps(m)]
        assert len(superseded) <= number
        again = json.loads(run(pipeline, conversation(*results)).body)["messages"]
        assert again == messages
        before = messages
    assert len(before) == 25


# Lines of a conversation


def turns(*names: str, first: str = "Look.", answer: str = "") -> bytes:
    """An OpenAI request without an id: a call and its result for each name, after one that two others share."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": first}]
    if answer:
        messages.append({"role": "assistant", "content": answer})
    for number, name in enumerate(names):
        function = {"name": "read_file", "arguments": json.dumps({"path": "a.py"})}
        call = {"id": f"call_{number}_{name}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        result = f"{name} {number}\n" * 200
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return json.dumps({"model": "m", "messages": messages}).encode()


def guess(body: bytes, key: str = "k") -> RequestIdentity | None:
    request = RequestView("/v1/chat/completions", {"authorization": f"Bearer {key}"}, body)
    return Identification()(request)


def sent(pipeline: RequestPipeline, body: bytes, key: str = "k") -> list[Any]:
    messages: list[Any] = json.loads(run(pipeline, body, guess(body, key)).body)["messages"]
    return messages


def test_a_conversation_without_an_id_keeps_its_decisions() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    before: list[Any] = []
    for count in range(1, 9):
        now = sent(pipeline, turns(*"aaaaaaaa"[:count]))
        assert now[: len(before)] == before
        before = now
    assert pipeline.counts["projection_cuts"] == 0


@pytest.mark.parametrize("shared", [0, 1, 3])
def test_conversations_that_begin_alike_have_separate_lines(shared: int) -> None:
    """Their requests alternate, and each continues as if the other one did not exist."""
    pipeline = RequestPipeline(projection=PATIENT)
    before: dict[str, list[Any]] = {"a": [], "b": []}
    for count in range(1, 6):
        for name in "ab":
            now = sent(pipeline, turns(*("s" * shared), *(name * count)))
            assert now[: len(before[name])] == before[name]
            before[name] = now


def test_a_fork_begins_with_the_decisions_of_what_it_shares() -> None:
    policy = ProjectPolicy(max_all_results_chars=3_000, clear_at_least_tokens=100_000)
    pipeline = RequestPipeline(projection=policy)
    for count in range(1, 5):  # the fourth result has no room, and clears the first ones
        whole = sent(pipeline, turns(*("a" * count)))
    assert "cleared" in json.dumps(whole)
    fork = sent(pipeline, turns(*"aab"))
    assert fork[:5] == whole[:5]
    assert fork[6] == json.loads(turns(*"aab"))["messages"][6]


def test_a_conversation_that_is_taken_back_keeps_both_ways_on() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    long = sent(pipeline, turns(*"aaaa"))
    short = sent(pipeline, turns(*"aa"))
    assert sent(pipeline, turns(*"aaaaa"))[: len(long)] == long
    assert sent(pipeline, turns(*"aac"))[: len(short)] == short


def test_moved_marks_and_other_spellings_are_the_same_line() -> None:
    def spelled(body: bytes, marked: int) -> bytes:
        document = json.loads(body)
        for number, message in enumerate(document["messages"]):
            if message["role"] == "user" and isinstance(message["content"], str):
                mark = {"cache_control": {"type": "ephemeral"}} if number == marked else {}
                message["content"] = [{"type": "text", "text": message["content"], **mark}]
            elif number == marked:
                message["content"][0]["cache_control"] = {"type": "ephemeral"}
        return json.dumps(document).encode()

    pipeline = RequestPipeline(projection=PATIENT)
    run(pipeline, spelled(FIRST, 2))
    assert b"superseded" not in run(pipeline, spelled(SECOND, 4)).body


def test_the_same_words_with_another_key_decide_nothing() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    sent(pipeline, turns("a"))
    assert "superseded" in json.dumps(sent(pipeline, turns("a", "a"), key="other"))


def test_the_number_of_lines_is_bounded() -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    for number in range(50):
        sent(pipeline, turns("s", str(number)))
    lines = [
        line
        for key in pipeline._projections.known._held
        for line in pipeline._projections.known.get(key) or ()
    ]
    assert len(lines) == MOST_LINES


def test_answers_to_one_opening_are_conversations_of_their_own() -> None:
    """One prompt is sent to two models: neither goes on with what the other one said."""
    transformer = NamingTransformer()
    pipeline = RequestPipeline(transformer=transformer)

    def ask(body: bytes, backend: str) -> bytes:
        identity = guess(body)
        assert identity is not None
        done = run(pipeline, body, replace(identity, backend=backend))
        asyncio.run(pipeline.answered(done))
        return done.body

    ask(turns(), "a")
    ask(turns(), "a")
    assert b"switched" not in ask(turns(answer="I am A."), "a")
    assert b"switched" not in ask(turns(answer="I am B."), "b")
    assert b"switched" not in ask(turns("x", answer="I am A."), "a")
    assert b"switched" not in ask(turns("y", answer="I am B."), "b")
    assert b"switched" in ask(turns("x", "x", answer="I am A."), "b")


# Counters


def test_cuts_missing_results_and_refetches_are_counted_once() -> None:
    def request(*calls: tuple[str, str | None]) -> bytes:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
        for number, (path, text) in enumerate(calls):
            use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"path": path}}
            messages.append({"role": "assistant", "content": [use]})
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
            said = {"type": "text", "text": "Go on."} if text is None else result
            messages.append({"role": "user", "content": [said]})
        return json.dumps({"model": "a", "messages": messages}).encode()

    pipeline = RequestPipeline(projection=ProjectPolicy(max_all_results_chars=500, repair=True))
    names = ("projection_cuts", "tool_result_missing", "tool_refetches")
    counted = []
    calls: list[tuple[str, str | None]] = []
    for call in [("a", "x" * 300), ("b", None), ("c", "y" * 300), ("a", "x" * 20), ("d", "z")]:
        calls.append(call)
        run(pipeline, request(*calls))
        counted.append([pipeline.counts[name] for name in names])
    # The third request has no room for the first result, which is then asked for again.
    assert counted == [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]]


def test_tokens_are_counted_in_and_out_saved_and_rewritten() -> None:
    pipeline = RequestPipeline(projection=EAGER)
    one, two = run(pipeline, FIRST).body, run(pipeline, SECOND).body
    counts = pipeline.counts
    assert counts["tokens_in"] == len(FIRST) // 4 + len(SECOND) // 4
    assert counts["tokens_out"] == len(one) // 4 + len(two) // 4
    assert counts["tokens_saved"] == (len(SECOND) - len(two)) // 4 > 200
    assert 0 < counts["tokens_rewritten"] < 100


def test_a_failure_is_counted_in_total_and_by_its_part() -> None:
    class Broken(NamingTransformer):
        async def atransform_body(self, *_: Any, **__: Any) -> Changed:
            raise ValueError

    pipeline = RequestPipeline(transformer=Broken())
    assert run(pipeline, FIRST).body is FIRST
    assert (pipeline.counts["fail_open"], pipeline.counts["failed_open.switch"]) == (1, 1)


def test_the_log_says_once_per_client_why_something_is_skipped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pipeline = RequestPipeline(projection=PATIENT)
    for client in ("Zed/1.0", "Zed/1.0", "Aider", "Zed/1.0"):
        run(pipeline, FIRST, RequestIdentity("me", "", "a", client=client))
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split("'")[1] for line in lines] == ["Zed/1.0", "Aider"]
    assert all("nothing is remembered" in line for line in lines)
    assert pipeline.counts["skipped.no_identity"] == 4


# What is kept is bounded


def test_stored_decisions_are_bounded() -> None:
    pipeline = RequestPipeline(projection=CUT, max_decisions=50)
    body = conversation(LONG, LONG)
    for number in range(200):
        run(pipeline, body, RequestIdentity("me", f"c{number}", "a"))
    assert 0 < pipeline._projections.known.size <= 50
    assert len(pipeline._projections.known) <= 50


def test_decisions_that_are_too_many_are_not_kept() -> None:
    pipeline = RequestPipeline(projection=CUT, max_decisions=6)
    run(pipeline, conversation(LONG))
    assert len(pipeline._projections.known) == 1
    run(pipeline, conversation(*[LONG] * 5))
    assert len(pipeline._projections.known) == 0
    assert not any(key.startswith("failed_open") for key in pipeline.counts)


def test_decisions_are_forgotten_in_time() -> None:
    pipeline = RequestPipeline(projection=PATIENT, ttl=1e-9)
    run(pipeline, FIRST)
    assert "superseded" in first_result(run(pipeline, SECOND).body)
