"""Rows of commits with their metadata whole: where it is folded, the contents that it repeats are read first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from toolcarry import _backend
from toolcarry._pure.history.metadata_delta import FOLDED
from toolcarry.errors import StoreError
from toolcarry.tract.store.database import Row, Value
from toolcarry.tract.store.packing import unpack

__all__ = ["find_contents", "is_folded", "unfolded", "whole"]

AT_ONCE: Final = 100
"""Contents read by one statement."""

Read = Callable[[str, Sequence[Value]], list[Row]]


def unfolded(rows: list[Row], read: Read, tenant: str) -> list[Row]:
    """Rows that begin as ``Linked`` does, with their metadata as it was written.

    Where it can't be unfolded it stays as it is, and so does not prove itself.
    """
    folded = {row[5] for row in rows if is_folded(row)}
    if not folded:
        return rows
    contents = find_contents(read, tenant, folded)
    return [whole(row, contents.get(row[5])) if is_folded(row) else row for row in rows]


def is_folded(row: Row) -> bool:
    metadata = row[6]
    return isinstance(metadata, bytes) and metadata[:1] == FOLDED


def find_contents(read: Read, tenant: str, hashes: Iterable[bytes]) -> Mapping[bytes, Row]:
    """Of contents how they are packed, their size, and their bytes as they are stored, by their hashes."""
    found: dict[bytes, Row] = {}
    wanted = list(hashes)
    for start in range(0, len(wanted), AT_ONCE):
        some = wanted[start : start + AT_ONCE]
        places = ", ".join("?" * len(some))
        rows = read(
            "SELECT hash, packing, size, data FROM tract_contents "
            f"WHERE tenant = ? AND hash IN ({places})",
            (tenant, *some),
        )
        found.update((row[0], row[1:]) for row in rows)
    return found


def whole(row: Row, content: Row | None) -> Row:
    """A row with its metadata unfolded, by its stored content; the row itself where they don't belong together."""
    try:
        packing, size, data = content or (None, None, None)
        metadata = _backend.kernels.unfold(row[6], unpack(packing, data, size))
    except (StoreError, ArithmeticError, TypeError, ValueError):
        return row
    return (*row[:6], metadata, *row[7:])
