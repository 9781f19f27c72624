"""Functions on Arrow tables: a row for each conversation, as ``toolcarry batch`` writes them for files.

Tables come in through the Arrow PyCapsule interface, so that pyarrow, Polars, DuckDB, Daft and others work. The result
is a pyarrow table, which all of these accept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard

from toolcarry._input.archive import unpack
from toolcarry._input.sources import check_content
from toolcarry._util.pool import in_threads
from toolcarry.api.rows import (
    CARRIED,
    FILE_COLUMNS,
    INSPECTED,
    Row,
    carried,
    inspected,
    make_row,
    read_path,
    stamp,
)
from toolcarry.errors import ConfigError, InputError
from toolcarry.types.policy import CarryPolicy, policy_from

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrowStream", "arrow_schema", "carry_table", "inspect_table"]

INSTALL: Final = "tables need pyarrow, which is not installed; pip install 'toolcarry[batch]'"


class ArrowStream(Protocol):
    """A table, or a stream of record batches, with the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def carry_table(
    table: ArrowStream,
    *,
    policy: CarryPolicy | None = None,
    content: str = "content",
    path: str = "path",
    threads: int | None = None,
) -> pa.Table:
    """Run ``carry`` for each row of an Arrow table, in ``threads`` threads (by default one per processor).

    Each row has the bytes or the text of a conversation in the column ``content``, or the name of its file in the
    column ``path``; the arguments ``content`` and ``path`` can name other columns. The result has the same rows in the
    same order: first all other columns of the table, unchanged, then the columns of ``toolcarry batch --job carry``. If
    a row can't be read, its column ``error`` has the reason, and the others are still read. Raises ``ConfigError`` if
    the table has neither column, or has a column of the same name as one of the result, or if pyarrow is not installed
    (extra ``batch``).

    >>> import pyarrow
    >>> table = carry_table(pyarrow.table({"id": [7, 8], "content": ['[{"role": "user", "content": "hi"}]', ""]}))
    >>> table.select(["id", "shown", "error"]).to_pylist()
    [{'id': 7, 'shown': 0, 'error': None}, {'id': 8, 'shown': None, 'error': 'is empty'}]
    """
    job = partial(carried, policy=policy_from(CarryPolicy, policy, {}))
    return rows_of(table, job, CARRIED, content=content, path=path, threads=threads)


def inspect_table(
    table: ArrowStream,
    *,
    content: str = "content",
    path: str = "path",
    threads: int | None = None,
) -> pa.Table:
    """Survey the conversation in each row of an Arrow table: ``inspect``, its tokens, and the facts about its session.

    Arguments and errors are those of ``carry_table``; the columns are those of ``toolcarry batch --job inspect``.

    >>> import pyarrow
    >>> inspect_table(pyarrow.table({"content": ['[{"role": "user", "content": "hi"}]']}))["messages"].to_pylist()
    [1]
    """
    return rows_of(table, inspected, INSPECTED, content=content, path=path, threads=threads)


def rows_of(
    table: ArrowStream,
    job: Callable[[bytes], Row],
    columns: Mapping[str, type],
    *,
    content: str,
    path: str,
    threads: int | None,
) -> pa.Table:
    """Return a table with one row for each row of another table, batch by batch."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise ConfigError(INSTALL) from None
    if threads is not None and (type(threads) is not int or threads < 1):
        raise ConfigError(f"threads: {threads!r} is not allowed; allowed: an integer >= 1, None")
    if not is_stream(table):
        raise ConfigError(
            f"table: {type(table).__name__} is not allowed; allowed: an object with __arrow_c_stream__"
        )
    reader = pa.RecordBatchReader.from_stream(table)
    columns = {**FILE_COLUMNS, **columns}
    given = reader.schema
    check_columns(given, columns, content, path)
    kept = [field for field in given if field.name not in (content, path)]
    made = arrow_schema(columns)
    schema = pa.schema([*kept, *made])

    def row_at(batch: Any, number: int) -> Row:
        found = {name: batch.column(name)[number].as_py() for name in (content, path) if name in given.names}  # fmt: skip
        name = found.get(path)
        if content in found:
            data = found[content]
            raw = data.encode() if isinstance(data, str) else data
            facts = {"file": name, "size": None if raw is None else len(raw)}
            return make_row(columns, facts, lambda: job(content_of(raw)))
        size, modified = stamp(name or "")
        facts = {"file": name, "size": size, "modified": modified}
        return make_row(columns, facts, lambda: job(read_path(name or "")))

    tables = [schema.empty_table()]
    for batch in reader:
        rows = list(in_threads(range(batch.num_rows), partial(row_at, batch), threads or os.cpu_count() or 1))  # fmt: skip
        others = [batch.column(field.name) for field in kept]
        arrays = [*others, *pa.Table.from_pylist(rows, schema=made).columns]
        tables.append(pa.Table.from_arrays(arrays, schema=schema))
    return pa.concat_tables(tables)


def is_stream(table: object) -> TypeGuard[ArrowStream]:
    return hasattr(table, "__arrow_c_stream__") and not isinstance(table, type)


def content_of(data: bytes | None) -> bytes:
    """Return the bytes of a conversation that a table holds, decompressed."""
    if data is None:
        raise InputError("is null", None)
    return check_content(unpack(data))


def check_columns(schema: Any, columns: Mapping[str, type], content: str, path: str) -> None:
    """Raise ``ConfigError`` unless a table has a column to read, and no column with a name that the result uses."""
    import pyarrow.types as kinds  # noqa: PLC0415 - an extra

    names = schema.names
    is_text = (kinds.is_string, kinds.is_large_string, kinds.is_string_view)
    is_bytes = (kinds.is_binary, kinds.is_large_binary, kinds.is_binary_view)
    for name, allowed, tests in (
        (path, "string", is_text),
        (content, "binary, string", (*is_bytes, *is_text)),
    ):
        kind = schema.field(name).type if names.count(name) == 1 else None
        if kind is not None and not any(test(kind) for test in tests):
            raise ConfigError(f"column {name!r}: {kind} is not allowed; allowed: {allowed}")
    if content not in names and path not in names:
        raise ConfigError(f"table: has no column {content!r} or {path!r}; it has {', '.join(names) or 'none'}")  # fmt: skip
    others = [name for name in names if name not in (content, path)]
    taken = [name for name in others if name in columns]
    if taken:
        raise ConfigError(
            f"column {taken[0]!r}: the result has a column with this name; rename yours"
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ConfigError(f"column {twice[0]!r}: appears twice; rename one of them")


def arrow_schema(columns: Mapping[str, type]) -> Any:
    """Return the columns of rows as a schema of pyarrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    types = {int: pa.int64(), str: pa.string(), bool: pa.bool_(), float: pa.float64()}
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])
