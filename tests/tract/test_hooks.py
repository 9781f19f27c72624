"""Hooks on incoming tool results. The original is always kept."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from toolcarry import ConfigError
from toolcarry.errors import StoreError
from toolcarry.tract import TOOL_SUMMARIZE_SYSTEM, PendingToolResult, Tract

Opener = Callable[..., Tract]

LONG = "a line of output\n" * 40


class Recorder:
    """A summarizer with a name that keeps what it was asked."""

    model = "test-1"

    def __init__(self, answer: str = "Short.") -> None:
        self.asked: list[tuple[str, str]] = []
        self.answer = answer

    def __call__(self, text: str, instructions: str) -> str:
        self.asked.append((text, instructions))
        return self.answer


def shown(tract: Tract) -> list[str]:
    return [tract.get_content(result) for result in tract.find_tool_results()]


def test_tools_that_are_named_are_summarized_always(memory: Opener) -> None:
    recorder = Recorder()
    tract = memory(summarizer=recorder)
    tract.configure_tool_summarization({"grep": "Keep the paths."})
    original = tract.tool_result("t1", "grep", "a.py:1")
    tract.tool_result("t2", "Bash", LONG)
    assert recorder.asked == [("a.py:1", f"{TOOL_SUMMARIZE_SYSTEM}\n\nKeep the paths.")]
    assert shown(tract) == ["Short.", LONG]
    assert tract.get_content(original) == "a.py:1"
    first, newer = tract.history_of(original.commit_hash)
    assert first == original
    assert newer.metadata["provenance"] == {
        "by": "summarizer",
        "model": "test-1",
        "instructions": recorder.asked[0][1],
        "tokens_before": original.token_count,
        "tokens_after": 2,
    }


def test_results_over_a_threshold(memory: Opener) -> None:
    recorder = Recorder()
    tract = memory(summarizer=recorder)
    tract.configure_tool_summarization(
        {"grep": "Keep the paths."}, auto_threshold=50, default_instructions="Keep errors."
    )
    tract.tool_result("t1", "grep", "a.py:1")
    tract.tool_result("t2", "grep", LONG)
    tract.tool_result("t3", "Bash", LONG)
    assert [asked[1].rpartition("\n\n")[2] for asked in recorder.asked] == [
        "Keep the paths.",
        "Keep errors.",
    ]
    assert shown(tract) == ["a.py:1", "Short.", "Short."]


def test_no_summaries_any_more(memory: Opener) -> None:
    recorder = Recorder()
    tract = memory(summarizer=recorder)
    tract.configure_tool_summarization(auto_threshold=0)
    tract.configure_tool_summarization()
    tract.tool_result("t1", "Bash", LONG)
    assert recorder.asked == []


def test_a_handler_takes_the_place_of_the_default(memory: Opener) -> None:
    recorder = Recorder()
    tract = memory(summarizer=recorder)
    tract.configure_tool_summarization(auto_threshold=0)
    seen: list[tuple[str, str, int, Tract]] = []

    def handler(pending: PendingToolResult) -> None:
        seen.append((pending.tool_name, pending.content, pending.token_count, pending.tract))

    tract.on("tool_result", handler)
    commit = tract.tool_result("t1", "Bash", LONG)
    assert seen == [("Bash", LONG, commit.token_count, tract)]
    assert recorder.asked == []
    tract.off("tool_result")
    tract.tool_result("t2", "Bash", LONG)
    assert len(seen) == len(recorder.asked) == 1


@pytest.mark.parametrize(
    ("handle", "wanted"),
    [
        (lambda pending: pending.approve(), LONG),
        (lambda pending: pending.edit("Edited."), "Edited."),
        (lambda pending: pending.summarize("Be brief."), "Short."),
        (lambda pending: pending.reject("a secret"), "[toolcarry: result rejected: a secret]"),
        (lambda _: None, LONG),
    ],
)
def test_actions_of_a_handler(
    memory: Opener, handle: Callable[[PendingToolResult], object], wanted: str
) -> None:
    tract = memory(summarizer=Recorder())
    tract.on("tool_result", handle)
    original = tract.tool_result("t1", "Bash", LONG, is_error=True)
    assert tract.get_content(original) == LONG
    assert shown(tract) == [wanted]
    assert all(result.is_error for result in tract.find_tool_results())
    assert tract.counts == {}


def test_an_edit_fires_no_hook(memory: Opener) -> None:
    tract = memory()
    fired: list[str] = []
    tract.on("tool_result", lambda pending: fired.append(pending.content))
    commit = tract.tool_result("t1", "Bash", "one")
    tract.tool_result("t1", "Bash", "two", edit=commit.commit_hash)
    assert fired == ["one"]


WORDS = "the patient said: out of order"


def fail(*_: object) -> str:
    raise RuntimeError(WORDS)


def twice(pending: PendingToolResult) -> None:
    pending.approve()
    pending.edit("too late")


@pytest.mark.parametrize("handler", [fail, twice, lambda pending: pending.summarize()])
def test_a_handler_never_changes_the_original(
    memory: Opener, handler: Callable[[PendingToolResult], object], caplog: pytest.LogCaptureFixture
) -> None:
    tract = memory()
    tract.on("tool_result", handler)
    with caplog.at_level(logging.WARNING, "toolcarry.tract"):
        tract.tool_result("t1", "Bash", LONG)
    assert shown(tract) == [LONG]
    assert tract.counts == {"hook_failed": 1}
    assert "the original stays" in caplog.text
    assert WORDS not in caplog.text  # the words of an error may hold what was said


@pytest.mark.parametrize("summarizer", [fail, Recorder(""), Recorder("  \n"), Recorder(LONG)])
def test_a_summarizer_that_fails_lets_the_original_pass(
    memory: Opener, summarizer: Callable[[str, str], str]
) -> None:
    tract = memory(summarizer=summarizer)
    tract.configure_tool_summarization(auto_threshold=0)
    tract.tool_result("t1", "Bash", LONG)
    assert shown(tract) == [LONG]
    assert tract.counts == {"hook_failed": 1}


def test_a_handler_may_do_another_thing_where_one_failed(memory: Opener) -> None:
    def shorten(pending: PendingToolResult) -> None:
        try:
            pending.summarize()
        except RuntimeError:
            pending.edit(pending.content[:10])

    def break_off(text: str, instructions: str) -> str:
        raise RuntimeError

    tract = memory(summarizer=break_off)
    tract.on("tool_result", shorten)
    tract.tool_result("t1", "Bash", LONG)
    assert (shown(tract), tract.counts) == ([LONG[:10]], {})


def test_a_handler_may_be_a_coroutine(memory: Opener) -> None:
    async def shorten(pending: PendingToolResult) -> None:
        await asyncio.sleep(0)
        pending.edit("Short.")

    async def break_off(pending: PendingToolResult) -> None:
        await asyncio.sleep(0)
        raise RuntimeError

    async def in_a_loop() -> None:
        await tract.atool_result("t2", "Bash", LONG)
        tract.tool_result("t3", "Bash", LONG)

    tract = memory()
    tract.on("tool_result", shorten)
    tract.tool_result("t1", "Bash", LONG)
    asyncio.run(in_a_loop())
    assert shown(tract) == ["Short."] * 3
    tract.on("tool_result", break_off)
    tract.tool_result("t4", "Bash", LONG)
    assert (shown(tract)[3], tract.counts) == (LONG, {"hook_failed": 1})


def test_an_interrupt_is_no_failure(memory: Opener) -> None:
    def interrupt(pending: PendingToolResult) -> None:
        raise KeyboardInterrupt

    tract = memory()
    tract.on("tool_result", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tract.tool_result("t1", "Bash", LONG)
    assert shown(tract) == [LONG]


def test_a_summarizer_may_be_a_coroutine(memory: Opener) -> None:
    async def summarize(text: str, instructions: str) -> str:
        await asyncio.sleep(0)
        return "Short."

    tract = memory(summarizer=summarize)
    commit = tract.tool_result("t1", "Bash", LONG)
    tract.summarize_result(commit.commit_hash)
    assert shown(tract) == ["Short."]

    async def in_a_loop() -> None:
        other = await tract.atool_result("t2", "Bash", LONG)
        await tract.asummarize_result(other.commit_hash)
        third = tract.tool_result("t3", "Bash", LONG)
        tract.summarize_result(third.commit_hash)

    asyncio.run(in_a_loop())
    assert shown(tract) == ["Short."] * 3


def test_refused_arguments(memory: Opener) -> None:
    tract = memory()
    with pytest.raises(ConfigError, match="event: 'commit' is not allowed"):
        tract.on("commit", fail)
    with pytest.raises(ConfigError, match="event"):
        tract.off("commit")
    with pytest.raises(ConfigError, match="auto_threshold: -1"):
        tract.configure_tool_summarization(auto_threshold=-1)
    with pytest.raises(ConfigError, match="needs a summarizer"):
        tract.configure_tool_summarization(auto_threshold=1)


@pytest.mark.parametrize("handler", [5, None, "summarize"])
def test_a_handler_that_cannot_be_called(memory: Opener, handler: object) -> None:
    with pytest.raises(ConfigError, match=r"handler: .* allowed: a callable"):
        memory().on("tool_result", handler)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"instructions": {"B": 5}}, r"instructions\['B'\]: 5"),
        ({"instructions": {5: "Keep the paths."}}, r"instructions\[5\]: 'Keep the paths.'"),
        ({"instructions": ["Bash"]}, r"instructions: \['Bash'\]"),
        ({"instructions": 0}, "instructions: 0"),
        ({"auto_threshold": 5, "default_instructions": 5}, "default_instructions: 5"),
    ],
)
def test_instructions_that_are_no_text(
    memory: Opener, settings: dict[str, object], key: str
) -> None:
    with pytest.raises(ConfigError, match=f"{key} is not allowed"):
        memory(summarizer=Recorder()).configure_tool_summarization(**settings)


def test_a_pending_result_is_settled_once(memory: Opener) -> None:
    tract = memory()
    kept: list[PendingToolResult] = []
    tract.on("tool_result", kept.append)
    tract.tool_result("t1", "Bash", "one")
    kept[0].edit("two")
    with pytest.raises(StoreError, match="already settled"):
        kept[0].reject("no")
    assert shown(tract) == ["two"]


@pytest.mark.parametrize("name", ["grep", "Grep", "mcp__srv__grep"])
def test_a_tool_is_named_in_any_case_and_on_any_server(memory: Opener, name: str) -> None:
    recorder = Recorder()
    tract = memory(summarizer=recorder)
    tract.configure_tool_summarization({"grep": "Keep the paths."})
    tract.tool_result("t1", name, "a.py:1")
    assert recorder.asked == [("a.py:1", f"{TOOL_SUMMARIZE_SYSTEM}\n\nKeep the paths.")]
