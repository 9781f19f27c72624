"""Texts cut to a number of tokens: both backends cut alike, and no result counts more than its limit."""

import random
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import IS_LONG
from support.rows import for_each
from support.strategies.texts import texts

import toolcarry
from toolcarry.model.text.graphemes import is_boundary
from toolcarry.types.values import CutSide, EncodingName

NAMES: tuple[EncodingName, ...] = ("o200k_base", "cl100k_base")
KEEPS: tuple[CutSide, ...] = ("head", "tail", "ends")
MARKER = "... [truncated]"
names = st.sampled_from(NAMES)
keeps = st.sampled_from(KEEPS)

CUTS = 10_000
"""The number of texts that are cut in each encoding, from each side."""
COMPARED = 1 if IS_LONG else 5
"""One of this many cuts is compared with the fallback, which is slow."""

PARTS = (
    *(" ", " ", " ", "  ", "        ", "\t", "\n", "\n\n", "\r\n", "\r", " \n", "\u3000", "\x85"),
    *("a", "B", "the", "Hello", "camelCase", "HTTPServer", "fooBAR", "snake_case", "'s", "'LL", "'re"),
    *("0", "12", "1234567", "²", "五", "!", "...", "/", "//", "\\", "'", "''", "--", "_", "{}", "<|", "=="),
    *("é", "straße", "中文字符", "漢", "。", "\uff0c", "テスト", "한국어", "עברית", "हिन्दी", "ไทย", "\u1100\u1161\u11a8"),
    *("\u0301", "e\u0301", "🙂", "\U0001f468\u200d\U0001f469", "\U0001f1e9\U0001f1ea", "\U0001f1e9", "❤\ufe0f"),
    *("\u200d", "\ufffd", "\ud800", "\udc00", "\ud83d", "\U0010ffff", "\0"),
)  # fmt: skip
MARKERS = (
    *(MARKER, "", "x", " ", "\n", "\n[... 12 of 3,456 tokens]\n", "'s", "1", "/", "\r", "ing the"),
    *("\u0301", "漢", "\ud83d", "\udc00", "\U0001f1e9", "\u200d"),
)  # fmt: skip
SOURCES = sorted(Path(toolcarry.__file__).parent.rglob("*.py"))


class Cut(NamedTuple):
    text: str
    limit: int
    marker: str
    keep: CutSide
    name: EncodingName


def make_text(source: random.Random, code: str) -> str:
    """Code, awkward parts mixed, few of them, or a row of one."""
    kind = source.random()
    if kind < 0.4:
        start = source.randrange(len(code))
        return code[start : start + source.randrange(2_000)]
    if kind < 0.8:
        return "".join(source.choices(PARTS, k=source.randrange(120)))
    if kind < 0.9:
        return "".join(source.choices(source.choices(PARTS, k=3), k=source.randrange(300)))
    return source.choice(PARTS) * source.randrange(800)


def cuts(kernels: ModuleType, name: EncodingName, keep: CutSide) -> Iterator[Cut]:
    source = random.Random(f"{name} {keep}")
    code = "".join([path.read_text("utf-8") for path in SOURCES])
    for _ in range(CUTS):
        text = make_text(source, code)
        most = kernels.count_tokens(text, name) + 2
        limit = source.randrange(min(most, 10) if source.random() < 0.3 else most)
        yield Cut(text, limit, source.choice(MARKERS), keep, name)


def truncate(kernels: ModuleType, cut: Cut) -> str:
    found: str = kernels.truncate_tokens(
        cut.text, cut.limit, keep=cut.keep, marker=cut.marker, encoding=cut.name
    )
    return found


def assert_promise(kernels: ModuleType, cut: Cut, found: str) -> None:
    """Assert that a start, an end or both of a text stand around the marker, and count what they may."""
    if kernels.count_tokens(cut.text, cut.name) <= cut.limit:
        assert found == cut.text
        return
    allowed = cut.limit + kernels.count_tokens(cut.marker, cut.name)
    assert kernels.count_tokens(found, cut.name) <= allowed, cut
    kept = len(found) - len(cut.marker)
    heads = {"head": (kept,), "tail": (0,), "ends": range(kept, -1, -1)}[cut.keep]
    assert any(is_cut_at(head, kept - head, cut, found) for head in heads), cut


def is_cut_at(head: int, tail: int, cut: Cut, found: str) -> bool:
    """True if this many characters of the head and of the tail remain, cut between clusters."""
    text, end = cut.text, len(cut.text) - tail
    return (
        found.startswith(cut.marker, head)
        and text[:head] + cut.marker + text[end:] == found
        and is_boundary(text, head)
        and is_boundary(text, end)
    )


@pytest.mark.slow
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("name", NAMES)
def test_many_texts_are_cut_alike_and_within_their_limit(
    both: tuple[ModuleType, ModuleType], name: EncodingName, keep: CutSide
) -> None:
    reference, other = both
    for number, cut in enumerate(cuts(other, name, keep)):
        found = truncate(other, cut)
        assert_promise(other, cut, found)
        if number % COMPARED == 0:
            assert found == truncate(reference, cut), cut


@given(
    text=texts | st.lists(st.sampled_from(PARTS), max_size=30).map("".join),
    limit=st.integers(0, 40),
    keep=keeps,
    name=names,
    marker=texts | st.sampled_from(MARKERS),
)
def test_a_cut_text_has_at_most_the_limit_of_tokens(
    both: tuple[ModuleType, ModuleType],
    text: str,
    limit: int,
    keep: CutSide,
    name: EncodingName,
    marker: str,
) -> None:
    cut = Cut(text, limit, marker, keep, name)
    found = [truncate(kernels, cut) for kernels in both]
    assert found[0] == found[1]
    assert_promise(both[0], cut, found[0])


@for_each("keep", KEEPS)
@for_each("name", NAMES)
def test_a_cut_of_code_keeps_as_much_as_possible(
    backend: ModuleType, name: EncodingName, keep: CutSide
) -> None:
    text = "".join([path.read_text("utf-8") for path in SOURCES[:3]])
    for limit in range(10, 500, 7):
        found = truncate(backend, Cut(text, limit, MARKER, keep, name))
        most = limit + backend.count_tokens(MARKER, name)
        assert most - 3 <= backend.count_tokens(found, name) <= most


@pytest.mark.parametrize("keep", KEEPS)
def test_a_text_within_the_limit_is_the_same_object(backend: ModuleType, keep: CutSide) -> None:
    text = "one two three"
    for limit in (3, 4, 100, 2**63 - 1):
        assert truncate(backend, Cut(text, limit, MARKER, keep, "o200k_base")) is text
    assert truncate(backend, Cut("", 0, MARKER, keep, "o200k_base")) == ""
    assert truncate(backend, Cut(text, 0, MARKER, keep, "o200k_base")) == MARKER


@pytest.mark.parametrize(
    ("keep", "expected"),
    [("head", "one two ..."), ("tail", " ... four five"), ("ends", "one ... five")],
)
def test_keeps_the_side_that_is_asked_for(
    backend: ModuleType, keep: CutSide, expected: str
) -> None:
    cut = Cut("one two three four five", 2, " ...", keep, "o200k_base")
    assert truncate(backend, cut) == expected


@pytest.mark.parametrize("keep", KEEPS)
def test_surrogates_stay_as_they_are(backend: ModuleType, keep: CutSide) -> None:
    text = "\ude00\ud83d" * 20  # never joined into one character, in any order
    for limit in range(1, backend.count_tokens(text, "o200k_base")):
        kept = truncate(backend, Cut(text, limit, "", keep, "o200k_base"))
        assert kept
        assert set(kept) <= set(text)


@pytest.mark.slow
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize(
    "text",
    [" ", "a", "=", "\n", "漢", "\u0301", "a\u0301", "\U0001f1e9", "\U0001f469\u200d", "\ud800", "x = 1\n"],
    ids=ascii,
)  # fmt: skip
def test_a_huge_text_is_cut_in_linear_time(
    both: tuple[ModuleType, ModuleType], text: str, keep: CutSide
) -> None:
    reference, other = both
    small, large = (
        Cut(text * size, 100, MARKER, keep, "o200k_base") for size in (3_000, 1_000_000)
    )
    assert truncate(other, small) == truncate(reference, small)
    start = perf_counter()
    found = truncate(other, large)
    # Quadratic time would take hours; the bound is wide, as a busy machine may be slow.
    assert perf_counter() - start < 20
    assert_promise(other, large, found)


@pytest.mark.parametrize("keep", KEEPS)
def test_time_depends_on_the_remaining_text(
    keep: CutSide, both: tuple[ModuleType, ModuleType]
) -> None:
    """Of a text a hundred times as large the same is looked at; all of it would take some hundred milliseconds."""
    line = "    for number, line in enumerate(text.splitlines(), 1):  # 漢\n"
    texts = line * 1_000, line * 100_000
    kernels = both[1]
    small, large = (
        min(timed(kernels, Cut(text, 500, MARKER, keep, "o200k_base")) for _ in range(20))
        for text in texts
    )
    assert large < 10 * small + 0.001


def timed(kernels: ModuleType, cut: Cut) -> float:
    start = perf_counter()
    truncate(kernels, cut)
    return perf_counter() - start
