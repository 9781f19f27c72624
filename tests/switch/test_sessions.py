"""The switch's state in memory, within bounds."""

from dataclasses import replace
from typing import Any

import pytest
from support.builders.session_talks import REQUEST, WHERE, key, session
from support.builders.wire_talks import OPENAI
from support.clocks import Clock
from support.rows import for_each

from toolcarry.errors import ConfigError
from toolcarry.switch import MemorySessions, SummarizeTransformer
from toolcarry.switch.sessions import SEVERAL, Prefix, RequestLine, SessionKey, SwitchSession


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
    assert sessions.load(key(1)) == SwitchSession((RequestLine("first", SEVERAL),), "a")


def test_a_session_that_is_too_large_removes_its_predecessor() -> None:
    sessions = MemorySessions(max_bytes=1_000)
    sessions.save(key(1), session(10))
    sessions.save(
        key(1), SwitchSession(tuple(RequestLine(f"first {number}") for number in range(10)))
    )
    assert sessions.load(key(1)) is None


def test_they_live_from_their_last_use_on() -> None:
    clock = Clock()
    sessions = MemorySessions(ttl=160.0, clock=clock)
    sessions.save(key(1), session(10))
    sessions.save(key(2), session(10))
    for _ in range(4):
        clock.advance(80)
        assert sessions.load(key(1)) is not None
    assert sessions.load(key(2)) is None


@for_each(
    ("options", "said"),
    [
        ({"max_entries": -1}, "max_entries: -1 is not allowed"),
        ({"max_bytes": 1.5}, "max_bytes: 1.5 is not allowed"),
        ({"ttl": 0}, "ttl: 0 is not allowed; allowed: a number of seconds > 0"),
        ({"ttl": float("nan")}, "ttl: nan is not allowed"),
        ({"ttl": True}, "ttl: True is not allowed"),
    ],
)
def test_settings_that_are_invalid(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        MemorySessions(**options)


def test_a_conversation_keeps_a_few_lines_and_a_line_a_few_beginnings() -> None:
    kept = SwitchSession()
    for number in range(100):
        kept = kept.with_line(RequestLine(f"first {number}"))
    newest = [f"first {number}" for number in range(99, 35, -1)]
    assert [line.first for line in kept.lines] == newest
    line = RequestLine("first")
    for number in range(50):
        line = line.with_prefix(Prefix("a", number, f"digest {number}", b""))
    assert [prefix.count for prefix in line.prefixes] == [49, 48, 47, 46]


def test_a_new_line_evicts_only_new_lines() -> None:
    prefixes = (Prefix("a", 1, "digest", b""),)
    kept = SwitchSession()
    for number in range(64):
        kept = kept.with_line(RequestLine(f"first {number}", prefixes=prefixes))
    assert [line.first for line in kept.with_line(RequestLine("new")).lines][:2] == [
        "new",
        "first 63",
    ]


def test_an_answer_counts_where_it_is_not_known_who_was_asked() -> None:
    """As after a restart."""
    asked = RequestLine("first", "a", "", (Prefix("b", 1, "digest", b""),))
    assert asked.answered_by("b").backend == "b"
    assert replace(asked, prefixes=()).answered_by("b").backend == SEVERAL


def test_a_conversation_that_was_forgotten_is_carried_afresh() -> None:
    made = SummarizeTransformer(sessions=MemorySessions(max_entries=1))
    made.answered("c", "a", tenant="t")
    assert made.transform(REQUEST, **WHERE).is_switched
    made.answered("d", "a", tenant="t")
    assert not made.transform(REQUEST, **WHERE).is_switched


class Counted(MemorySessions):
    """Sessions that count how often they are written."""

    saved = 0

    def save(self, key: SessionKey, session: SwitchSession) -> None:
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
