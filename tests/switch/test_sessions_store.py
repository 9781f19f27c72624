"""The switch's state in the canonical history: across restarts and workers, and while the store does not respond."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from support.builders.session_talks import REQUEST, WHERE, key
from support.builders.wire_talks import OPENAI
from support.clocks import Clock
from support.servers.postgres import PostgresServer
from support.servers.stores import held

from toolcarry.errors import StoreDamagedError
from toolcarry.switch import HistorySessions, SummarizeTransformer
from toolcarry.switch.sessions import RequestLine, SessionKey, SwitchSession
from toolcarry.tract import Tract


def test_a_restart_goes_on_with_the_same_bytes(target: str) -> None:
    sent: list[str] = []
    for _ in range(3):
        sessions = HistorySessions(target)
        made = SummarizeTransformer(sessions=sessions)
        if not sent:
            made.answered("c", "a", tenant="t")
        request = [*REQUEST, OPENAI.says("Yes."), OPENAI.user("More.")] if sent else REQUEST
        switched = made.transform(request, **WHERE)
        sent.append(json.dumps(switched.messages[:1]))
        assert switched.report.reason == ("resumed" if sent[1:] else "switched")
        made.answered("c", "b", tenant="t")
        sessions.close()
    assert sent[0] == sent[1] == sent[2]


def test_several_workers_send_the_same(target: str) -> None:
    stores = [HistorySessions(target), HistorySessions(target)]
    first, second = (SummarizeTransformer(sessions=sessions) for sessions in stores)
    first.answered("c", "a", tenant="t")
    sent = first.transform(REQUEST, **WHERE).messages
    assert second.transform(REQUEST, **WHERE).messages == sent
    second.answered("c", "b", tenant="t")
    request = [*REQUEST, OPENAI.says("Yes."), OPENAI.user("More.")]
    assert first.transform(request, **WHERE).messages == [*sent, *request[-2:]]
    back = first.transform(request, **{**WHERE, "backend": "a"})
    assert (back.report.reason, len(back.messages)) == ("switched", 1)
    first.answered("c", "a", tenant="t")
    assert second.transform(request, **{**WHERE, "backend": "a"}).messages == back.messages
    for sessions in stores:
        sessions.close()


def test_workers_who_write_at_once_keep_each_others_lines(target: str) -> None:
    """A title and the conversation itself are asked for at the same time."""
    stores = [HistorySessions(target), HistorySessions(target)]
    first = SwitchSession((RequestLine("begun", "a"),), "a")
    stores[0].save(key(1), first)
    seen = [store.load(key(1)) or SwitchSession() for store in stores]
    stores[0].save(key(1), replace(seen[0].with_line(RequestLine("main", "a")), backend="a"))
    stores[1].save(
        key(1), replace(seen[1].with_line(RequestLine("title", "small")), backend="small")
    )
    both = SwitchSession(
        (RequestLine("title", "small"), RequestLine("main", "a"), RequestLine("begun", "a")),
        "small",
    )
    assert [store.load(key(1)) for store in stores] == [both, both]
    for store in stores:
        store.close()


def test_nothing_is_written_where_nothing_is_new(target: str) -> None:
    sessions = HistorySessions(target)
    made = SummarizeTransformer(sessions=sessions)
    made.answered("c", "a", tenant="t")
    for _ in range(5):
        made.transform(REQUEST, **WHERE)
    for _ in range(5):
        made.transform(REQUEST, **WHERE)
        made.answered("c", "b", tenant="t")
    assert sessions.counts["saved"] == 3
    sessions.close()


def test_lines_that_are_used_by_turns_are_not_written_each_time(target: str) -> None:
    sessions = HistorySessions(target)
    made = SummarizeTransformer(sessions=sessions)
    for _ in range(3):
        for backend in ("a", "small"):
            line = made.transform([OPENAI.user(backend)], conversation="c", backend=backend).line
            made.answered("c", backend, line=line)
    saved = sessions.counts["saved"]
    for _ in range(5):
        for backend in ("a", "small"):
            made.transform([OPENAI.user(backend)], conversation="c", backend=backend)
    assert sessions.counts["saved"] == saved
    sessions.close()


@pytest.mark.parametrize("known", [RequestLine("main"), RequestLine("main", "small")])
def test_who_was_asked_is_known_though_another_worker_wrote(
    target: str, known: RequestLine
) -> None:
    stores = [HistorySessions(target), HistorySessions(target)]
    written = (known, RequestLine("begun", "a"))[not known.backend :]
    stores[0].save(key(1), SwitchSession(written, "a"))
    asked = replace(known, asked="a")
    stores[0].save(key(1), SwitchSession((asked, RequestLine("begun", "a")), "a"))
    seen = stores[1].load(key(1)) or SwitchSession()
    stores[1].save(key(1), seen.with_line(RequestLine("title", "small")))
    loaded = stores[0].load(key(1)) or SwitchSession()
    assert (loaded.line("main"), loaded.line("title")) == (asked, RequestLine("title", "small"))
    seen = stores[1].load(key(1)) or SwitchSession()
    stores[1].save(key(1), seen.with_line(RequestLine("main", "b")))
    assert (stores[0].load(key(1)) or SwitchSession()).line("main") == RequestLine("main", "b")
    for store in stores:
        store.close()


def test_a_tenant_can_forget_it(target: str) -> None:
    sessions = HistorySessions(target)
    made = SummarizeTransformer(sessions=sessions)
    made.answered("c", "a", tenant="t")
    made.transform(REQUEST, **WHERE)
    sessions.close()
    with Tract.open(target, conversation="c#switch", tenant="t") as tract:
        assert len(tract.log()) == 2
        assert tract.verify().is_whole
        tract.forget()
    sessions = HistorySessions(target)
    assert sessions.load(SessionKey("t", "c")) == SwitchSession()
    sessions.close()


def test_a_request_does_not_overtake_the_answer_before_it(target: str) -> None:
    """The store takes its time; the client does not wait for it."""

    async def converse() -> None:
        sessions = HistorySessions(target)
        made = SummarizeTransformer(sessions=sessions)
        request = [*REQUEST]
        reasons = []
        for number in range(12):
            backend = "ab"[number % 2]
            switched = await made.atransform(request, conversation="c", backend=backend)
            reasons.append(switched.report.reason)
            telling = asyncio.ensure_future(made.aanswered("c", backend, line=switched.line))
            await asyncio.sleep(0)
            request = [*request, OPENAI.says(f"Said {number}."), OPENAI.user("More.")]
        await telling
        sessions.close()
        assert reasons == ["new", *["switched"] * 11]

    asyncio.run(converse())


def test_a_store_that_is_locked_costs_no_request(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    sessions = HistorySessions(path, busy_timeout=0.1, pause=60.0)
    made = SummarizeTransformer(sessions=sessions)
    with held(path):
        made.answered("c", "a", tenant="t")
        switched = made.transform(REQUEST, **WHERE)
        assert switched.report.reason == "switched"
        assert made.transform(REQUEST, **WHERE).messages == switched.messages
    assert sessions.counts["failed"] == 1
    assert sessions.counts["paused"] >= 1
    sessions.close()


def test_changes_during_a_lock_are_written_with_the_next_change(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sessions.db"
    clock = Clock()
    sessions = HistorySessions(path, busy_timeout=0.1, pause=10.0, clock=clock)
    made = SummarizeTransformer(sessions=sessions)
    with held(path):
        made.answered("c", "a", tenant="t")
        clock.advance(10)
        sent = made.transform(REQUEST, **WHERE).messages
    clock.advance(10)
    made.answered("c", "b", tenant="t")
    sessions.close()
    again = HistorySessions(path)
    later = SummarizeTransformer(sessions=again).transform(REQUEST, **WHERE)
    assert (later.messages, later.report.reason) == (sent, "resumed")
    again.close()


def test_a_hanging_server_fails_no_request(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcarry.tract.store.postgres.PATIENCE", 0.5)
    sessions = HistorySessions(postgres.url(), busy_timeout=0.5, pause=60.0)
    made = SummarizeTransformer(sessions=sessions)
    made.answered("c", "a", tenant="t")
    postgres.halt()
    try:
        assert made.transform(REQUEST, **WHERE).report.reason == "switched"
        assert not made.transform(REQUEST, **{**WHERE, "conversation": "d"}).is_switched
    finally:
        postgres.go_on()
    assert sessions.counts["failed"] == 1
    sessions.close()


def test_an_invalid_stored_session_counts_as_a_failure(tmp_path: Path) -> None:
    path = str(tmp_path / "sessions.db")
    with Tract.open(path, conversation="c#switch", tenant="t") as tract:
        tract.system('{"lines": [7]}')
    sessions = HistorySessions(path)
    assert sessions.load(SessionKey("t", "c")) is None
    assert sessions.counts["failed"] == 1
    sessions.close()


def test_a_file_that_is_no_store_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(os.urandom(5_000))
    with pytest.raises(StoreDamagedError):
        HistorySessions(path)
