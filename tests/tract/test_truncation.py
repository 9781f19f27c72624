"""The marks of truncation: each is found in its place, and a text that only speaks of one is left alone."""

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry._data import read_table
from toolcarry.tract.truncation import (
    Mark,
    find_mark,
    find_member,
    has_preview,
    is_part_of,
    is_preview,
)

MARKS = read_table("truncation")["marks"]
WORDS = read_table("texts")["cut_words"]
ids = [f"{mark['of']}-{mark['at']}-{place}" for place, mark in enumerate(MARKS)]


@for_each("mark", MARKS, ids=ids)
def test_a_mark_of_the_table(mark: dict[str, str]) -> None:
    found = find_mark(mark["example"])
    assert found is not None
    assert found.of == mark["of"]
    assert bool(found.path) is ("?P<path>" in mark["pattern"])
    assert any(word in mark["example"] for word in WORDS)
    assert mark["source"]


@for_each("mark", MARKS, ids=ids)
def test_a_mark_that_is_quoted(mark: dict[str, str]) -> None:
    """A search through files shows the line with its place; a program has it in a string, in the middle of others."""
    shown = re.search(mark["pattern"], mark["example"], re.MULTILINE)
    assert shown is not None
    line = shown[0].strip().split("\n")[0]
    filler = "".join(f"src/a.py:{number}: pass\n" for number in range(500))
    assert find_mark(f'{filler}src/a.py:12:    note = "{line}"\n{filler}') is None
    assert find_mark(f"{filler}{'x' * 9} {line} is a mark\n{line} is one, too\n{filler}") is None


def test_a_mark_in_the_middle_is_the_only_one() -> None:
    mark = "[... Observation truncated due to length ...]"
    assert find_mark(f"{'a' * 9_000}\n{mark}\n{'z' * 9_000}") == Mark("OpenHands")
    assert find_mark(f"a\n{mark}\nb\n{mark}\nz") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "truncated",
        "The list was truncated.",
        "3 passed, 1 omitted",
        "warning: 4 lines omitted",
        "Output too large? See the manual.",
        '{"truncated": false, "files": []}',
        '{"note": "\\"truncated\\": true"}',
        '["truncated", true]',
        "x" * 10_000,
        "\ud800 truncated",
    ],
)
def test_a_whole_text(text: str) -> None:
    assert find_mark(text) is None


def test_members() -> None:
    cut = {
        "status": "success",
        "truncated": True,
        "truncatedContentId": "trunc_7",
        "summary": "...",
    }
    assert find_mark(json.dumps(cut)) == Mark("a member", reference="trunc_7")
    assert find_member({"logId": "log_1", "isTruncated": True}) == Mark(
        "a member", reference="log_1"
    )
    for whole in ({"truncated": None}, {"truncated": 0}, {"truncatedContentId": ""}, {}, [], "x"):
        assert find_member(whole) is None


def test_previews_are_recognised_by_what_they_count() -> None:
    marker = "[toolcarry: preview, 1,200 of 9,000 characters; whole: t1]"
    assert is_preview(f"{'x' * 1_200}\n{marker}")
    assert not is_preview(f"{'x' * 1_201}\n{marker}")
    assert not is_preview(f"{'x' * 1_200}\n{marker}\nmore")
    assert has_preview({"preview": True, "shown": 1, "total": 2, "reference": "t1"})
    assert has_preview({"content": "x", "metadata": {"preview": True, "shown": 1, "total": 2}})
    assert not has_preview({"preview": True})
    assert not has_preview({"preview": "yes", "shown": 1, "total": 2})


@given(st.text(max_size=60), st.sampled_from(MARKS))
def test_any_text_is_judged_without_an_error(text: str, mark: dict[str, str]) -> None:
    for given_text in (text, text + mark["example"], mark["example"] + text):
        find_mark(given_text)


@pytest.mark.parametrize(
    ("cut", "is_part"),
    [
        ("line 1\nli... [truncated]", True),
        ("line 1\n... [truncated]\n", True),
        ("... [truncated]\nline 3", True),
        ("line 1\n[toolcarry: 12 of 20 characters; whole: t1]\nline 3", True),
        ("line 1\u20267 tokens truncated\u2026ne 3", True),
        ("[Old tool result content cleared]", True),
        ("... [truncated]", False),
        ("line 2\n... [truncated]", False),
        ("line 3\nline 1... [truncated]", False),
        ("rm -rf / [line 1... [truncated]", False),
        ("line 1\nline 2\nl\u20267 tokens truncated\u20262\nline 3", False),
        ("line 1\n[toolcarry: 12 of 20 characters; whole: t1]\nline 2", False),
        ('{"truncated": true, "text": "line 1"}', False),
    ],
)
def test_a_part_is_the_beginning_or_the_end_of_the_whole(cut: str, is_part: bool) -> None:
    assert find_mark(cut) is not None
    assert is_part_of(cut, "line 1\nline 2\nline 3") is is_part


def test_many_lines_are_compared_at_once() -> None:
    whole = "".join(f"{number:09}\n" for number in range(200_000))
    start = time.process_time()
    assert is_part_of(f"... [truncated]\n{whole[1_000_000:]}", whole)
    assert time.process_time() - start < 2
