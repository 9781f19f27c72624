"""Compaction by a threshold, and what holds of every compaction of every provider's conversations.

The history is what was said, whatever is compacted: nothing in it changes, and what is compiled is valid for every
provider.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.talks import texts, work
from support.examples import examples
from support.providers.validity import PROVIDERS, problems
from support.strategies.requests import requests

from toolcarry import ConfigError, ProjectPolicy, context_usage
from toolcarry.tract import CommitInfo, CompressResult, Kind, Tract
from toolcarry.types.shapes import TARGETS

NOTHING = CompressResult(None, (), (), 0, 0)
SAID = (Kind.MESSAGE, Kind.CALL, Kind.RESULT, Kind.RECORD)
LONG = "def add(first, second): return first + second\n" * 30


def short(text: str, instructions: str) -> str:
    """A summarizer that tells how much it was given."""
    return f"Summary of {len(text)} characters."


def assert_compiles(tract: Tract, valid: set[str]) -> None:
    """Every style is valid that was so before, and all styles are with ``repair``."""
    for style in TARGETS:
        if style in valid:
            assert problems(style, tract.compile(style=style)) == [], style
        mended = tract.compile(style=style, policy=ProjectPolicy(repair=True))
        assert problems(style, mended) == [], style


def valid_styles(tract: Tract) -> set[str]:
    return {style for style in TARGETS if not problems(style, tract.compile(style=style))}


def said(tract: Tract) -> list[tuple[CommitInfo, bytes]]:
    """Return what the conversation is made of: the commits that are no changes, and their bytes."""
    return [(each, tract.get_source(each)) for each in tract.log() if each.kind in SAID]


@pytest.mark.rust  # on the fallback an example takes seconds
@pytest.mark.parametrize("provider", PROVIDERS)
@examples(75)
@given(st.data())
def test_any_compaction_leaves_what_every_provider_takes(provider: str, data: Any) -> None:
    messages = data.draw(requests(provider))
    with Tract.open(summarizer=short) as tract:
        hashes = [commit.commit_hash for commit in tract.append_many(messages)]
        before, shown, valid = said(tract), tract.compile(), valid_styles(tract)
        some = st.lists(st.sampled_from(hashes), max_size=3)
        done: list[CompressResult] = []
        for _ in range(data.draw(st.integers(1, 2))):
            asked, kept = data.draw(some) or hashes, data.draw(some)
            done.append(tract.compress(commits=asked, preserve=kept))
            assert said(tract) == before
            assert_compiles(tract, valid)
            assert_keeps_what_names_a_call(tract, done[-1])
        for each in reversed(done):
            if each.commit is not None:
                tract.uncompress(each.commit.commit_hash)
        assert tract.compile() == shown


@pytest.mark.rust  # on the fallback an example takes seconds
@pytest.mark.parametrize("provider", PROVIDERS)
@examples(50)
@given(st.data())
def test_a_threshold_leaves_what_every_provider_takes(provider: str, data: Any) -> None:
    messages = data.draw(requests(provider))
    with Tract.open(summarizer=short) as tract:
        tract.append_many(messages)
        before, valid = said(tract), valid_styles(tract)
        limit = max(context_usage(tract.compile(), limit=1).used, 1)
        for _ in range(2):
            done = tract.compact(limit=limit, target=data.draw(st.floats(0.01, 0.79)))
            assert said(tract) == before
            assert_compiles(tract, valid)
            assert_keeps_what_names_a_call(tract, done)


def assert_keeps_what_names_a_call(tract: Tract, done: CompressResult) -> None:
    """A call and its results are covered together, and the record has the name, the id and a reference of each."""
    covered = set(done.covered)
    for turn in tract.find_tool_turns():
        if done.commit is None or turn.call.commit_hash not in covered:
            assert covered.isdisjoint(turn.all_hashes)
            continue
        assert covered.issuperset(turn.all_hashes)
        tools = done.commit.metadata["tools"]
        for call in turn.call.metadata["tool_calls"]:
            refs = [each["ref"] for each in tools if (each["name"], each["id"]) == (call["name"], call["id"])]  # fmt: skip
            assert refs
            assert any(tract.resolve(ref) is not None for ref in refs)


# The runs of a compaction


def test_each_run_between_preserved_messages_has_a_summary() -> None:
    given: list[str] = []
    with Tract.open(
        summarizer=lambda text, _: given.append(text) or f"Part {len(given)}."
    ) as tract:
        commits = work(tract)
        kept = [commits[0].commit_hash, commits[3].commit_hash]
        done = tract.compress(preserve=kept)
        assert done.commit is not None
        name = done.commit.commit_hash[:16]
        assert texts(tract.compile()) == [
            texts([{"content": tract.get_content(commits[0])}])[0],
            f"Part 1.\n\n[toolcarry: summary of 2 messages; whole: {name}]",
            *[tract.get_content(commits[at]) for at in (3, 4)],
            f"Part 2.\n\n[toolcarry: summary of 3 messages; whole: {name}]",
        ]
        assert "Look 0." in given[0]
        assert "Look 2." not in given[0]
        assert "Look 2." in given[1]
        assert tract.get_content(done.commit) == "Part 1.\n\nPart 2."
        assert "Look 0." in tract.resolve(name)
        assert "Look 2." in tract.resolve(name)
        again = tract.compress(preserve=kept[:1])
        assert len(tract.compile()) == 2
        tract.uncompress(str(again.commit and again.commit.commit_hash))
        assert len(tract.compile()) == 5


def test_a_summarizer_that_fails_on_a_later_run_writes_nothing() -> None:
    calls: list[str] = []

    def summarize(text: str, _: str) -> str:
        calls.append(text)
        if len(calls) > 1:
            raise ConnectionError
        return "Part."

    with Tract.open(summarizer=summarize) as tract:
        commits = work(tract)
        before = tract.log()
        with pytest.raises(ConnectionError):
            tract.compress(preserve=[commits[3].commit_hash])
        assert tract.log() == before


def test_a_thought_stays_with_what_it_led_to(tract: Tract) -> None:
    """Also where no tool is called: Responses refuses reasoning without the item after it."""
    commits = tract.append_many(
        [
            {"type": "message", "role": "user", "content": "Why?"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"},
            {"type": "message", "role": "assistant", "content": "Because."},
            {"type": "message", "role": "user", "content": "Thanks."},
        ]
    )
    answer, thought = commits[2].commit_hash, commits[1].commit_hash
    done = tract.compress(commits=[answer], content="It was said why.")
    assert done.covered == (thought, answer)
    assert problems("responses", tract.compile(style="responses")) == []


def test_a_log_id_is_kept() -> None:
    with Tract.open(on_truncated_write="count") as tract:
        call = {"id": "t1", "name": "Bash", "arguments": {}}
        tract.assistant("", tool_calls=[call])
        text = '{"stdout": "1", "truncated": true, "logId": "log_7"}'
        tract.append_many([{"role": "tool", "tool_call_id": "t1", "content": text}])
        done = tract.compress(content="It ran.")
        assert done.commit is not None
        (tool,) = done.commit.metadata["tools"]
        assert (tool["name"], tool["id"], tool["log"]) == ("Bash", "t1", "log_7")


# The threshold


def session(tract: Tract, turns: int) -> None:
    """A system prompt, a request, and a loop of calls whose results are long."""
    tract.system("Be brief.")
    tract.user("Fix all tests.")
    for number in range(turns):
        call = {"id": f"t{number}", "name": "Read", "arguments": {"file_path": f"{number}.py"}}
        tract.assistant(f"I read {number}.", tool_calls=[call])
        tract.tool_result(f"t{number}", "Read", LONG)


def test_nothing_is_done_below_the_threshold(tract: Tract) -> None:
    session(tract, 5)
    used = context_usage(tract.compile(), limit=1).used
    assert tract.compact(limit=int(used / 0.8) + 2) == NOTHING
    assert tract.compact(limit=int(used / 0.8) - 2) != NOTHING


@pytest.mark.parametrize("target", [0.2, 0.5, 0.7])
def test_the_target_is_reached_and_the_newest_stay(target: float) -> None:
    with Tract.open(summarizer=short) as tract:
        session(tract, 40)
        before = tract.compile()
        limit = context_usage(before, limit=1).used
        done = tract.compact(limit=limit, target=target)
        after = tract.compile()
        used = context_usage(after, limit=limit).used
        assert 0.5 * target * limit < used <= target * limit
        assert after[:2] == before[:2]  # the system prompt and the request
        assert str(after[2]["content"]).startswith("Summary of ")
        kept = len(after) - 3
        assert after[3:] == before[-kept:]
        assert kept % 2 == 0
        assert done.commit is not None
        assert done.commit.metadata["provenance"]["by"] == "summarizer"


def test_a_session_that_goes_on_is_compacted_again_and_again() -> None:
    """Each summary is made of the last one and of what came since, so that a summarizer never gets the whole history."""
    given: list[str] = []

    def summarize(text: str, instructions: str) -> str:
        given.append(text)
        return f"Summary {len(given)}."

    limit = 8_000
    with Tract.open(summarizer=summarize) as tract:
        session(tract, 1)
        for number in range(1, 120):
            call = {"id": f"u{number}", "name": "Read", "arguments": {"file_path": "a.py"}}
            tract.assistant("", tool_calls=[call])
            tract.tool_result(f"u{number}", "Read", LONG)
            tract.compact(limit=limit)
            assert context_usage(tract.compile(), limit=limit).used <= 0.85 * limit
        assert len(given) > 2
        assert all(f"Summary {at}." in text for at, text in enumerate(given[1:], 1))
        assert max(map(len, given)) < 5 * limit
        (summary,) = [text for text in texts(tract.compile()) if str(text).startswith("Summary ")]
        name = str(summary).rpartition("whole: ")[2].rstrip("]")
        assert "I read 0." in tract.resolve(name)
        assert tract.resolve("u1") == LONG
        assert not tract.needs_refetch("u1")


def test_without_a_summarizer_a_hand_over_takes_the_place() -> None:
    with Tract.open() as tract:
        session(tract, 1)
        for number in range(1, 60):
            call = {"id": f"u{number}", "name": "Bash", "arguments": {"command": f"make {number}"}}
            tract.assistant("", tool_calls=[call])
            tract.tool_result(f"u{number}", "Bash", f"made {number}\n{LONG}")
            tract.compact(limit=8_000)
            assert context_usage(tract.compile(), limit=8_000).used <= 0.85 * 8_000
        (context,) = [text for text in texts(tract.compile()) if "## Latest Steps" in str(text)]
        assert "$ make " in str(context)
        assert "No answer of the assistant follows" not in str(context)
        assert "[CONTEXT FROM PREVIOUS SESSION]" in str(context)
        assert tract.resolve("u1") == f"made 1\n{LONG}"


def test_without_a_summarizer_the_summary_quotes() -> None:
    with Tract.open() as tract:
        for number in range(40):
            tract.user(f"Question {number}: {LONG}")
            tract.assistant(f"Answer {number}.")
        limit = context_usage(tract.compile(), limit=1).used
        tract.compact(limit=limit)
        assert "Question 0" in str(tract.compile()[0]["content"])
        assert context_usage(tract.compile(), limit=limit).used <= 0.5 * limit


@pytest.mark.parametrize("key", ["compact_at", "target"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "0.8", True, float("nan")])
def test_refused_shares(tract: Tract, key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{key}: .* is not allowed; allowed: "):
        tract.compact(limit=10, **{key: value})


def test_the_target_is_below_the_threshold(tract: Tract) -> None:
    with pytest.raises(ConfigError, match=r"target: .* allowed: less than compact_at"):
        tract.compact(limit=10, compact_at=0.5, target=0.5)
    with pytest.raises(ConfigError, match="limit: is required"):
        tract.compact(model="no-such-model")
