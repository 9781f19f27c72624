"""Many live conversations: the memory is bounded in bytes, and nothing goes from it in silence."""

import logging
from pathlib import Path

import pytest
from support.builders.session_talks import REQUEST, WHERE, key, session
from support.clocks import Clock

from toolcarry import ToolCache
from toolcarry.config import Config
from toolcarry.config.tables import Serve, Sessions, Upstream
from toolcarry.integrations.proxy import Proxy
from toolcarry.switch import HistorySessions, MemorySessions, SummarizeTransformer
from toolcarry.tool_cache import MemoryToolCache

MANY = 5_000


def switched(made: SummarizeTransformer, number: int) -> bool:
    where = {**WHERE, "conversation": f"c{number}"}
    return made.transform(REQUEST, **where).report.reason == "switched"


def test_no_number_of_conversations_is_too_many() -> None:
    made = SummarizeTransformer()
    for number in range(MANY):
        made.answered(f"c{number}", "a", tenant=WHERE["tenant"])
    assert all(switched(made, number) for number in range(0, MANY, 499))


def test_tools_of_many_conversations() -> None:
    cache = ToolCache()
    tools = [{"type": "function", "function": {"name": "f", "description": "x" * 10_000}}]
    for number in range(MANY):
        cache.resolve("m", tools, scope=f"c{number}")
    found = [cache.resolve("m", None, scope=f"c{number}") for number in range(0, MANY, 499)]
    assert {each.source for each in found} == {"cache"}
    assert cache.counts["evict"] == 0


def test_a_history_forgets_nothing_that_its_memory_gives_up(tmp_path: Path) -> None:
    sessions = HistorySessions(tmp_path / "history.db", max_bytes=2_000)
    made = SummarizeTransformer(sessions=sessions)
    for number in range(20):
        made.answered(f"c{number}", "a", tenant=WHERE["tenant"])
    assert all(switched(made, number) for number in range(20))
    sent = made.transform(REQUEST, **{**WHERE, "conversation": "c3"})
    assert (sent.report.reason, sessions.counts["failed"]) == ("resumed", 0)
    sessions.close()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "memory is full" in record.message]


def test_evictions_are_counted_and_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    sessions = MemorySessions(max_bytes=10_000, clock=clock)
    held = 0
    with caplog.at_level(logging.WARNING):
        while not sessions.counts["evicted"]:
            sessions.save(key(held), session(10))
            held += 1
        for number in range(held, held + 49):
            sessions.save(key(number), session(10))
        assert sessions.counts["evicted"] == 50
        assert lines(caplog) == [
            "memory is full: 1 sessions were forgotten; raise sessions.max_bytes"
        ]
        clock.advance(61)
        sessions.save(key(1_000), session(10))
    assert lines(caplog)[1:] == [
        "memory is full: 50 sessions were forgotten; raise sessions.max_bytes"
    ]


def test_expired_sessions_are_not_counted_as_evicted(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    sessions = MemorySessions(ttl=160.0, clock=clock)
    cache = ToolCache(MemoryToolCache(ttl=160.0, clock=clock))
    for number in range(9):
        sessions.save(key(number), session(10))
        cache.resolve("m", [{"type": "function", "function": {"name": "f"}}], scope=str(number))
        clock.advance(200)
    assert sessions.counts["evicted"] == cache.counts["evict"] == 0
    assert not lines(caplog)


def test_evictions_are_in_the_metrics() -> None:
    upstream = Upstream(name="a", url="http://127.0.0.1:9", shape="anthropic")
    settings = Config(serve=Serve(upstreams=(upstream,)), sessions=Sessions(max_bytes=2_000))
    proxy = Proxy(settings)
    assert proxy.counts()["sessions.evicted"] == 0
    for number in range(9):
        proxy._sessions.save(key(number), session(10))
    assert proxy.counts()["sessions.evicted"] > 0
