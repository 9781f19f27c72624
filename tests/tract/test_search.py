"""Searches in tool results: what was put away is found by its words, in every kind of store."""

from typing import Any

import apsw
import pytest

from toolcarry import InputError, search_tool
from toolcarry.errors import StoreError
from toolcarry.tract import Tract
from toolcarry.tract.store.search import PIECE


def found(tract: Tract, query: str, **options: Any) -> list[str | None]:
    return [match.commit.tool_call_id for match in tract.search_tool_results(query, **options)]


def fill(tract: Tract) -> None:
    tract.tool_result("t1", "Bash", "src/test_mean.py:12 FAILED\0 caf\xe9 \ud800")
    tract.tool_result("t2", "Read", "def mean(values):\n    return sum(values)")
    tract.tool_result("t3", "Bash", "test_mean PASSED, test_sum FAILED")


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("mean", {"t1", "t2", "t3"}),
        ("failed", {"t1", "t3"}),
        ("FAILED mean", {"t1", "t3"}),
        ("test_mean.py", {"t1"}),
        ("mean_test", set()),
        ("mea", set()),
        ("CAF\xc9", {"t1"}),
        ('sum" OR "mean', set()),
        ("sum(values)", {"t2"}),
        ("x" * 10_000, set()),
        ("'; DROP TABLE tract_commits; --", set()),
    ],
)
def test_words_are_found(tract: Tract, query: str, wanted: set[str]) -> None:
    fill(tract)
    assert set(found(tract, query)) == wanted


@pytest.mark.parametrize("query", ["", " ", "... ///", "\0"])
def test_a_query_without_a_word(tract: Tract, query: str) -> None:
    with pytest.raises(InputError, match=r"query: .* is not allowed; allowed: at least one word"):
        tract.search_tool_results(query)


def test_an_empty_history(tract: Tract) -> None:
    assert tract.search_tool_results("mean") == []


def test_what_was_put_away_is_found(tract: Tract) -> None:
    """A result is searched in full, whatever superseded, shortened or covers it, and its reference gives all of it."""
    text = "line of a log\n" * 3 * PIECE + "the needle is here"
    root = tract.tool_result("t1", "Bash", text)
    tract.tool_result("t1", "Bash", "short", edit=root.commit_hash)
    tract.compress(content="It ran.")
    (match,) = tract.search_tool_results("NEEDLE is")
    assert match.commit.commit_hash == root.commit_hash
    assert match.snippet.endswith("the needle is here")
    assert len(match.snippet) < 400
    assert tract.resolve(match.reference) == text
    assert found(tract, "short") == []


def test_a_backfill_is_found_and_one_result_once(tract: Tract) -> None:
    with Tract.open(on_truncated_write="count") as own:
        own.tool_result("t1", "Bash", "3 pas... [truncated]")
        assert found(own, "passed") == []
        own.backfill({"t1": "3 passed"})
        assert found(own, "passed") == ["t1"]
        assert found(own, "3") == ["t1"]


def test_what_comes_later_is_found_by_every_reader(durable_target: str) -> None:
    with Tract.open(durable_target) as reader, Tract.open(durable_target) as writer:
        fill(writer)
        assert found(reader, "later") == []
        writer.tool_result("t4", "Bash", "later")
        assert found(reader, "later") == found(writer, "later") == ["t4"]
        other = writer.in_conversation("other")
        other.tool_result("t5", "Bash", "later")
        assert found(other, "later") == ["t5"]
        assert found(reader, "later") == ["t4"]
        writer.forget()
        assert found(reader, "later") == []
        with Tract.open(durable_target) as again:
            again.tool_result("t6", "Bash", "second")
            assert found(again, "later") == []
            assert found(again, "second") == ["t6"]


def test_the_answer_to_a_model(tract: Tract) -> None:
    fill(tract)
    (match,) = tract.search_tool_results("sum", limit=1)
    answer = tract.answer_search('{"query": "passed"}')
    assert answer.startswith(f"[toolcarry: Bash; whole: {match.reference}]\ntest_mean PASSED")
    assert (
        tract.answer_search({"query": "nothing"}) == "[toolcarry: no result has all of these words]"
    )
    assert tract.answer_search({"query": "mean", "limit": 2}).count("whole: ") == 2
    with pytest.raises(InputError, match="query: None is not allowed"):
        tract.answer_search({})
    assert search_tool("anthropic")["input_schema"]["required"] == ["query"]


def test_without_fts5_the_error_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    """A SQLite without FTS5 knows no such module."""
    connect = apsw.Connection

    class Without:
        def __init__(self, path: str) -> None:
            self.connection = connect(path)

        def execute(self, sql: str, *values: Any) -> Any:
            return self.connection.execute(sql.replace("fts5", "no_such_module"), *values)

    with Tract.open() as tract:
        fill(tract)
        monkeypatch.setattr(apsw, "Connection", Without)
        with pytest.raises(StoreError, match=r"this SQLite has no FTS5 .no such module"):
            tract.search_tool_results("mean")
