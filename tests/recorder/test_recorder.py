"""A recorder with results that were cut, with a store that fails, and in a rollout."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import threading
from pathlib import Path

import orjson
import pytest
from support.builders.recorded_talks import call, model, result, user
from support.clocks import Clock
from support.interrupts import interrupted

from toolcarry import ConfigError, metrics
from toolcarry.errors import StoreError
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.integrations.recorder import Recorder
from toolcarry.integrations.recorder.recorder import percentile
from toolcarry.integrations.recorder.shadow import shadow_report
from toolcarry.metrics import merged
from toolcarry.tract import Tract

FIRST = [user("Go."), call("t1"), result("t1", "3 passed")]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "watch-the-numbers.md"
CUT = "line 1\n[...98 lines omitted...]\n\nline 100"
CLEARED = "[Old tool result content cleared]"


def test_a_cut_result_is_kept_marked_and_counted(talk, caplog) -> None:
    before = metrics.process_counts()["canonical_writes_with_truncation_marker"]
    made = talk()
    with caplog.at_level(logging.WARNING):
        made.ask([*FIRST[:2], result("t1", CUT)])
    assert made.said() == ["Go.", "t1", CUT]
    with Tract.open(made.target, tenant="me", conversation="c1") as tract:
        assert [found.mark for found in tract.legacy_results()] == ["Roo Code"]
    assert metrics.process_counts()["canonical_writes_with_truncation_marker"] == before + 1
    assert "'t1' of 'Bash'" in caplog.text
    assert "omitted" not in caplog.text


def test_its_whole_takes_its_place_when_the_client_sends_it(talk) -> None:
    made = talk(on_truncated_write="count")
    made.ask([*FIRST[:2], result("t1", CUT)], model("Hm."))
    whole = "".join(f"line {number}\n" for number in range(1, 101))
    made.ask([*FIRST[:2], result("t1", whole), model("Hm."), user("More.")])
    with Tract.open(made.target, tenant="me", conversation="c1") as tract:
        assert tract.resolve("t1") == whole
        assert not tract.needs_refetch("t1")
    assert made.recorder.counts["filled"] == 1
    made.ask(
        [*FIRST[:2], result("t1", whole), model("Hm."), user("More."), model("Ok."), user("!")]
    )
    assert made.recorder.counts["failed"] == 0


def test_a_conversation_that_another_process_begins_meanwhile_has_no_message_twice(
    talk, monkeypatch
) -> None:
    """The slower one has just read that there is nothing, when the faster one has written a request more."""
    slow, fast = talk(), talk()
    more = [*FIRST, model("Done."), user("More."), call("t2"), result("t2", "ok")]
    load, reads = slow.recorder._load, []

    def load_then_wait(key):
        found = load(key)
        if threading.current_thread() is not threading.main_thread():  # the writer
            reads.append(found)
            if len(reads) == 1:
                fast.ask(more, model("Done."))
        return found

    monkeypatch.setattr(slow.recorder, "_load", load_then_wait)
    slow.ask(FIRST, model("Done."))
    assert (reads[0], len(reads) > 1) == ((), True)
    slow.ask([*more, model("Done."), user("On."), call("t3"), result("t3", "ok")])
    said = ["Go.", "t1", "3 passed", "Done.", "More.", "t2", "ok", "Done.", "On.", "t3", "ok"]
    assert slow.said() == said
    assert slow.names() == ["c1"]


def test_what_may_not_be_written_is_left_out_and_the_rest_is_not(talk) -> None:
    made = talk(on_truncated_write="raise")
    made.ask([*FIRST[:2], result("t1", CUT), model("Hm."), user("More.")])
    preview = "3 pas\n[toolcarry: preview, 5 of 8 characters; whole: t2]"
    made.ask(
        [
            *FIRST[:2],
            result("t1", CUT),
            model("Hm."),
            user("More."),
            call("t2"),
            result("t2", preview),
            user("On."),
        ]
    )
    assert made.said() == ["Go.", "t1", "Hm.", "More.", "t2", "On."]
    assert made.recorder.counts["refused"] == 2


@pytest.mark.parametrize(
    "stand_in", [None, "", CLEARED, CUT, "3 p\n[toolcarry: preview, 3 of 8 characters; whole: t1]"]
)
def test_a_request_goes_on_with_the_results_of_the_history(talk, stand_in) -> None:
    made = talk()
    made.ask(FIRST, model("Done."))
    cleared = [*FIRST[:2], result("t1", stand_in), model("Done."), user("More.")]
    body = orjson.dumps({"model": "m", "messages": cleared, "top_p": 0.5})
    gone = orjson.loads(made.ask([], body=body))
    assert gone == {"model": "m", "messages": [*FIRST, model("Done."), user("More.")], "top_p": 0.5}
    assert made.said() == ["Go.", "t1", "3 passed", "Done.", "More."]


def test_a_conversation_that_was_compacted_by_its_client_gets_its_results(talk) -> None:
    made = talk()
    made.ask(FIRST, model("Done."))
    shorter = [user("A summary."), call("t1"), result("t1", CLEARED), user("On.")]
    gone = made.ask(shorter, model("Ok."))
    assert orjson.loads(gone)["messages"][2] == FIRST[2]
    (name,) = set(made.names()) - {"c1"}
    assert made.said(name) == ["A summary.", "t1", "3 passed", "On.", "Ok."]


def test_a_store_that_fails_costs_no_request_and_is_left_alone_for_a_while(talk, caplog) -> None:
    clock = Clock()
    made = talk(clock=clock, pause=10.0)
    made.ask(FIRST[:1], call("t1"))
    write = made.recorder.database.write

    def fail(*_: object) -> None:
        raise StoreError("no room")

    made.recorder.database.write = fail  # type: ignore[method-assign]
    with caplog.at_level(logging.WARNING):
        made.ask(FIRST, model("Done."))
    made.ask([*FIRST, model("Done."), user("a")])
    assert made.recorder.counts["failed"] == 1
    assert made.recorder.counts["paused"] == 1
    assert "passed" not in caplog.text
    made.recorder.database.write = write  # type: ignore[method-assign]
    clock.advance(11)
    made.ask([*FIRST, model("Done."), user("a"), model("b"), user("c")], model("d"))
    assert made.said() == ["Go.", "t1", "3 passed", "Done.", "a", "b", "c", "d"]


def test_what_waits_is_bounded(talk) -> None:
    made = talk(max_bytes=1_000)
    made.ask([user("x" * 2_000)])
    made.ask([user("short")])
    assert made.recorder.counts["dropped"] == 1
    assert made.said() == ["short"]


def test_an_interrupt_leaves_nothing_waiting(talk) -> None:
    """Whatever was queued is recorded once, though an interrupt came as it was handed to the writer."""
    made = talk()
    for step in itertools.count():
        body = orjson.dumps({"model": "m", "messages": [user(f"text {step}")]})
        identity = RequestIdentity("me", f"c{step}", "m")
        exchange = made.recorder.begin(identity, ModelRequest(body, identity))
        exchange.start(200)
        exchange.end()
        files = ("recorder/recorder.py", "futures/thread.py")
        was_interrupted = interrupted(exchange.write, step, *files)
        made.recorder.flush()
        if not was_interrupted:
            break
    assert step > 10
    for number in range(step + 1):
        assert made.said(f"c{number}") == [f"text {number}"]


def test_a_refused_request_is_not_recorded(talk) -> None:
    made = talk()
    made.ask(FIRST, status=529)
    assert made.names() == []


def test_a_rollout_is_stable_and_about_as_large_as_it_should_be(tmp_path) -> None:
    people = [RequestIdentity("me", f"c{number}", "m") for number in range(2_000)]
    with_some = Recorder(tmp_path / "a.db", rollout_percent=25)
    with_more = Recorder(tmp_path / "b.db", rollout_percent=60, mode="shadow")
    some = {each.conversation for each in people if with_some.mode_for(each) == "on"}
    more = {each.conversation for each in people if with_more.mode_for(each) == "shadow"}
    assert some < more
    assert 400 < len(some) < 600
    assert {each.conversation for each in people if percentile(each) < 25} == some
    assert with_some.mode_for(RequestIdentity("me", "c1", "m", is_side_request=True)) == "off"
    for each in (with_some, with_more):
        each.close()


def test_settings_that_are_not_allowed(tmp_path) -> None:
    for settings in ({"mode": "maybe"}, {"on_truncated_write": "drop"}, {"max_bytes": -1}):
        with pytest.raises(ConfigError, match=r"is not allowed; allowed:"):
            Recorder(tmp_path / "a.db", **settings)
    assert not shadow_report(Recorder(tmp_path / "a.db").database)


def test_the_pipeline_shows_what_its_recorder_and_the_process_count(talk) -> None:
    made = talk()
    made.ask([*FIRST[:2], result("t1", CUT)])
    pipeline = RequestPipeline(recorder=made.recorder)
    asyncio.run(pipeline.process(ModelRequest(b'{"messages": []}')))
    counts = pipeline.counts
    assert counts["canonical_writes_with_truncation_marker"] == 1
    assert counts["history.recorded"] == 1
    assert counts["history.commits"] == 3
    assert counts["processed"] == 1
    section = PAGE.read_text().partition("## ")[0]
    rows = re.findall(r"^\| (`.+?`) \| ", section, re.MULTILINE)
    named = re.findall("`([a-z_.]+)`", " ".join(rows))
    assert len(named) == 16
    assert {name for name in named if name.startswith(("history", "canonical"))} <= counts.keys()
    assert {name for name in named if counts[name]} <= merged(counts).keys()
    counts["processed"] = 7  # a copy
    assert pipeline.counts["processed"] == 1
