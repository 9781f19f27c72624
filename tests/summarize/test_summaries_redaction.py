"""The input of a summarizer: no secrets, and no more of a dialogue than allowed."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.providers.summarizers import TALK, TODO, Ask, Curious, LockedError, Recorder, block

from toolcarry import ToolBlock, dialogue
from toolcarry.summarize import (
    ExtractiveSummarizer,
    Summaries,
    Summarizer,
    Summary,
)


def test_a_dialogue_that_is_too_long_keeps_its_ends(ask: Ask) -> None:
    summarizer = Recorder("Short.")
    texts = [f"{letter} " + letter * 98 for letter in "abcdefghij"]
    talk = dialogue([{"role": "user", "content": text} for text in texts])
    ask(Summaries(summarizer, max_dialogue_chars=500), talk)
    shown = summarizer.asked[0][0]
    assert [letter for letter in "abcdefghij" if f"\n{letter} " in shown] == ["a", "h", "i", "j"]
    assert "[6 turns left out here: 600 characters]" in shown


@pytest.mark.parametrize(("number", "size"), [(1, 10_000), (2, 10_000), (40, 90)])
def test_a_dialogue_is_cut_to_about_the_limit(number: int, size: int) -> None:
    summarizer = Recorder("Short.")
    talk = dialogue([{"role": "user", "content": "x" * size}] * number)
    Summaries(summarizer, max_dialogue_chars=1_000).summarize(talk)
    shown = summarizer.asked[0][0]
    assert 600 <= shown.count("x") <= 1_001
    assert "[...]" in shown or "left out here" in shown


def clean(text: str) -> str:
    return text.replace("sk-secret", "[secret]")


SECRET_BLOCKS = [
    block("Write", {"file_path": "sk-secret.py", "content": "a"}),
    block("TodoWrite", {"todos": [{"content": "Take out sk-secret", "status": "pending"}]}),
    ToolBlock({"type": "function", "function": {"name": "Bash", "arguments": '{"a": "sk-secret"}'}}, None, "Bash", "command:sk-secret"),
]  # fmt: skip


@pytest.mark.parametrize("summarizer", [ExtractiveSummarizer(), Curious()], ids=["ours", "another"])
def test_secrets_reach_no_summarizer(ask: Ask, summarizer: Summarizer) -> None:
    talk = dialogue([{"role": "user", "content": "The key is sk-secret."}])
    summary = ask(Summaries(summarizer, redact=clean), talk, SECRET_BLOCKS)
    assert "[secret]" in summary.text
    assert "Take out [secret]" in summary.text
    assert "sk-secret" not in summary.text


def test_a_secret_is_redacted_before_a_long_dialogue_is_cut() -> None:
    summarizer = Recorder("Short.")
    talk = dialogue([{"role": "user", "content": "x" * 45 + "sk-secret" + "x" * 45}])
    Summaries(summarizer, redact=clean, max_dialogue_chars=94).summarize(talk)
    assert "sk-" not in summarizer.asked[0][0]


def refuse(text: str) -> str:
    raise LockedError(text)


def refuse_tools(text: str) -> str:
    if "Fix the test" in text:
        raise LockedError(text)
    return text


@pytest.mark.parametrize(
    ("redact", "error"),
    [
        (refuse, "redaction failed: LockedError"),
        (refuse_tools, "redaction failed: LockedError"),
        (str.encode, "redaction failed: the function returned bytes, not a string"),
    ],
)
def test_where_redaction_fails_nothing_leaves(
    ask: Ask, redact: Any, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Telling(Recorder):
        def with_blocks(self, blocks: Sequence[ToolBlock]) -> Summarizer:
            self.asked.append((repr(blocks), ""))
            return self

    summarizer = Telling("Short.")
    summaries = Summaries(summarizer, redact=redact)
    assert ask(summaries, TALK, [TODO]) == Summary("", "failed", error)
    assert summarizer.asked == []
    assert summaries.counts == {"failed": 1}
    assert "Fix" not in caplog.text
    assert len([record for record in caplog.records if record.name == "toolcarry.summarize"]) == 1
