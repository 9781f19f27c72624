"""Words of truncation marks: found anywhere in a text, whatever the width of its characters."""

from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry._data import read_table

WORDS = read_table("texts")["cut_words"]
PIECES = st.sampled_from(
    ("truncated", "TRUNCATED", "[toolcarry: ", "[toolcarry:", "saved to", "saved to ", " omitted", "trunc", "\u6572uncated", "\u6f22", "\U0001f600", "\xe9", "x" * 9)
)  # fmt: skip


@given(st.lists(PIECES, max_size=8).map("".join))
def test_the_same_words(both: tuple[ModuleType, ModuleType], text: str) -> None:
    assert both[0].has_cut_word(text) == both[1].has_cut_word(text)


@for_each("word", WORDS)
@for_each("wide", ["", "\xe9", "\u6f22", "\U0001f600"])
def test_a_word_is_found_anywhere(backend: ModuleType, word: str, wide: str) -> None:
    far = "x" * 30
    for text in (f"{word}{far}{wide}", f"{wide}{far}{word}", f"{far}{wide}{word}{far}"):
        assert backend.has_cut_word(text)
    assert not backend.has_cut_word(f"{far}{word[:-1]}{wide}")


def test_a_word_begins_at_a_character(backend: ModuleType) -> None:
    word = WORDS[0]
    shifted = "".join(map(chr, (byte << 8 for byte in word.encode())))
    assert not backend.has_cut_word(shifted)
    assert backend.has_cut_word(shifted + word)
