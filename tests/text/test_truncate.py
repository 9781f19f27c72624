"""Truncation on both backends: the text that stays, the place of the cut, and adversarial texts.

Clusters are found here by a segmenter of another kind, one regular expression over class letters,
which shares the table with the backends but no code.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry._data import FOLDER
from toolcarry.model.text.truncate import cut

Keep = Literal["head", "tail", "ends"]
KEEPS: tuple[Keep, ...] = ("head", "tail", "ends")
MARKER = "... [truncated]"
MANY = 1_000_000


class Backend(Protocol):
    """The part of a backend that these tests use."""

    def truncate(
        self, text: str, limit: int, *, keep: Keep = "head", marker: str = MARKER
    ) -> str: ...


# UAX #29, table 1c, over the letters of the table; J is LV and K is LVT, O is Other.
CLUSTER = re.compile(
    "RN|[RNC]|P*(?:L*(?:V+|JV*|K)T*|L+|T+|FF|X(?:E*ZX)*|[^RNC])[EZS]*",
)


def read_letters() -> dict[str, str]:
    letters: dict[str, str] = {}
    table = Path(FOLDER, "graphemes.txt")
    for line in table.read_text("utf-8").splitlines():
        if found := re.fullmatch(r"(\w+)(?:\.\.(\w+))? (\w)", line):
            first, last = int(found[1], 16), int(found[2] or found[1], 16)
            letters.update((chr(code), found[3]) for code in range(first, last + 1))
    syllables = [character for character, letter in letters.items() if letter == "H"]
    letters.update(dict.fromkeys(syllables, "K"))
    letters.update(dict.fromkeys(syllables[::28], "J"))
    return letters


LETTERS = read_letters()


def find_boundaries(text: str) -> list[int]:
    letters = "".join(LETTERS.get(character, "O") for character in text)
    return [0, *(found.end() for found in CLUSTER.finditer(letters))]


def cut_naively(text: str, limit: int, keep: Keep) -> tuple[int, int]:
    """Return where the kept head ends and the kept tail begins."""
    boundaries, size = find_boundaries(text), len(text)
    if size <= limit:
        return size, size
    for_head = {"head": limit, "tail": 0, "ends": limit // 2}[keep]
    for_tail = {"head": 0, "tail": limit, "ends": limit - limit // 2}[keep]
    head = max(boundary for boundary in boundaries if boundary <= for_head)
    return head, min(boundary for boundary in boundaries if boundary >= size - for_tail)


# Texts of difficult characters, texts of clusters, and any texts at all; lone surrogates too.
DIFFICULT = (
    "ab\r\n\t\u00ad\u0301\u0308\u200d\ufe0f\U0001f1e6\U0001f1ff\u0600\u0903\u1100\u1160\u11a8"
    "\uac00\uac01\U0001f468\u2764\U0001f3fb\ud83d\ude00\u0915\u094d\U0010ffff"
)
CLUSTERS = (
    "a",
    "\u00e9",
    "\r\n",
    "e\u0301",
    "\U0001f1e9\U0001f1ea",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u2764\ufe0f",
    "\U0001f44d\U0001f3fd",
    "\u1100\u1161\u11a8",
    "\uac01\u11a8",
    "\u0600a",
    "\u0915\u0903",
)
texts = st.one_of(
    st.text(st.sampled_from(DIFFICULT), max_size=30),
    st.lists(st.sampled_from(CLUSTERS), max_size=12).map("".join),
    st.text(st.characters(), max_size=30),
)
limits = st.integers(0, 40)
keeps = st.sampled_from(KEEPS)


@given(text=texts, limit=limits, keep=keeps, marker=st.text(max_size=5))
def test_cuts_where_the_naive_segmenter_would(
    backend: Backend, text: str, limit: int, keep: Keep, marker: str
) -> None:
    head, tail = cut_naively(text, limit, keep)
    expected = text if head == tail else text[:head] + marker + text[tail:]
    assert backend.truncate(text, limit, keep=keep, marker=marker) == expected


@given(text=texts, limit=limits, keep=keeps)
def test_never_keeps_more_than_the_limit(
    backend: Backend, text: str, limit: int, keep: Keep
) -> None:
    result = backend.truncate(text, limit, keep=keep, marker=MARKER)
    assert len(result) <= limit + (len(MARKER) if len(text) > limit else 0)


@given(text=texts.filter(lambda text: MARKER not in text), limit=limits, keep=keeps)
def test_keeps_a_start_and_an_end(backend: Backend, text: str, limit: int, keep: Keep) -> None:
    result = backend.truncate(text, limit, keep=keep, marker=MARKER)
    head, marker, tail = result.partition(MARKER)
    if not marker:
        assert result == text
        return
    assert text.startswith(head)
    assert text.endswith(tail)
    assert keep != "head" or not tail
    assert keep != "tail" or not head


@given(text=texts, keep=keeps, more=limits)
def test_a_text_within_the_limit_is_the_same_object(
    backend: Backend, text: str, keep: Keep, more: int
) -> None:
    assert backend.truncate(text, len(text) + more, keep=keep, marker=MARKER) is text


@given(text=texts, limit=limits, keep=keeps)
def test_truncate_follows_the_plan(text: str, limit: int, keep: Keep) -> None:
    head, tail = cut(text, limit, keep)
    assert (head, tail) == cut_naively(text, limit, keep)
    assert head < tail or head == tail == len(text) <= limit


@pytest.mark.parametrize("keep", KEEPS)
def test_limit_zero_leaves_the_marker(backend: Backend, keep: Keep) -> None:
    assert backend.truncate("abc", 0, keep=keep, marker="[cut]") == "[cut]"
    assert backend.truncate("", 0, keep=keep, marker="[cut]") == ""


@pytest.mark.parametrize(
    ("keep", "expected"), [("head", "01234[]"), ("tail", "[]56789"), ("ends", "01[]789")]
)
def test_keeps_the_part_that_is_asked_for(backend: Backend, keep: Keep, expected: str) -> None:
    assert backend.truncate("0123456789", 5, keep=keep, marker="[]") == expected


def test_the_head_and_the_usual_marker_are_the_defaults(backend: Backend) -> None:
    assert (
        backend.truncate("one two three", 7, keep="head", marker="... [truncated]")
        == "one two... [truncated]"
    )


def iterate_limits(text: str) -> Iterator[tuple[int, Keep]]:
    return ((limit, keep) for limit in range(len(text)) for keep in KEEPS)


@for_each("cluster", [c for c in CLUSTERS if len(c) > 1])
def test_a_cluster_stays_whole_or_goes_whole(backend: Backend, cluster: str) -> None:
    text = f"x{cluster * 3}x"
    for limit, keep in iterate_limits(text):
        kept = backend.truncate(text, limit, keep=keep, marker="")
        assert re.fullmatch(f"x?(?:{re.escape(cluster)})*x?", kept)


def test_lone_surrogates_stay_as_they_are(backend: Backend) -> None:
    text = "\ude00\ud83d" * 5  # never joined into one character, in any order
    for limit, keep in iterate_limits(text):
        kept = backend.truncate(text, limit, keep=keep, marker="")
        assert len(kept) == limit
        assert set(kept) <= set(text)
    assert backend.truncate("\ud83d\ude00x", 1, keep="head", marker="") == "\ud83d"
    assert (
        backend.truncate("\U0001f600\ud83d\ude00x", 2, keep="head", marker="") == "\U0001f600\ud83d"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\u0301" * MANY, ""),
        ("a\u0301" * MANY, "a\u0301" * (MANY // 4)),
        ("\U0001f1e6" * MANY, "\U0001f1e6" * (MANY // 2)),
        ("\U0001f468\u200d" * MANY, ""),
    ],
    ids=["marks", "marked_letters", "flags", "family"],
)
def test_a_huge_text_is_cut_in_linear_time(backend: Backend, text: str, kept: str) -> None:
    start = time.perf_counter()
    assert backend.truncate(text, MANY // 2, keep="head", marker="") == kept
    assert backend.truncate(text, MANY // 2, keep="tail", marker="") == kept
    # Quadratic time would take hours; the bound is wide, as a busy machine may be slow.
    assert time.perf_counter() - start < 60
