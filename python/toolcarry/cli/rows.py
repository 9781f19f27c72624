"""The rows of ``toolcarry batch``: one for each file, written as JSON lines or as Parquet."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, Protocol, Self

from toolcarry.api.rows import Row
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.io import is_store, json_line
from toolcarry.cli.replacement import Replacement
from toolcarry.cli.terminal import label
from toolcarry.tables import arrow_schema

ROWS: Final = 1_000
CHARS: Final = 16_000_000
"""A row group of Parquet ends with this number of rows, or of characters."""
INSTALL: Final = "Parquet needs pyarrow; install it: pip install 'toolcarry[batch]'"


class Sink(Protocol):
    """Takes rows; ``close`` makes the file whole."""

    def write(self, row: Row) -> None: ...
    def close(self) -> None: ...


class JsonRows:
    """Rows as JSON lines."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def write(self, row: Row) -> None:
        self._file.write(json_line(row))

    def close(self) -> None:
        self._file.close()


class ParquetRows:
    """Rows as Parquet, in row groups, so that memory does not grow with their number."""

    def __init__(self, path: Path, columns: Mapping[str, type]) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        self._table = pa.Table
        self._schema = arrow_schema(columns)
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Row] = []
        self._chars = 0

    def write(self, row: Row) -> None:
        row = {key: encodable(value) for key, value in row.items()}
        self._rows.append(row)
        self._chars += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._rows) >= ROWS or self._chars >= CHARS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._table.from_pylist(self._rows, schema=self._schema))
        self._rows, self._chars = [], 0

    def close(self) -> None:
        self._flush()
        self._writer.close()


def encodable(value: object) -> object:
    """Return a value with what is not Unicode as an escape, such as the bytes of a file's name.

    >>> encodable("\\udcff.jsonl"), encodable(1)
    ('\\\\udcff.jsonl', 1)
    """
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


class RowFile:
    """A file of rows that is written under a temporary name and then replaces the target as a whole.

    As a context manager, it replaces the target at the end and after an interrupt; any other error leaves the old file.
    """

    def __init__(self, path: Path, columns: Mapping[str, type]) -> None:
        self._path = path
        self._columns = columns
        self._replacement: Replacement | None = None
        self.is_put = False
        """True once the file has taken its place."""
        self._sink: Sink

    def _open(self) -> None:
        try:
            if self._path.is_dir() or is_store(self._path.resolve()):
                raise FileError(f"{self._shown()}: is a directory or a store", USAGE)
            self._replacement = Replacement(self._path)
            self._replacement.make()
            new = self._replacement.path
            is_parquet = self._path.suffix == ".parquet"
            self._sink = ParquetRows(new, self._columns) if is_parquet else JsonRows(new)
        except FileNotFoundError:
            raise FileError(f"{self._shown()}: no such directory", NOT_FOUND) from None
        except OSError as error:
            raise FileError(f"{self._shown()}: cannot write: {error.strerror}", FAILED) from None
        except ModuleNotFoundError as error:
            if error.name != "pyarrow":
                raise
            raise FileError(INSTALL, USAGE) from None

    def _shown(self) -> str:
        return f"--out {label(str(self._path))}"

    def write(self, row: Row) -> None:
        """Add a row."""
        self._sink.write(row)

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._sink.close()
            is_kept = kind is None or kind is KeyboardInterrupt
            if self._replacement is not None and is_kept:
                self._replacement.put()
                self.is_put = True
        finally:
            self._remove()

    def _remove(self) -> None:
        if self._replacement is not None:
            self._replacement.remove()


def read_rows(path: Path, columns: Collection[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a file; those of Parquet with some of their columns only."""
    if path.suffix == ".parquet":
        try:
            from pyarrow import parquet  # noqa: PLC0415 - an extra
        except ModuleNotFoundError:
            raise FileError(INSTALL, USAGE) from None
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS, columns=columns and list(columns)):
                yield from batch.to_pylist()
        return
    with path.open("rb") as lines:
        for line in lines:
            yield json.loads(line)
