"""Which database a target names."""

from __future__ import annotations

import os

from toolcarry.tract.checks import check_timeout
from toolcarry.tract.store.database import Database
from toolcarry.tract.store.sqlite import MEMORY, SqliteDatabase
from toolcarry.types import checked_path

__all__ = ["MEMORY", "open_database"]


def open_database(
    target: str | os.PathLike[str], *, busy_timeout: float, is_read_only: bool = False
) -> Database:
    """The database at a path, ``:memory:`` or ``postgresql://...``; a new file where there is none.

    Raises ``ConfigError`` for a target or a time that is none.
    """
    target = checked_path("target", target, "a path, :memory:, a URL")
    check_timeout("busy_timeout", busy_timeout)
    if target.startswith(("postgresql://", "postgres://")):
        from toolcarry.tract.store.postgres import PostgresDatabase  # noqa: PLC0415 - an extra

        return PostgresDatabase(target, busy_timeout=busy_timeout, is_read_only=is_read_only)
    return SqliteDatabase(target, busy_timeout=busy_timeout, is_read_only=is_read_only)
