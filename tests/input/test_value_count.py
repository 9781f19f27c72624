"""The values of a document are counted without decoding it, whatever its strings hold and wherever it is cut."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

import toolcarry._input.value_count as module
from toolcarry._input.value_count import has_many_values

Both = tuple[ModuleType, ModuleType]

LIMITS = {"MOST_CONTAINERS": 10, "MOST_VALUES": 30}
TEXT = st.text(st.sampled_from('a"\\[{,]}\n\u00e9\U0001f600'), max_size=12)
JSON = st.recursive(
    st.integers(0, 9) | st.booleans() | TEXT,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(TEXT, inner, max_size=6),
    max_leaves=40,
)


def counted(value: Any) -> tuple[int, int]:
    """Return the number of arrays and objects, and of commas between values."""
    if not isinstance(value, dict | list):
        return 0, 0
    inner = [counted(each) for each in (value.values() if isinstance(value, dict) else value)]
    containers, commas = (sum(part) for part in zip((0, 0), *inner, strict=True))
    return containers + 1, commas + max(len(value) - 1, 0)


@given(JSON, st.integers(1, 9), st.booleans())
def test_what_strings_hold_is_not_counted(value: Any, size: int, is_ascii: bool) -> None:
    data = json.dumps(value, ensure_ascii=is_ascii).encode()
    containers, commas = counted(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SLICE", size)
        for name, limit in LIMITS.items():
            patch.setattr(module, name, limit)
        expected = containers > LIMITS["MOST_CONTAINERS"] or commas >= LIMITS["MOST_VALUES"]
        assert has_many_values(data) is expected


@pytest.mark.parametrize("size", [0, 1, 7, 8])
def test_backslashes_at_the_end_of_a_slice(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICE", 8)
    for count in range(12):
        data = b'["' + b"a" * size + b"\\\\" * count + b'\\"' + b"," * 2_000_000 + b'"]'
        assert not has_many_values(data[:200_000])
        monkeypatch.setattr(module, "MOST_VALUES", 1_000)
        monkeypatch.setattr(module, "MOST_CONTAINERS", 100)
        assert not has_many_values(data[:3_000])
        assert has_many_values(data[:3_000] + b'"' + b"0," * 1_000)
        monkeypatch.undo()
        monkeypatch.setattr(module, "SLICE", 8)


@for_each(
    ("data", "expected"),
    [
        (b"[" + b"{}," * 99_999 + b"0]", False),
        (b"[" + b"{}," * 100_000 + b"0]", True),
        (b"[" + b"0," * 999_999 + b"0]", False),
        (b"[" + b"0," * 1_000_000 + b"0]", True),
        (b"[" * 200_000, True),
        (b'["' + b"[{," * 1_000_000 + b'"]', False),
        (b'["' + b"[{," * 1_000_000, False),
        (b'["' + b'\\"[' * 1_000_000 + b'"]', False),
        (b"", False),
    ],
    ids=["containers", "one more", "values", "one value more", "open", "text", "open text", "escapes", "empty"],
)  # fmt: skip
def test_the_limits(backend: ModuleType, data: bytes, expected: bool) -> None:
    assert backend.has_many_values(data) is expected


@given(
    st.lists(
        st.sampled_from([b"\\", b'"', b"[", b"{", b",", b"a", b'\\"']), min_size=1, max_size=12
    ).map(b"".join)
)
def test_both_backends_count_alike(both: Both, piece: bytes) -> None:
    outside = sum(map(piece.count, (b"[", b"{"))) or 1
    for times in (100_000 // outside, 100_000 // outside + 1):
        data = piece * times
        assert both[0].has_many_values(data) == both[1].has_many_values(data)
