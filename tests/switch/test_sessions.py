"""What the switch remembers: within bounds in memory, over restarts and between workers on the canonical history."""

import asyncio
import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from postgres_server import PostgresServer
from stores import held
from wire_talks import OPENAI

from toolcarry.errors import ConfigError, StoreDamagedError
from toolcarry.switch import HistorySessions, MemorySessions, SummarizeTransformer
from toolcarry.switch.sessions import SEVERAL, Line, Prefix, Session, SessionKey
from toolcarry.tract import Tract

WHERE = {"conversation": "c", "backend": "b", "tenant": "t"}
REQUEST = [
    OPENAI.user("Read it."),
    *OPENAI.turn("call_1", "Read", {"file_path": "a.py"}, "x = '\ud800\0'"),
    OPENAI.says("Read."),
    OPENAI.user("Go on."),
]


def key(number: int) -> SessionKey:
    return SessionKey("t", f"c{number}")


def session(size: int) -> Session:
    return Session((Line("first", "a", "", (Prefix("a", 1, "digest", b"x" * size),)),), "a")


# In memory


def test_the_oldest_are_forgotten() -> None:
    sessions = MemorySessions(max_entries=10)
    for number in range(30):
        sessions.save(key(number), session(10))
        sessions.load(key(0))
    assert len(sessions) == 10
    assert sessions.load(key(0)) == session(10)
    assert sessions.load(key(1)) is None
    assert sessions.load(key(29)) == session(10)


def test_large_ones_count_for_more() -> None:
    sessions = MemorySessions(max_entries=1_000, max_bytes=1_000_000)
    for number in range(30):
        sessions.save(key(number), session(100_000))
    assert len(sessions) == 9


def test_of_one_that_is_too_large_is_kept_that_it_was() -> None:
    sessions = MemorySessions(max_bytes=1_000_000)
    sessions.save(key(1), session(10))
    sessions.save(key(1), session(2_000_000))
    assert sessions.load(key(1)) == Session((Line("first", SEVERAL),), "a")


def test_one_that_is_too_large_even_so_takes_what_it_replaces_with_it() -> None:
    sessions = MemorySessions(max_bytes=1_000)
    sessions.save(key(1), session(10))
    sessions.save(key(1), Session(tuple(Line(f"first {number}") for number in range(10))))
    assert sessions.load(key(1)) is None


def test_they_live_from_their_last_use_on() -> None:
    sessions = MemorySessions(ttl=0.4)
    sessions.save(key(1), session(10))
    sessions.save(key(2), session(10))
    for _ in range(4):
        time.sleep(0.2)
        assert sessions.load(key(1)) is not None
    assert sessions.load(key(2)) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_entries": -1}, "max_entries: -1 is not allowed"),
        ({"max_bytes": 1.5}, "max_bytes: 1.5 is not allowed"),
        ({"ttl": 0}, "ttl: 0 is not allowed; allowed: a number of seconds > 0"),
        ({"ttl": float("nan")}, "ttl: nan is not allowed"),
        ({"ttl": True}, "ttl: True is not allowed"),
    ],
)
def test_settings_that_are_none(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        MemorySessions(**options)


def test_a_conversation_keeps_a_few_lines_and_a_line_a_few_beginnings() -> None:
    kept = Session()
    for number in range(100):
        kept = kept.with_line(Line(f"first {number}"))
    newest = [f"first {number}" for number in range(99, 35, -1)]
    assert [line.first for line in kept.lines] == newest
    line = Line("first")
    for number in range(50):
        line = line.with_prefix(Prefix("a", number, f"digest {number}", b""))
    assert [prefix.count for prefix in line.prefixes] == [49, 48, 47, 46]


def test_a_line_that_is_new_gives_way_to_none_but_its_like() -> None:
    prefixes = (Prefix("a", 1, "digest", b""),)
    kept = Session()
    for number in range(64):
        kept = kept.with_line(Line(f"first {number}", prefixes=prefixes))
    assert [line.first for line in kept.with_line(Line("new")).lines][:2] == ["new", "first 63"]


def test_an_answer_counts_where_it_is_not_known_who_was_asked() -> None:
    """As after a restart."""
    asked = Line("first", "a", "", (Prefix("b", 1, "digest", b""),))
    assert asked.answered_by("b").backend == "b"
    assert replace(asked, prefixes=()).answered_by("b").backend == SEVERAL


def test_a_conversation_that_was_forgotten_is_carried_afresh() -> None:
    made = SummarizeTransformer(sessions=MemorySessions(max_entries=1))
    made.answered("c", "a", tenant="t")
    assert made.transform(REQUEST, **WHERE).is_switched
    made.answered("d", "a", tenant="t")
    assert not made.transform(REQUEST, **WHERE).is_switched


# On the canonical history


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
    first = Session((Line("begun", "a"),), "a")
    stores[0].save(key(1), first)
    seen = [store.load(key(1)) or Session() for store in stores]
    stores[0].save(key(1), replace(seen[0].with_line(Line("main", "a")), backend="a"))
    stores[1].save(key(1), replace(seen[1].with_line(Line("title", "small")), backend="small"))
    both = Session((Line("title", "small"), Line("main", "a"), Line("begun", "a")), "small")
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


@pytest.mark.parametrize("known", [Line("main"), Line("main", "small")])
def test_who_was_asked_is_known_though_another_worker_wrote(target: str, known: Line) -> None:
    stores = [HistorySessions(target), HistorySessions(target)]
    written = (known, Line("begun", "a"))[not known.backend :]
    stores[0].save(key(1), Session(written, "a"))
    asked = replace(known, asked="a")
    stores[0].save(key(1), Session((asked, Line("begun", "a")), "a"))
    seen = stores[1].load(key(1)) or Session()
    stores[1].save(key(1), seen.with_line(Line("title", "small")))
    loaded = stores[0].load(key(1)) or Session()
    assert (loaded.line("main"), loaded.line("title")) == (asked, Line("title", "small"))
    seen = stores[1].load(key(1)) or Session()
    stores[1].save(key(1), seen.with_line(Line("main", "b")))
    assert (stores[0].load(key(1)) or Session()).line("main") == Line("main", "b")
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
    assert sessions.load(SessionKey("t", "c")) == Session()
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


def test_what_was_not_written_while_it_was_locked_is_written_with_the_next_change(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sessions.db"
    sessions = HistorySessions(path, busy_timeout=0.1, pause=0.001)
    made = SummarizeTransformer(sessions=sessions)
    with held(path):
        made.answered("c", "a", tenant="t")
        time.sleep(0.01)
        sent = made.transform(REQUEST, **WHERE).messages
    time.sleep(0.01)
    made.answered("c", "b", tenant="t")
    sessions.close()
    again = HistorySessions(path)
    later = SummarizeTransformer(sessions=again).transform(REQUEST, **WHERE)
    assert (later.messages, later.report.reason) == (sent, "resumed")
    again.close()


def test_a_server_that_stands_still_costs_no_request(postgres: PostgresServer) -> None:
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


def test_what_is_stored_and_no_session_counts_as_a_failure(tmp_path: Path) -> None:
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


class Counted(MemorySessions):
    """Sessions that count how often they are written."""

    saved = 0

    def save(self, key: SessionKey, session: Session) -> None:
        self.saved += 1
        super().save(key, session)


def go_on(made: SummarizeTransformer, messages: list[Any], backend: str) -> None:
    switched = made.transform(messages, conversation="c", backend=backend, tenant="t")
    made.answered("c", backend, tenant="t", line=switched.line)


def test_a_conversation_that_stays_with_its_backend_is_not_written_again() -> None:
    sessions = Counted()
    made = SummarizeTransformer(sessions=sessions)
    go_on(made, REQUEST[:1], "a")
    before = sessions.saved
    for _ in range(5):
        go_on(made, REQUEST, "a")
    assert sessions.saved == before
    longer = [*REQUEST, OPENAI.says("Gone on."), OPENAI.user("More.")]
    go_on(made, longer, "b")
    before = sessions.saved
    for _ in range(5):
        go_on(made, [*longer, OPENAI.says("Done."), OPENAI.user("More.")], "b")
    assert sessions.saved == before


def test_the_line_that_goes_on_is_not_the_one_that_is_forgotten() -> None:
    """A client asks a small model something about each of its commands, in the conversation's name."""
    made = SummarizeTransformer()
    go_on(made, REQUEST[:1], "a")
    for number in range(300):
        go_on(made, [OPENAI.user(f"Is command {number} safe?")], "small")
        if number % 20 == 0:
            go_on(made, REQUEST, "a")
    switched = made.transform(REQUEST, **{**WHERE, "backend": "a"})
    assert switched.report.reason == "same_backend"


def test_without_its_line_an_answer_is_that_of_the_request_that_came_last() -> None:
    made = SummarizeTransformer()
    title = [OPENAI.user("Give it a title.")]
    for messages in (REQUEST[:1], title):
        go_on(made, messages, "a")
    made.transform(title, **WHERE)  # and it fails
    go_on(made, REQUEST, "b")
    made.transform(REQUEST, **WHERE)
    made.answered("c", "b", tenant="t")
    again = [*title, OPENAI.says("Reading"), OPENAI.user("Again.")]
    assert made.transform(again, **WHERE).report.reason == "switched"
