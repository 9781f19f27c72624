"""Which database a target names."""

from __future__ import annotations

from toolcarry.errors import ConfigError
from toolcarry.tract.checks import check_timeout
from toolcarry.tract.store.database import Database
from toolcarry.tract.store.sqlite import MEMORY, SqliteDatabase

__all__ = ["MEMORY", "open_database"]


def open_database(target: str, *, busy_timeout: float, is_read_only: bool = False) -> Database:
    """The database at a path, ``:memory:`` or ``postgresql://...``; a new file where there is none."""
    if not target or "\0" in target:
        raise ConfigError(f"target: {target!r} is not allowed; allowed: a path, :memory:, a URL")
    check_timeout("busy_timeout", busy_timeout)
    if target.startswith(("postgresql://", "postgres://")):
        from toolcarry.tract.store.postgres import PostgresDatabase  # noqa: PLC0415 - an extra

        return PostgresDatabase(target, busy_timeout=busy_timeout, is_read_only=is_read_only)
    return SqliteDatabase(target, busy_timeout=busy_timeout, is_read_only=is_read_only)
