"""Grapheme boundaries of the fallback: Unicode's own cases, the table, time, and laziness.

The Rust twin runs the same cases in its own tests; what both make of generated text is compared
through ``truncate`` in ``test_truncate.py`` and ``context/test_parity.py``.
"""

import importlib.util
import re
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry._data import FOLDER
from toolcarry.model.text import graphemes
from toolcarry.model.text.graphemes import ceil_boundary, floor_boundary, is_boundary

CASES = Path(__file__).parents[1] / "cases" / "grapheme_breaks.txt"
TABLE = Path(FOLDER, "graphemes.txt")
MANY = 1_000_000


def read_lines(path: Path) -> list[str]:
    lines = path.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def read_case(line: str) -> list[str]:
    """Return the clusters of a test case."""
    return ["".join(chr(int(code, 16)) for code in part.split()) for part in line.split(" | ")]


def read_ranges() -> list[tuple[int, int, str]]:
    found = [re.fullmatch(r"(\w+)(?:\.\.(\w+))? (\w)", line) for line in read_lines(TABLE)]
    assert None not in found
    return [(int(m[1], 16), int(m[2] or m[1], 16), m[3]) for m in found if m]


# Few characters of every class, so that generated texts are full of rules.
DIFFICULT = (
    "ab\r\n\t\u00ad\u0301\u0308\u200d\ufe0f\U0001f1e6\U0001f1ff\u0600\u0903\u1100\u1160\u11a8"
    "\uac00\uac01\U0001f468\u2764\U0001f3fb\ud83d\ude00\u0915\u094d\U0010ffff"
)
texts = st.text(st.sampled_from(DIFFICULT), max_size=30)


@for_each("line", read_lines(CASES))
def test_agrees_with_the_cases_of_unicode(line: str) -> None:
    clusters = read_case(line)
    text = "".join(clusters)
    boundaries = [sum(map(len, clusters[:count])) for count in range(len(clusters) + 1)]
    for index in range(len(text) + 1):
        assert is_boundary(text, index) == (index in boundaries)
        assert floor_boundary(text, index) == max(b for b in boundaries if b <= index)
        assert ceil_boundary(text, index) == min(b for b in boundaries if b >= index)


def test_every_case_of_unicode_is_there() -> None:
    assert len(read_lines(CASES)) == 602


@given(texts, st.integers(0, 40))
def test_floor_and_ceil_are_the_nearest_boundaries(text: str, index: int) -> None:
    floor, ceil = floor_boundary(text, index), ceil_boundary(text, index)
    assert floor <= min(index, len(text)) <= ceil <= len(text)
    assert is_boundary(text, floor)
    assert is_boundary(text, ceil)
    assert not any(is_boundary(text, between) for between in range(floor + 1, ceil))


@given(texts, texts)
def test_a_boundary_does_not_depend_on_the_text_after_it(text: str, more: str) -> None:
    for index in range(len(text)):
        assert is_boundary(text, index) == is_boundary(text + more, index)


@given(texts)
def test_the_start_and_the_end_are_boundaries(text: str) -> None:
    assert floor_boundary(text, 0) == ceil_boundary(text, 0) == 0
    assert floor_boundary(text, len(text)) == ceil_boundary(text, len(text)) == len(text)
    assert floor_boundary(text, len(text) + 1) == ceil_boundary(text, len(text) + 1) == len(text)


def test_the_table_is_sorted_and_as_short_as_it_can_be() -> None:
    for (_, last, letter), (first, _, following) in pairwise(read_ranges()):
        assert last < first
        assert last + 1 < first or letter != following


def test_the_table_agrees_with_the_fast_path() -> None:
    early = {letter for first, _, letter in read_ranges() if first < 0x300}
    assert early == {"R", "N", "C", "X"}  # an X joins only after a ZWJ, which stands higher


def test_the_table_has_the_syllables_of_hangul_as_one_range() -> None:
    assert [r for r in read_ranges() if r[2] == "H"] == [(0xAC00, 0xD7A3, "H")]


@for_each("code", [0x41, 0x2FF, 0xD800, 0xDFFF, 0xE1000, 0x10FFFF])
def test_a_character_of_no_range_joins_only_a_mark(code: int) -> None:
    text = f"a{chr(code)}a"
    assert [index for index in range(4) if is_boundary(text, index)] == [0, 1, 2, 3]
    assert not is_boundary(f"{chr(code)}\u0301", 1)


def reload_table() -> ModuleType:
    """Return a second copy of the module, with nothing read yet."""
    spec = importlib.util.spec_from_file_location("graphemes_anew", graphemes.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_read_when_it_is_needed() -> None:
    module = reload_table()
    assert module.floor_boundary("na\u00efve\r\n", 6) == 5
    assert module._load_table.cache_info().currsize == 0
    assert module.floor_boundary("e\u0301", 1) == 0
    assert module._load_table.cache_info().currsize == 1


# Worst cases: one cluster of a million characters, or a run that must be read to its start.
LONG = {
    "marks": lambda many: "a" + "\u0301" * many,
    "flags": lambda many: "\U0001f1e6" * (many + 1),
    "family": lambda many: "\U0001f468\u200d" * (many // 2),
    "marks_in_families": lambda many: ("\U0001f468" + "\u0301" * 99 + "\u200d") * (many // 100),
    "marks_before_an_emoji": lambda many: "a" + "\u0301" * many + "\u200d\U0001f468",
    "syllables": lambda many: "\u1100" * many,
    "prepended": lambda many: "\u0600" * many,
}


def measure(text: str) -> float:
    """Return the seconds that both walks from both ends take."""
    start = time.perf_counter()
    for index in (1, len(text) - 1):
        floor_boundary(text, index)
        ceil_boundary(text, index)
    return time.perf_counter() - start


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_time_is_linear(name: str) -> None:
    make: Callable[[int], str] = LONG[name]
    # Quadratic time would take hours; the bound is wide, as a busy machine may be slow.
    assert measure(make(MANY)) < 60
