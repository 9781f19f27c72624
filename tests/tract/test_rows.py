"""Rows of the history: what was written proves itself, nothing else does, and both backends say the same."""

import json
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.metadata import dump_metadata

from toolcarry._data import read_table
from toolcarry.tract.store.hashing import CommitRow, Draft, Part
from toolcarry.tract import CommitInfo, Kind

Both = tuple[ModuleType, ModuleType]

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
HASHES = st.binary(min_size=32, max_size=32)
NUMBERS = st.integers(0, 2**63 - 1)
PARTS = st.lists(
    st.builds(Part, NAMES, st.integers(0, 7), HASHES, st.binary(max_size=200), NUMBERS), max_size=5
)
HEADS = st.one_of(st.just((0, None)), st.tuples(st.integers(1, 2**62), HASHES))
VALUES = st.one_of(
    st.none(),
    st.text(max_size=4),
    st.binary(max_size=40),
    st.floats(),
    st.integers(-(2**70), 2**70),
)
"""Values that a damaged file may hold in any column."""


class JsonText(str):
    """A subclass of ``str``."""

    __slots__ = ()


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def linked(kernels: ModuleType, parts: list[Part], head: Any, names: tuple[str, str]) -> list[Any]:
    found: list[CommitRow] = kernels.link_rows(parts, head, 1_700_000_000_000_000, *names)
    return found


@given(PARTS, HEADS, NAMES, NAMES)
def test_the_same_rows(
    both: Both, parts: list[Part], head: Any, tenant: str, conversation: str
) -> None:
    python, rust = both
    names = (tenant, conversation)
    rows = linked(python, parts, head, names)
    assert rows == linked(rust, parts, head, names)
    for kernels in both:
        assert kernels.prove_rows(rows, *names) == len(rows)
        longer = [(*row, 0, 4, b"more") for row in rows]
        assert kernels.prove_rows(longer, *names) == len(rows)


@given(PARTS, HEADS, st.data())
def test_damaged_rows_prove_nothing(
    both: Both, parts: list[Part], head: Any, data: st.DataObject
) -> None:
    rows = linked(both[0], parts, head, ("", "default"))
    if not rows:
        return
    at = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, 9))
    value = data.draw(VALUES)
    if value == rows[at][column]:
        return
    rows[at] = (*rows[at][:column], value, *rows[at][column + 1 :])
    has_no_parent = column == 2 and not value and rows[at][2] in (None, b"")
    for kernels in both:
        found = kernels.prove_rows(rows, "", "default")
        assert found == at or (has_no_parent and found == len(rows))


@pytest.mark.parametrize("column", range(10))
def test_a_column_that_changed(backend: ModuleType, column: int) -> None:
    parts = [Part("tool", 2, bytes(range(32)), b'{"name":"Bash"}', 7)] * 3
    rows = linked(backend, parts, (4, bytes(range(32))), ("tenant", "conversation"))
    value = rows[1][column]
    changed = value + 1 if isinstance(value, int) else value[:-1] + value[:1]
    assert changed != value
    rows[1] = (*rows[1][:column], changed, *rows[1][column + 1 :])
    assert backend.prove_rows(rows, "tenant", "conversation") == 1


def test_another_conversation_proves_nothing(backend: ModuleType) -> None:
    rows = linked(backend, [Part("user", 0, bytes(32), b"{}", 1)], (0, None), ("a", "bc"))
    assert backend.prove_rows(rows, "a", "bc") == 1
    assert backend.prove_rows(rows, "ab", "c") == 0
    assert backend.prove_rows(rows, "a", "b") == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=20,
)


@given(JSON)
def test_the_same_metadata(both: Both, value: Any) -> None:
    """The same bytes, or the same error, as for NaN and for keys with a lone surrogate."""
    python, rust = [outcome(kernels, {"value": value, "other": 1}) for kernels in both]
    assert python == rust
    if isinstance(python, bytes):
        assert json.loads(python) == {"value": value, "other": 1}


@pytest.mark.parametrize(
    "value",
    [
        *('\x7f\x00\x1f\x08\x0c\r\n\t"\\/', "é", "\uffff", "\U0001f600", "\ud83d", "\ude00\ud83d"),
        *(2**63, -(2**63) - 1, 10**400, -0.0, 1e16, 5e-324, 0.1, float("inf"), float("nan")),
        *({"b": 1, "a": 2, "é": 3, "\uffff": 4, "\U00010000": 5}, {"\ud800": 1, "a": 2}),
        *({1: 2, "1": 3}, {1: 2}, (1, 2), [(), {}], Kind.EDIT, b"", {1}, json, JsonText("a")),
        *(nested(199), nested(201), nested(300)),
    ],
    ids=lambda value: f"{value!a:.20}",
)
def test_metadata_of_every_type(both: Both, value: Any) -> None:
    python, rust = [outcome(kernels, {"value": value}) for kernels in both]
    assert python == rust


def outcome(kernels: ModuleType, metadata: Any) -> Any:
    try:
        return dump_metadata(kernels, metadata)
    except (TypeError, ValueError) as error:
        return type(error), str(error)


CUT = st.sampled_from(
    ("truncated", "TRUNCATED", "[toolcarry: ", "[toolcarry:", "saved to", "saved to ", " omitted", "trunc", "\u6572uncated", "\u6f22", "\U0001f600", "\xe9", "x" * 9)
)  # fmt: skip


@given(st.lists(CUT, max_size=8).map("".join))
def test_the_same_words(both: Both, text: str) -> None:
    assert both[0].has_cut_word(text) == both[1].has_cut_word(text)


@pytest.mark.parametrize("word", read_table("texts")["cut_words"])
@pytest.mark.parametrize("wide", ["", "\xe9", "\u6f22", "\U0001f600"])
def test_a_word_is_found_anywhere(backend: ModuleType, word: str, wide: str) -> None:
    far = "x" * 30
    for text in (f"{word}{far}{wide}", f"{wide}{far}{word}", f"{far}{wide}{word}{far}"):
        assert backend.has_cut_word(text)
    assert not backend.has_cut_word(f"{far}{word[:-1]}{wide}")


def test_a_word_begins_at_a_character(backend: ModuleType) -> None:
    word = read_table("texts")["cut_words"][0]
    shifted = "".join(map(chr, (byte << 8 for byte in word.encode())))
    assert not backend.has_cut_word(shifted)
    assert backend.has_cut_word(shifted + word)


TIMES = st.one_of(st.just(1_700_000_000_123_456), st.integers(-(2**63), 2**63 - 1))
WRITTEN = st.one_of(
    JSON.map(lambda value: {"value": value}),
    st.sampled_from(({}, {"a": 10**18}, {"a": -(10**30)}, {"a": "7" * 40}, {"a": "\ud800"})),
).map(lambda value: json.dumps(value).encode())
UNWRITTEN = st.sampled_from((b"", b"[]", b"1", b"{", b'{"a":', b"\xff"))


@given(
    st.lists(st.tuples(st.integers(0, 9), WRITTEN | UNWRITTEN, NUMBERS, TIMES), max_size=5), HEADS
)
def test_the_same_commits(both: Both, given: list[Any], head: Any) -> None:
    """The commits up to the first invalid row: a kind, metadata or a time that no version writes."""
    rows = [
        both[0].link_rows([Part("tool", kind, bytes(32), metadata, tokens)], head, 0, "", "c")[0]
        for kind, metadata, tokens, _ in given
    ]
    rows = [(*row[:8], each[3], row[9]) for row, each in zip(rows, given, strict=True)]
    python, rust = [kernels.commits_of(rows, "c", CommitInfo, tuple(Kind)) for kernels in both]
    assert repr(python) == repr(rust)  # NaN does not equal itself
    assert [type(commit.kind) for commit in rust] == [Kind] * len(rust)
    for row, commit in zip(rows, rust, strict=False):
        assert commit.parent_hash == (head[1] and head[1].hex())
        assert round((commit.created_at - EPOCH) / timedelta(microseconds=1)) == row[8]


def test_a_commit_is_frozen(backend: ModuleType) -> None:
    rows = linked(backend, [Part("user", 0, bytes(32), b"{}", 1)], (0, None), ("", "c"))
    (commit,) = backend.commits_of(rows, "c", CommitInfo, tuple(Kind))
    assert commit == CommitInfo(
        rows[0][1].hex(), None, "c", 1, "user", Kind.MESSAGE, "00" * 32, {}, 1, commit.created_at
    )
    with pytest.raises(AttributeError):
        commit.role = "tool"


@given(st.lists(st.binary()))
def test_the_same_addresses(both: Both, contents: list[bytes]) -> None:
    contents = [*contents, bytes(70_000)]  # so that the interpreter is released
    assert both[0].hash_contents(contents) == both[1].hash_contents(contents)


DRAFTS = st.lists(
    st.builds(
        Draft,
        NAMES,
        st.sampled_from(Kind),
        st.binary(max_size=80),
        st.dictionaries(st.text(max_size=4), JSON, max_size=3),
        NUMBERS,
        st.none() | st.binary(max_size=40),
    ),
    max_size=5,
)


@given(DRAFTS, st.booleans())
def test_the_same_parts(both: Both, drafts: list[Any], is_large: bool) -> None:
    """The same parts, stored metadata and contents, or the same error."""
    if is_large:  # so that the interpreter is released
        drafts.append(Draft("tool", Kind.RESULT, bytes(70_000), {}, 0, b"{%b}" % bytes(600)))
    python, rust = [prepared(kernels, drafts) for kernels in both]
    assert python == rust
    if isinstance(python[0], list):
        parts, stored, contents = python
        found = {row.hash: row.data for row in contents}
        assert sorted(found) == list(found)
        assert [found[part.content] for part in parts] == [draft.content for draft in drafts]
        hashes = both[0].hash_contents([draft.content for draft in drafts])
        assert [part.content for part in parts] == hashes
        assert {type(part.kind) for found in (python, rust) for part in found[0]} <= {int}
        assert [part.metadata for part in parts][: len(drafts) - is_large] == stored[
            : len(drafts) - is_large
        ]


def prepared(kernels: ModuleType, drafts: list[Any]) -> Any:
    try:
        return kernels.prepare_parts(drafts, "tenant")
    except (TypeError, ValueError) as error:
        return type(error), str(error)


def test_the_hash_is_stable(backend: ModuleType) -> None:
    """Rows that were written once must be verified by every later version."""
    part = Part("tool", 2, bytes(range(32)), b'{"is_error":false}', 7)
    (row,) = linked(backend, [part], (0, None), ("tenant", "conversation"))
    assert (row.hash.hex(), row.seal.hex()) == (
        "69c13607f30084c0b088105639db20814c0150a74e17e58e4ac67fc9dc3a941b",
        "060f27979d4e7868add79d83e7f2d4de",
    )
