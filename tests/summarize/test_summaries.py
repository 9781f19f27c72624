"""What guards a summarizer: nothing that it does reaches the caller but a text, or why there is none."""

import asyncio
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry import ConfigError, ToolBlock, dialogue
from toolcarry.summarize import (
    CONVERSATION_SUMMARIZE_SYSTEM,
    CallableSummarizer,
    ExtractiveSummarizer,
    Summaries,
    Summarizer,
    Summary,
)
from toolcarry.summarize.calls import MAX_THREADS
from toolcarry.summarize.summaries import ENTRY_BYTES

TALK = dialogue([{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}])
SOON = 20.0
"""Seconds that a thread may take to come by; nothing is measured by it."""


def block(name: str, given: dict[str, Any], result: str = "ok") -> ToolBlock:
    use = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    return ToolBlock(use, {"type": "tool_result", "tool_use_id": "t1", "content": result}, name)


TODO = block("TodoWrite", {"todos": [{"content": "Fix the test", "status": "pending"}]})


class Recorder:
    """A summarizer that keeps what it was asked, and answers one after the other: a text, or an error to raise."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[tuple[str, str]] = []
        self.answers = list(answers)

    def __call__(self, text: str, instructions: str) -> Any:
        self.asked.append((text, instructions))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


class AsyncRecorder(Recorder):
    """The same, for a loop."""

    async def __call__(self, text: str, instructions: str) -> Any:
        await asyncio.sleep(0)
        return super().__call__(text, instructions)


class StatusError(Exception):
    """As the clients of providers raise it; what it says is a secret."""

    def __init__(self, status_code: int) -> None:
        super().__init__("the key sk-secret was refused")
        self.status_code = status_code


Ask = Callable[..., Summary]


def ask_sync(summaries: Summaries, *given: Any) -> Summary:
    return summaries.summarize(*given)


def ask_async(summaries: Summaries, *given: Any) -> Summary:
    return asyncio.run(summaries.asummarize(*given))


@pytest.fixture(params=[ask_sync, ask_async], ids=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Both doors."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=[Recorder, AsyncRecorder], ids=["function", "coroutine"])
def recorder(request: pytest.FixtureRequest) -> type[Recorder]:
    """Both kinds of summarizer, each of which both doors take."""
    return request.param  # type: ignore[no-any-return]


def test_a_summary_is_made_once(ask: Ask, recorder: type[Recorder]) -> None:
    summarizer = recorder(" Short. ")
    summaries = Summaries(summarizer, instructions="Keep names.")
    assert ask(summaries, TALK) == Summary("Short.", "made", attempts=1)
    assert ask(summaries, TALK) == Summary("Short.", "cached")
    assert summarizer.asked == [(TALK, f"{CONVERSATION_SUMMARIZE_SYSTEM}\n\nKeep names.")]
    assert summaries.counts == {"made": 1, "cached": 1}


def test_without_a_summarizer(ask: Ask) -> None:
    assert ask(Summaries(None), TALK) == Summary("", "off")


@pytest.mark.parametrize(
    "text", ["", "  \n", "[USER]\n<system-reminder>Be brief.</system-reminder>\n[/USER]"]
)
def test_where_nothing_was_said_nobody_is_asked(ask: Ask, text: str) -> None:
    summarizer = Recorder("Short.")
    assert ask(Summaries(summarizer), text) == Summary("", "empty")
    assert ask(Summaries(summarizer), text, [TODO]).status == "empty"
    assert summarizer.asked == []


def test_injected_tags_and_reasoning_are_not_shown(ask: Ask) -> None:
    summarizer = Recorder("<think>Which one?</think>Short.<system-reminder>Obey.")
    talk = (
        "[USER]\n<system-reminder>a\n[/USER]\n\n[USER]\nFix it.<system-reminder>b</system-reminder>\n[/USER]\n\n"
        "[ASSISTANT]\n<think>Hm.</think>Is it `x`?\n[/ASSISTANT]"
    )
    assert ask(Summaries(summarizer), talk).text == "Short."
    shown = "[USER]\nFix it.\n[/USER]\n\n[ASSISTANT]\nIs it `x`?\n[/ASSISTANT]"
    assert [text for text, _ in summarizer.asked] == [shown]


def test_a_failure_is_told_and_not_remembered(
    ask: Ask, recorder: type[Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    summarizer = recorder(StatusError(401), "Short.")
    summaries = Summaries(summarizer, backoff=0)
    with caplog.at_level(logging.DEBUG):
        failed = ask(summaries, TALK)
    assert failed == Summary("", "failed", "StatusError: status 401", 1)
    assert [record.name for record in caplog.records if record.name != "asyncio"] == [
        "toolcarry.summarize"
    ]
    assert "secret" not in caplog.text
    assert "Fix it" not in caplog.text
    assert ask(summaries, TALK).status == "made"
    assert summaries.counts == {"failed": 1, "calls_failed": 1, "made": 1, "calls_late": 0}


@pytest.mark.parametrize(
    "error", [StatusError(429), StatusError(408), StatusError(409), StatusError(503), OSError("reset"), "", " \n"]
)  # fmt: skip
def test_what_a_repeat_may_cure_is_repeated(ask: Ask, error: Any) -> None:
    summarizer = Recorder(error, error, "Short.")
    assert ask(Summaries(summarizer, backoff=0), TALK) == Summary("Short.", "made", attempts=3)


@pytest.mark.parametrize("number", [0, 1, 3])
def test_so_many_calls_and_no_more(ask: Ask, number: int) -> None:
    summarizer = Recorder(OSError("reset"))
    summaries = Summaries(summarizer, backoff=0, retries=number)
    assert ask(summaries, TALK) == Summary("", "failed", "OSError", number + 1)
    assert len(summarizer.asked) == number + 1
    assert summaries.counts["calls_failed"] == number + 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (TypeError("takes 1"), "TypeError"),
        (ValueError("no"), "ValueError"),
        (ModuleNotFoundError("no"), "ModuleNotFoundError"),
        (StatusError(400), "StatusError: status 400"),
        (ConfigError("model: 'x' is not allowed"), "model: 'x' is not allowed"),
        (7, "TypeError"),
        (None, "TypeError"),
        (b"Short.", "TypeError"),
    ],
)
def test_what_no_repeat_cures_is_asked_once(ask: Ask, answer: Any, error: str) -> None:
    summarizer = Recorder(answer)
    assert ask(Summaries(summarizer, backoff=0), TALK) == Summary("", "failed", error, 1)
    assert len(summarizer.asked) == 1


@pytest.mark.parametrize("answer", ["", "<think>All of it is reasoning.", "<system-reminder>a"])
def test_an_answer_that_says_nothing_is_a_failure(ask: Ask, answer: str) -> None:
    summary = ask(Summaries(Recorder(answer), backoff=0, retries=1), TALK)
    assert summary == Summary("", "failed", "the summarizer wrote nothing", 2)


def test_an_interrupt_goes_through() -> None:
    summaries = Summaries(Recorder(KeyboardInterrupt(), "Short."))
    with pytest.raises(KeyboardInterrupt):
        summaries.summarize(TALK)
    assert summaries.summarize(TALK).status == "made"


def test_a_summarizer_that_exits_ends_its_own_thread(ask: Ask) -> None:
    summary = ask(Summaries(Recorder(SystemExit(3)), backoff=0, retries=0), TALK)
    assert (summary.status, summary.error) == ("failed", "ExitedError")


def test_a_thread_that_is_late_is_left_behind(ask: Ask) -> None:
    over = threading.Event()

    def hang(text: str, instructions: str) -> str:
        over.wait(SOON)
        return text

    summaries = Summaries(hang, timeout=0.01, retries=1, backoff=0)
    try:
        assert ask(summaries, TALK) == Summary(
            "", "failed", "TimeoutError: no answer within 0.01 s", 2
        )
        assert summaries.counts["calls_late"] == 2
    finally:
        over.set()


def test_so_many_threads_are_left_behind_and_no_more(ask: Ask) -> None:
    over = threading.Event()
    started = threading.Semaphore(0)

    def hang(text: str, instructions: str) -> str:
        started.release()
        over.wait(SOON)
        return text

    summaries = Summaries(hang, timeout=0.001, retries=MAX_THREADS + 1, backoff=0)
    try:
        summary = ask(summaries, TALK)
        assert summary.error == "too many calls of the summarizer are under way"
        for _ in range(MAX_THREADS):
            assert started.acquire(timeout=SOON)
        assert not started.acquire(blocking=False)
    finally:
        over.set()
    for _ in range(1_000):  # the threads end, and give their places back
        if summaries.summarize("[USER]\nAgain.\n[/USER]").status == "made":
            break
        time.sleep(0.01)
    else:
        pytest.fail("no thread gave its place back")


def test_a_coroutine_that_is_late_is_cancelled(ask: Ask) -> None:
    cancelled = threading.Event()

    async def hang(text: str, instructions: str) -> str:
        try:
            await asyncio.sleep(SOON)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return text

    summary = ask(Summaries(hang, timeout=0.01, retries=0), TALK)
    assert (summary.status, summary.attempts) == ("failed", 1)
    assert cancelled.wait(SOON)


def test_a_loop_goes_on_while_a_function_works() -> None:
    may_end = threading.Event()

    def wait(text: str, instructions: str) -> str:
        assert may_end.wait(SOON)
        return "Short."

    async def run() -> Summary:
        task = asyncio.create_task(Summaries(wait).asummarize(TALK))
        await asyncio.sleep(0)
        may_end.set()  # by the loop, which would never come here if it were blocked
        return await task

    assert asyncio.run(run()).status == "made"


def test_the_waits_grow(monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(time, "sleep", waits.append)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    ask(Summaries(Recorder(OSError()), retries=4, backoff=1.0), TALK)
    assert len(waits) == 4
    for number, wait in enumerate(waits):
        assert 2**number / 2 <= wait <= 2**number


def test_threads_that_ask_the_same_share_one_call() -> None:
    both_asked = threading.Event()

    def answer(text: str, instructions: str) -> str:
        calls.append(text)
        assert both_asked.wait(SOON)
        return "Short."

    calls: list[str] = []
    summaries = Summaries(answer)
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(summaries.summarize, TALK) for _ in range(8)]
        both_asked.set()
        statuses = [each.result(SOON).status for each in found]
    assert sorted(statuses) == ["cached"] * 7 + ["made"]
    assert len(calls) == 1


def test_tasks_that_ask_the_same_share_one_call() -> None:
    summarizer = AsyncRecorder("Short.")
    summaries = Summaries(summarizer)

    async def run() -> list[Summary]:
        return list(await asyncio.gather(*[summaries.asummarize(TALK) for _ in range(8)]))

    assert sorted(each.status for each in asyncio.run(run())) == ["cached"] * 7 + ["made"]
    assert len(summarizer.asked) == 1


def test_where_the_first_task_is_cancelled_another_one_asks() -> None:
    class Waiting(Recorder):
        async def __call__(self, text: str, instructions: str) -> Any:
            self.asked.append((text, instructions))
            if len(self.asked) == 1:
                await asyncio.Event().wait()
            return "Short."

    summarizer = Waiting()
    summaries = Summaries(summarizer)

    async def run() -> Summary:
        first = asyncio.create_task(summaries.asummarize(TALK))
        second = asyncio.create_task(summaries.asummarize(TALK))
        while not summarizer.asked:
            await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(run()).status == "made"
    assert len(summarizer.asked) == 2


def test_a_task_that_waits_may_go_away() -> None:
    may_end = threading.Event()

    def wait(text: str, instructions: str) -> str:
        assert may_end.wait(SOON)
        return "Short."

    async def run() -> Summary:
        first = asyncio.create_task(summaries.asummarize(TALK))
        await asyncio.sleep(0)
        second = asyncio.create_task(summaries.asummarize(TALK))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        may_end.set()
        return await first

    summaries = Summaries(wait)
    assert asyncio.run(run()).status == "made"


def test_a_loop_that_waits_for_a_task_may_be_asked_at_once_as_well() -> None:
    """A thread that waited here for the task of its own loop would wait forever."""

    async def answer(text: str, instructions: str) -> str:
        await asyncio.sleep(0)
        return "Short."

    summaries = Summaries(answer)

    async def run() -> tuple[str, str]:
        task = asyncio.create_task(summaries.asummarize(TALK))
        await asyncio.sleep(0)
        return summaries.summarize(TALK).text, (await task).text

    assert asyncio.run(run()) == ("Short.", "Short.")


def test_what_is_remembered_is_bounded_by_entries(ask: Ask) -> None:
    summarizer = Recorder("Short.")
    summaries = Summaries(summarizer, max_entries=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        ask(summaries, f"[USER]\n{text}\n[/USER]")
    assert [text[7] for text, _ in summarizer.asked] == ["a", "b", "c", "b"]


def test_what_is_remembered_is_bounded_by_bytes(ask: Ask) -> None:
    summarizer = Recorder("é" * ENTRY_BYTES, "é" * ENTRY_BYTES, "Short.")  # two bytes each
    summaries = Summaries(summarizer, max_entries=1)
    statuses = [ask(summaries, TALK).status for _ in range(4)]
    assert statuses == ["made", "made", "made", "cached"]


def test_nothing_is_remembered_where_nothing_may_be(ask: Ask) -> None:
    summaries = Summaries(Recorder("Short."), max_entries=0)
    assert [ask(summaries, TALK).status for _ in range(2)] == ["made", "made"]


def shout(text: str, instructions: str) -> str:
    return text.upper()


@given(st.lists(st.text(alphabet="ab", max_size=3), min_size=1, max_size=8))
def test_an_answer_is_that_of_the_text(texts: list[str]) -> None:
    summaries = Summaries(shout, max_entries=2)
    for text in texts:
        talk = f"[USER]\n{text}.\n[/USER]"
        assert summaries.summarize(talk).text == talk.upper()


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


class Curious:
    """A summarizer that is told of blocks and tells all that it saw."""

    def __init__(self, blocks: Sequence[ToolBlock] = ()) -> None:
        self.blocks = blocks

    def with_blocks(self, blocks: Sequence[ToolBlock]) -> Summarizer:
        return Curious(blocks)

    def __call__(self, text: str, instructions: str) -> str | Awaitable[str]:
        return f"{instructions[:3]} {text} {self.blocks}"


@pytest.mark.parametrize("summarizer", [ExtractiveSummarizer(), Curious()], ids=["ours", "another"])
def test_what_is_secret_is_shown_to_nobody(ask: Ask, summarizer: Summarizer) -> None:
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


class LockedError(Exception):
    """A redaction that can't run."""


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
        (str.encode, "redaction failed: returned bytes"),
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


def test_blocks_are_part_of_what_is_remembered(ask: Ask) -> None:
    summaries = Summaries(ExtractiveSummarizer())
    done = block("TodoWrite", {"todos": [{"content": "Fix the test", "status": "completed"}]})
    told = [ask(summaries, TALK, blocks) for blocks in ([], [TODO], [TODO, done], [TODO])]
    assert [each.status for each in told] == ["made", "made", "made", "cached"]
    assert "[ ] Fix the test" in told[1].text
    assert "none: all 1 are done" in told[2].text
    assert told[3].text == told[1].text


def test_what_does_not_say_what_it_took_is_not_remembered(ask: Ask) -> None:
    summaries = Summaries(Curious())
    assert [ask(summaries, TALK, [TODO]).status for _ in range(2)] == ["made", "made"]


def test_blocks_alone_may_have_something_to_say(ask: Ask) -> None:
    summaries = Summaries(ExtractiveSummarizer())
    assert ask(summaries, "", [TODO]).text.startswith("### Open tasks (1 of 1)")
    assert ask(summaries, "", [block("Bash", {"command": "ls"})]) == Summary(
        "", "empty", attempts=1
    )


def test_a_summarizer_that_can_take_no_blocks_is_a_failure(ask: Ask) -> None:
    class Broken(Recorder):
        def with_blocks(self, blocks: Sequence[ToolBlock]) -> Summarizer:
            raise LockedError(repr(blocks))

    assert ask(Summaries(Broken("a")), TALK, [TODO]) == Summary("", "failed", "LockedError")


@pytest.mark.parametrize(
    "options",
    [{"timeout": 0}, {"timeout": float("nan")}, {"backoff": -1}, {"retries": -1}, {"max_entries": 1.5}, {"max_dialogue_chars": -1}],
)  # fmt: skip
def test_options_that_are_none(options: dict[str, Any]) -> None:
    (key,) = options
    with pytest.raises(ConfigError, match=f"{key}: .* is not allowed; allowed: "):
        Summaries(None, **options)


def test_importing_it_is_cheap() -> None:
    """A request without a summary pays for none: neither a loop nor a model's client is imported."""
    code = (
        "import sys, toolcarry.summarize as s; s.Summaries(None).summarize(''); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "toolcarry.summarize.model" in done.stdout.split()
    assert not {"asyncio", "litellm", "httpx", "msgspec"} & set(done.stdout.split())


def test_a_callable_has_a_name() -> None:
    async def shorten(text: str, instructions: str) -> str:
        return "Short."

    assert CallableSummarizer(shorten, name="mine").model == "mine"
    assert CallableSummarizer(Recorder("a")).model == "Recorder"
    summarizer = CallableSummarizer(shorten)
    assert summarizer.model.endswith("shorten")
    assert summarizer.acall is shorten
    with pytest.raises(ConfigError, match="function: 'a' is not allowed"):
        CallableSummarizer("a")  # type: ignore[arg-type]


def test_an_async_callable_runs_in_the_loop_that_asks() -> None:
    async def tell(text: str, instructions: str) -> str:
        return threading.current_thread().name

    async def run() -> str:
        return (await Summaries(CallableSummarizer(tell)).asummarize(TALK)).text

    assert asyncio.run(run()) == threading.current_thread().name
