"""Rows of the history: what was written proves itself, nothing else does, and both backends say the same."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry._pure.history import Linked, Part

Both = tuple[ModuleType, ModuleType]

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
HASHES = st.binary(min_size=32, max_size=32)
NUMBERS = st.integers(0, 2**63 - 1)
PARTS = st.lists(
    st.tuples(NAMES, st.integers(0, 7), HASHES, st.binary(max_size=200), NUMBERS), max_size=5
)
HEADS = st.one_of(st.just((0, None)), st.tuples(st.integers(1, 2**62), HASHES))
VALUES = st.one_of(
    st.none(),
    st.text(max_size=4),
    st.binary(max_size=40),
    st.floats(),
    st.integers(-(2**70), 2**70),
)
"""What a damaged file may hold in any column."""


def linked(kernels: ModuleType, parts: list[Part], head: Any, names: tuple[str, str]) -> list[Any]:
    found: list[Linked] = kernels.link_rows(parts, head, 1_700_000_000_000_000, *names)
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
def test_what_is_damaged_proves_nothing(
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
    parts = [("tool", 2, bytes(range(32)), b'{"name":"Bash"}', 7)] * 3
    rows = linked(backend, parts, (4, bytes(range(32))), ("tenant", "conversation"))
    value = rows[1][column]
    changed = value + 1 if isinstance(value, int) else value[:-1] + value[:1]
    assert changed != value
    rows[1] = (*rows[1][:column], changed, *rows[1][column + 1 :])
    assert backend.prove_rows(rows, "tenant", "conversation") == 1


def test_another_conversation_proves_nothing(backend: ModuleType) -> None:
    rows = linked(backend, [("user", 0, bytes(32), b"{}", 1)], (0, None), ("a", "bc"))
    assert backend.prove_rows(rows, "a", "bc") == 1
    assert backend.prove_rows(rows, "ab", "c") == 0
    assert backend.prove_rows(rows, "a", "b") == 0


def test_the_hash_is_what_it_was(backend: ModuleType) -> None:
    """What was written once must be proved by every later version."""
    part = ("tool", 2, bytes(range(32)), b'{"is_error":false}', 7)
    (row,) = linked(backend, [part], (0, None), ("tenant", "conversation"))
    assert (row[1].hex(), row[9].hex()) == (
        "69c13607f30084c0b088105639db20814c0150a74e17e58e4ac67fc9dc3a941b",
        "060f27979d4e7868add79d83e7f2d4de",
    )
