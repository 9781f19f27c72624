"""Rows of the history: what was written proves itself, and nothing else does."""

import json
import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry._input.json import dump_canonical
from toolcarry.tract import CommitInfo, Kind
from toolcarry.tract.store.hashing import (
    CommitRow,
    Draft,
    Part,
    content_hash,
    link_rows,
    prepare_parts,
    prove_rows,
)
from toolcarry.tract.store.rows import EPOCH, commits_of

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


def linked(parts: list[Part], head: Any, names: tuple[str, str]) -> list[Any]:
    return list(link_rows(parts, head, 1_700_000_000_000_000, *names))


@given(PARTS, HEADS, NAMES, NAMES)
def test_rows_prove_themselves(
    parts: list[Part], head: Any, tenant: str, conversation: str
) -> None:
    names = (tenant, conversation)
    rows = linked(parts, head, names)
    assert [row.sequence for row in rows] == [head[0] + place for place in range(1, len(rows) + 1)]
    assert [row.parent for row in rows] == [head[1], *[row.hash for row in rows]][: len(rows)]
    assert prove_rows(rows, *names) == len(rows)
    longer = [(*row, 0, 4, b"more") for row in rows]
    assert prove_rows(longer, *names) == len(rows)


@given(PARTS, HEADS, st.data())
def test_damaged_rows_prove_nothing(parts: list[Part], head: Any, data: st.DataObject) -> None:
    rows = linked(parts, head, ("", "default"))
    if not rows:
        return
    at = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, 9))
    value = data.draw(VALUES)
    if value == rows[at][column]:
        return
    rows[at] = (*rows[at][:column], value, *rows[at][column + 1 :])
    has_no_parent = column == 2 and not value and rows[at][2] in (None, b"")
    found = prove_rows(rows, "", "default")
    assert found == at or (has_no_parent and found == len(rows))


@pytest.mark.parametrize("column", range(10))
def test_a_column_that_changed(column: int) -> None:
    parts = [Part("tool", 2, bytes(range(32)), b'{"name":"Bash"}', 7)] * 3
    rows = linked(parts, (4, bytes(range(32))), ("tenant", "conversation"))
    value = rows[1][column]
    changed = value + 1 if isinstance(value, int) else value[:-1] + value[:1]
    assert changed != value
    rows[1] = (*rows[1][:column], changed, *rows[1][column + 1 :])
    assert prove_rows(rows, "tenant", "conversation") == 1


def test_another_conversation_proves_nothing() -> None:
    rows = linked([Part("user", 0, bytes(32), b"{}", 1)], (0, None), ("a", "bc"))
    assert prove_rows(rows, "a", "bc") == 1
    assert prove_rows(rows, "ab", "c") == 0
    assert prove_rows(rows, "a", "b") == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=20,
)


@given(JSON)
def test_canonical_metadata_is_json(value: Any) -> None:
    """The same value in any order of its keys; NaN and infinity are refused."""
    metadata = {"value": value, "other": 1}
    try:
        written = dump_canonical(metadata)
    except ValueError as error:
        assert "Out of range float values are not JSON compliant" in str(error)  # noqa: PT017
        return
    assert written.isascii()
    assert written == dump_canonical({"other": 1, "value": value})
    assert json.loads(written) == metadata


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("\x7f\x00\x08\x0c\r\n\t\"\\/", rb'"\u007f\u0000\b\f\r\n\t\"\\/"'),
        ("\xe9\uffff\U0001f600\ud83d", rb'"\u00e9\uffff\ud83d\ude00\ud83d"'),
        (2**63, b"9223372036854775808"),
        (10**25, b"1" + b"0" * 25),
        ([-0.0, 1e16, 5e-324, 0.1], b"[-0.0,1e+16,5e-324,0.1]"),
        ({"b": 1, "a": 2, "\xe9": 3, "\uffff": 4, "\U00010000": 5}, rb'{"a":2,"b":1,"\u00e9":3,"\uffff":4,"\ud800\udc00":5}'),
        ({"\ud800": 1, "a": 2}, rb'{"a":2,"\ud800":1}'),
        ({1: 2}, b'{"1":2}'),
        ([(1, 2), [(), {}], None, True], b"[[1,2],[[],{}],null,true]"),
        (Kind.EDIT, b"4"),
        (JsonText("a"), b'"a"'),
        (nested(300), b"[" * 300 + b"1" + b"]" * 300),
    ],
    ids=lambda value: f"{value!a:.20}",
)  # fmt: skip
def test_canonical_metadata_of_every_type(value: Any, written: bytes) -> None:
    assert dump_canonical(value) == written


@pytest.mark.parametrize("value", [math.inf, math.nan, {1: 2, "1": 3}, b"", {1}, json])
def test_metadata_that_is_not_json(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        dump_canonical({"value": value})


TIMES = st.one_of(st.just(1_700_000_000_123_456), st.integers(-(2**63), 2**63 - 1))
WRITTEN = st.one_of(
    JSON.map(lambda value: {"value": value}),
    st.sampled_from(({}, {"a": 10**18}, {"a": -(10**30)}, {"a": "7" * 40}, {"a": "\ud800"})),
).map(lambda value: json.dumps(value).encode())
UNWRITTEN = st.sampled_from((b"", b"[]", b"1", b"{", b'{"a":', b"\xff"))


@given(
    st.lists(st.tuples(st.integers(0, 9), WRITTEN | UNWRITTEN, NUMBERS, TIMES), max_size=5), HEADS
)
def test_commits_up_to_the_first_invalid_row(given: list[Any], head: Any) -> None:
    """Invalid: a kind, metadata or a time that no version writes."""
    rows = [
        link_rows([Part("tool", kind, bytes(32), metadata, tokens)], head, 0, "", "c")[0]
        for kind, metadata, tokens, _ in given
    ]
    rows = [row._replace(created_at=each[3]) for row, each in zip(rows, given, strict=True)]
    commits = commits_of(rows, "c")
    assert len(commits) == next((at for at, row in enumerate(rows) if not is_valid(row)), len(rows))
    for row, commit in zip(rows, commits, strict=False):
        assert type(commit) is CommitInfo
        assert type(commit.kind) is Kind
        assert commit.parent_hash == (head[1] and head[1].hex())
        assert round((commit.created_at - EPOCH) / timedelta(microseconds=1)) == row.created_at
        assert repr(commit.metadata) == repr(json.loads(row.metadata))  # NaN does not equal itself


def is_valid(row: CommitRow) -> bool:
    try:
        EPOCH + timedelta(microseconds=row.created_at)
        return row.kind < len(Kind) and isinstance(json.loads(row.metadata), dict)
    except (OverflowError, ValueError):
        return False


def test_a_commit_is_frozen() -> None:
    rows = linked([Part("user", 0, bytes(32), b"{}", 1)], (0, None), ("", "c"))
    (commit,) = commits_of(rows, "c")
    assert commit == CommitInfo(
        rows[0][1].hex(), None, "c", 1, "user", Kind.MESSAGE, "00" * 32, {}, 1, commit.created_at
    )
    with pytest.raises(AttributeError):
        commit.role = "tool"  # type: ignore[misc]


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


@given(DRAFTS)
def test_parts_refer_to_their_contents(drafts: list[Draft]) -> None:
    try:
        parts, stored, contents = prepare_parts(drafts, "tenant")
    except ValueError:  # a number that is not JSON
        return
    found = {row.hash: row.data for row in contents}
    assert sorted(found) == list(found)
    assert [found[part.content] for part in parts] == [draft.content for draft in drafts]
    assert [part.content for part in parts] == [content_hash(draft.content) for draft in drafts]
    assert {type(part.kind) for part in parts} <= {int}
    assert [part.metadata for part in parts] == stored  # too short to be folded


def test_the_hash_is_stable() -> None:
    """Rows that were written once must be verified by every later version."""
    part = Part("tool", 2, bytes(range(32)), b'{"is_error":false}', 7)
    (row,) = linked([part], (0, None), ("tenant", "conversation"))
    assert (row.hash.hex(), row.seal.hex()) == (
        "69c13607f30084c0b088105639db20814c0150a74e17e58e4ac67fc9dc3a941b",
        "060f27979d4e7868add79d83e7f2d4de",
    )
