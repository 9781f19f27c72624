"""A table as one test: the rows run one after the other, and each row that fails is reported."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])
Label = Callable[[Any], object]


def for_each(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Iterable[str] | Label | None = None,
) -> Callable[[Test], Test]:
    """Run a test once for each row, in one case that fails with the errors of all rows that fail.

    It takes what ``pytest.mark.parametrize`` takes, but for marks. Fixtures are shared by the rows. Use it for tables;
    where few values are distinct situations, ``parametrize`` makes each a case of its own.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(_read_rows(wanted, list(rows), ids))
    assert table, "a table without rows tests nothing"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in wanted]

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            errors: list[BaseException] = []
            for label, values in table:
                try:
                    test(**fixtures, **values)
                except (Exception, pytest.fail.Exception) as error:
                    if str(error).startswith("Timeout (>"):
                        raise
                    error.add_note(f"row: {label}")
                    errors.append(error)
            if len(errors) == 1:
                raise errors[0]
            if errors:
                raise BaseExceptionGroup(f"{len(errors)} of {len(table)} rows failed", errors)

        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]

    return decorate


def _read_rows(
    names: list[str], rows: list[Any], ids: Iterable[str] | Label | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The label and the values of each row."""
    labels = None if ids is None or callable(ids) else list(ids)
    assert labels is None or len(labels) == len(rows)
    for index, row in enumerate(rows):
        values, label = row if len(names) > 1 else (row,), labels[index] if labels else None
        if isinstance(row, type(pytest.param())):
            assert not row.marks, "a row has no marks"
            values, label = row.values, row.id
        if label is None:
            named = [ids(value) if callable(ids) else _name(value) for value in values]
            label = ", ".join(map(str, named))
        yield label, dict(zip(names, values, strict=True))


def _name(value: Any) -> str:
    name = getattr(value, "__name__", None) or repr(value)
    return name if len(name) <= 200 else f"{name[:200]}..."
