"""A table in one test: every row runs, and every row that fails is named."""

import pytest
from support.rows import for_each


def test_each_row_runs_and_each_that_fails_is_named() -> None:
    seen = []

    @for_each("first", [1, 2])
    @for_each(("second", "expected"), [(2, 3), pytest.param(3, 4, id="three")])
    def check(base: int, first: int, second: int, expected: int) -> None:
        seen.append((first, second))
        assert base + first + second == expected

    with pytest.raises(BaseExceptionGroup) as caught:
        check(base=0)
    assert seen == [(1, 2), (1, 3), (2, 2), (2, 3)]
    assert caught.value.__notes__ == ["row: 2"]
    assert [error.__notes__ for error in caught.value.exceptions] == [["row: 2, 3"], ["row: three"]]


def test_a_row_that_raises_nothing_it_should_does_not_end_the_table() -> None:
    seen = []

    @for_each("value", ["1", "x", "2", "y"], ids=["one", "x", "two", "y"])
    def check(value: str) -> None:
        seen.append(value)
        with pytest.raises(ValueError, match="invalid"):
            int(value)

    with pytest.raises(BaseExceptionGroup) as caught:
        check()
    assert seen == ["1", "x", "2", "y"]
    assert [error.__notes__ for error in caught.value.exceptions] == [["row: one"], ["row: two"]]
