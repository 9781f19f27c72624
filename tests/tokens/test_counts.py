"""Counts of tokens, as tiktoken's. `test_cuts.py` has the cuts."""

import re
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each
from support.strategies.texts import texts

from toolcarry.fallback.tokens import count as tokens
from toolcarry.types.values import EncodingName

NAMES: tuple[EncodingName, ...] = ("o200k_base", "cl100k_base")
names = st.sampled_from(NAMES)
spaced = st.lists(
    st.sampled_from(
        ("a", "B", "é", "漢", "1", "_", "!", "/", ".\n", " ", "    ", "\n", "\r\n", "\t", "\x85")
    ),
    max_size=30,
).map("".join)

COUNTS = {
    "": (0, 0),
    "one two three": (3, 3),
    "don't DON'T": (2, 4),
    "<|endoftext|>": (7, 7),
    "12345": (2, 2),
    " " * 100: (2, 2),
    "\ud800": (1, 1),
    "\U0001f469\u200d\U0001f467": (5, 8),
}
"""Counts in o200k_base and cl100k_base, by tiktoken 0.14 with its own files."""


def test_counts_of_many(backend: ModuleType) -> None:
    """Also with enough text that the interpreter lock is released."""
    given = [*COUNTS, *["one two three " * 1_000] * 6]
    for name in NAMES:
        wanted = [backend.count_tokens(text, name) for text in given]
        assert backend.count_texts(given, name) == wanted
    assert backend.count_texts([], NAMES[0]) == []


@for_each("text", COUNTS, ids=ascii)
def test_counts(backend: ModuleType, text: str) -> None:
    assert tuple(backend.count_tokens(text, name) for name in NAMES) == COUNTS[text]


@given(text=texts | spaced, name=names)
def test_both_backends_count_the_same(
    both: tuple[ModuleType, ModuleType], text: str, name: EncodingName
) -> None:
    reference, other = both
    assert other.count_tokens(text, name) == reference.count_tokens(text, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_character_counts_the_same(
    both: tuple[ModuleType, ModuleType], name: EncodingName
) -> None:
    """Each in three places, many of them in a text; a text that differs is looked for only where one does."""
    reference, other = both
    for form in ("a{}b", " {} ", "1{}\n"):
        for first in range(0, 0x110000, 0x1000):
            text = "".join(form.format(chr(code)) for code in range(first, first + 0x1000))
            assert other.count_tokens(text, name) == reference.count_tokens(text, name), hex(first)


@pytest.mark.parametrize("name", NAMES)
def test_the_patterns_are_those_of_tiktoken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})
    assert "|".join(tokens._PATTERNS[name]) == getattr(public, name)()["pat_str"]


@pytest.mark.parametrize(("name", "size"), [("o200k_base", 199_998), ("cl100k_base", 100_256)])
def test_the_vocabularies_are_whole(name: EncodingName, size: int) -> None:
    encoding = tokens.encoding_of(name)
    assert encoding.n_vocab == size
    assert all(encoding.encode_single_token(bytes([byte])) < 256 for byte in range(256))


@given(text=texts | spaced, name=names)
def test_a_text_in_parts_has_the_tokens_of_the_whole(text: str, name: EncodingName) -> None:
    whole = tokens.SURROGATES.sub("\ufffd", text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_LONG_SPACE", re.compile(f"[{tokens._SPACE}]{{2,}}"))
        found = tokens.encode(text, name)
    assert found == tokens.encoding_of(name).encode_ordinary(whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", [" ", "\n", "\t", " \n", "\u3000", "a", "^"], ids=ascii)
def test_a_million_of_one_kind(text: str, name: EncodingName) -> None:
    count = tokens.count_tokens(text * 1_000_000, name)
    assert 1_000_000 * len(text.encode()) / 128 <= count <= 1_000_000 * len(text)


def test_the_public_names(api: ModuleType) -> None:
    assert api.count_tokens("one two three") == 3
    assert api.count_tokens("don't DON'T", encoding="cl100k_base") == 4
    assert api.truncate("one two three", 2, unit="tokens", marker="") == "one two"
    assert api.truncate("one two three", 3, unit="tokens") == "one two three"
    assert api.truncate("one two three", 0, unit="tokens", marker="[cut]") == "[cut]"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "p50k_base"}, "encoding: 'p50k_base' is not allowed"),
        ({"encoding": None}, "encoding: None is not allowed"),
    ],
)
def test_settings_that_may_not_be(api: ModuleType, options: Any, message: str) -> None:
    with pytest.raises(api.ConfigError, match=message):
        api.count_tokens("one", **options)
    with pytest.raises(api.ConfigError, match=message):
        api.truncate("one", 1, unit="tokens", **options)


def test_bytes_are_a_conversation_and_no_text(api: ModuleType) -> None:
    with pytest.raises(api.InputError, match="not JSON at byte 0"):
        api.count_tokens(b"one")
    with pytest.raises(
        api.InputError, match="messages must be a list of objects, bytes, text or a Path"
    ):
        api.count_tokens(7)
