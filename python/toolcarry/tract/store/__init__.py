"""The store of commits: an append-only log that verifies itself by hashes, on SQLite or PostgreSQL.

It handles hashes, rows and contents, and does not interpret messages.
"""

from __future__ import annotations

import os

from toolcarry.tract.store.database import Database
from toolcarry.tract.store.sqlite import SqliteDatabase
from toolcarry.tract.store.validate import check_timeout
from toolcarry.types.values import checked_path

__all__ = ["is_url", "open_database"]


def is_url(target: str) -> bool:
    """Return true if the target is a database on a server."""
    return target.startswith(("postgresql://", "postgres://"))


def open_database(
    target: str | os.PathLike[str], *, busy_timeout: float, is_read_only: bool = False
) -> Database:
    """Open the database at a path, ``:memory:`` or ``postgresql://...``; a file that does not exist is created.

    Raises ``ConfigError`` for a target or a timeout that is not allowed.
    """
    target = checked_path("target", target, "a path, :memory:, a URL")
    check_timeout("busy_timeout", busy_timeout)
    if is_url(target):
        from toolcarry.tract.store.postgres import PostgresDatabase  # noqa: PLC0415 - needs the extra "postgres"

        return PostgresDatabase(target, busy_timeout=busy_timeout, is_read_only=is_read_only)
    return SqliteDatabase(target, busy_timeout=busy_timeout, is_read_only=is_read_only)
