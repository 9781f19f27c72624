"""The offline summary: readable cases, and the guarantees that it gives."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each
from support.transcripts import TRANSCRIPTS, real_conversations

import toolcarry
from toolcarry import ConfigError, dialogue, extract_tool_blocks
from toolcarry.summarize import ExtractiveSummarizer, run_summarizer
from toolcarry.summarize.dialogue import DialogueTurn
from toolcarry.summarize.extractive import find_decisions

CASES = Path(__file__).parent / "cases"

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str, *calls: tuple[str, Message]) -> Message:
    uses = [
        {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        for number, (name, given) in enumerate(calls)
    ]
    return {"role": "assistant", "content": [{"type": "text", "text": text}, *uses]}


def results(*texts: str, is_error: bool = False) -> Message:
    parts = [
        {"type": "tool_result", "tool_use_id": f"t{number}", "content": text, "is_error": is_error}
        for number, text in enumerate(texts)
    ]
    return {"role": "user", "content": parts}


def todo(content: str, status: str) -> Message:
    return {"content": content, "status": status, "activeForm": content}


SESSION = [
    user("<system-reminder>Never mention this.</system-reminder>\nThe login test fails now and then. Find out why.\n\n```\nE  assert 401 == 200\n```"),
    said(
        "I'll read the test first.",
        ("Read", {"file_path": "tests/test_login.py"}),
        ("mcp__editor__Read", {"file_path": "app/login.py"}),
        ("TodoWrite", {"todos": [todo("Find the cause", "in_progress"), todo("Fix it", "pending"), todo("Run the tests", "pending")]}),
    ),
    results("def test_login(): ...", "def login(): ...", "ok"),
    said("The root cause is the clock: the token expires in the second in which it is made."),
    user("Good. Don't sleep in the test; let's use a fixed clock instead of the real one. Is that hard?"),
    said("No.", ("Edit", {"file_path": "app/login.py", "old_string": "a", "new_string": "b"})),
    results("ok"),
    said("", ("Edit", {"file_path": "app/clock.py", "old_string": "a", "new_string": "b"})),
    results("not found", is_error=True),
    said("", ("Edit", {"file_path": "app/login.py", "old_string": "b", "new_string": "c"}),
        ("TodoWrite", {"todos": [todo("Find the cause", "completed"), todo("Run the tests", "pending"), todo("Fix it", "in_progress")]})),
    results("ok", "ok"),
    said("The clock can be given now. Shall I change the test as well?"),
    user("[Request interrupted by user]"),
    user("Yes, both tests."),
]  # fmt: skip


def summary_of(messages: list[Message], **options: int) -> str:
    summarizer = ExtractiveSummarizer(**options).with_blocks(extract_tool_blocks(messages))
    return run_summarizer(summarizer, dialogue(messages), "")


LONG = [
    user("Translate the manual. " + "It has many chapters. " * 40),
    said("Wir verwenden die alte Übersetzung. Je lis le texte.\n- Nous utilisons le glossaire.\n我们改用新的词汇表。今日は晴れ。"),
    *[user(f"Chapter {number}: " + "translate it with care. " * number) for number in range(1, 14)],
    said("Chapter 13 is done."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "messages", "max_chars"),
    [("session", SESSION, 4_000), ("session_small", SESSION, 500), ("long", LONG, 1_500)],
)
def test_golden(name: str, messages: list[Message], max_chars: int) -> None:
    text = summary_of(messages, max_chars=max_chars)
    expected = (CASES / f"{name}.md").read_text(encoding="utf-8")
    assert f"{text}\n" == expected
    assert len(text) <= max_chars


def test_a_carried_summary_keeps_its_layout() -> None:
    """Nothing is escaped under ``## Summary``, because its headings and fences are valid there."""
    text = summary_of(SESSION)
    context = toolcarry.carry(SESSION, summary=text).text
    assert "### Open tasks (2 of 3)\n\n- [ ] Fix it (in progress)" in context
    assert "### First request\n\n> The login test fails" in context


def test_a_fence_that_a_user_left_open_swallows_nothing() -> None:
    text = summary_of([user("Look:\n```\nx = 1"), said("I see."), user("Fix it.")])
    assert text.startswith("### First request\n\n> Look:\n> ```\n> x = 1\n\n### Latest requests")


def test_nothing_said_is_nothing() -> None:
    assert ExtractiveSummarizer()("", "") == ""


def test_a_text_without_turns_is_cut_in_its_middle() -> None:
    text = ExtractiveSummarizer(max_chars=200)("head " + "x" * 1_000 + " tail", "")
    assert text.startswith("head ")
    assert text.endswith(" tail")
    assert "\n[...]\n" in text
    assert len(text) == 200


def test_the_newest_request_gets_the_remaining_room() -> None:
    text = summary_of([user("a"), user("b"), user("c " * 300)], max_chars=400)
    newest = text.split("\n\n")[-1]
    assert "> b" in text
    assert len(newest) > 250


def test_repeated_requests_are_quoted_once() -> None:
    text = summary_of([user("Go."), *[user("Go on."), said("Done.")] * 3])
    assert text.count("> Go on.") == 1


@for_each("max_chars", [199, -1, 0, True, "4000", None])
def test_sizes_that_are_invalid(max_chars: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"max_chars: .* is not allowed; allowed: an integer >= 200"
    ):
        ExtractiveSummarizer(max_chars=max_chars)


@for_each(
    "sentence",
    [
        "We decided to keep SQLite.",
        "Let's use the second one.",
        "The root cause is a stale cache.",
        "I'll replace the loop with a query.",
        "Use `uv` instead of pip.",
        "Wir bleiben bei der alten Fassung.",
        "Stattdessen nehmen wir die zweite.",
        "On garde la première version au lieu de la seconde.",
        "Usaremos SQLite en lugar de Postgres.",
        "我们决定使用第二个方案。",
        "二番目の案を使うことにします。",
    ],
)
def test_sentences_that_are_decisions(sentence: str) -> None:
    turn = DialogueTurn("ASSISTANT", f"I read both files. {sentence}\nNow the tests run.")
    assert find_decisions([turn]) == [sentence]


@for_each(
    "text",
    [
        "Let me look at the file.",
        "Shall we use the second one instead of the first?",
        "I will read the file now.",
        "```\n# we decided to keep SQLite\n```",
        "Let's look at the test.",
        "We decided " + "x" * 400,
        "Die Tests laufen. Les tests passent. Las pruebas pasan. 测试通过。",
    ],
)
def test_sentences_that_are_not_decisions(text: str) -> None:
    assert find_decisions([DialogueTurn("ASSISTANT", text)]) == []


def test_a_repeated_decision_keeps_its_last_position() -> None:
    turns = [
        DialogueTurn("USER", "Let's use A.\nLet's use B."),
        DialogueTurn("USER", "Let's use A."),
    ]
    assert find_decisions(turns) == ["Let's use B.", "Let's use A."]


TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=300) | st.sampled_from(
    ["Let's use A. " * 30, "\n" * 500, "> ```\n" * 50, "é" * 700, "👩‍👩‍👧" * 90, "a\n" * 300]
)
TODOS = st.lists(
    st.builds(todo, TEXTS, st.sampled_from(["pending", "in_progress", "completed"])), max_size=8
)
CALLS = st.one_of(
    st.builds(lambda path: ("Read", {"file_path": path}), TEXTS),
    st.builds(lambda path: ("Write", {"file_path": path, "content": ""}), TEXTS),
    st.builds(lambda todos: ("TodoWrite", {"todos": todos}), TODOS),
)
TALKS = st.lists(
    st.one_of(
        TEXTS.map(user),
        st.builds(lambda text, calls: said(text, *calls), TEXTS, st.lists(CALLS, max_size=5)),
        st.builds(lambda: results(*["ok"] * 5)),
    ),
    max_size=12,
)


@given(TALKS, st.integers(200, 2_000))
def test_it_is_never_longer_and_always_the_same(messages: list[Message], max_chars: int) -> None:
    text = summary_of(messages, max_chars=max_chars)
    assert len(text) <= max_chars
    assert summary_of(messages, max_chars=max_chars) == text


@given(st.text(max_size=600), st.integers(200, 400))
def test_any_text_is_taken(text: str, max_chars: int) -> None:
    assert len(ExtractiveSummarizer(max_chars=max_chars)(text, "")) <= max_chars


@given(TALKS, st.integers(200, 2_000))
def test_where_something_was_asked_something_is_said(
    messages: list[Message], max_chars: int
) -> None:
    text = summary_of([user("Fix it."), *messages], max_chars=max_chars)
    assert text != ""


@for_each(
    "text",
    ["a. " * 300_000, "\n" * 500_000, "[USER]\n" * 100_000, "[USER]\nx\n[/USER]\n" * 20_000, "x" * 1_000_000],
    ids=range(5),
)  # fmt: skip
def test_hostile_dialogues_end(text: str) -> None:
    assert len(ExtractiveSummarizer()(text, "")) <= 4_000


def test_real_sessions(real_transcripts: object) -> None:
    summarized = 0
    for _, messages in real_conversations(TRANSCRIPTS):
        text = summary_of(messages, max_chars=2_000)
        assert len(text) <= 2_000
        assert "<command-name>" not in text
        summarized += bool(text)
    assert summarized > 10
