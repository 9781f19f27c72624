"""Verify, repair, archive and measure a store, and delete conversations."""

from __future__ import annotations

import glob
import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from toolcarry.errors import ConfigError, StoreError
from toolcarry.tract.store import is_url, open_database
from toolcarry.tract.store.archive import archive, forget
from toolcarry.tract.store.database import Database
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.salvage import salvage
from toolcarry.tract.store.sqlite import MEMORY
from toolcarry.tract.store.types import Archived, Kind, Salvage, Stats
from toolcarry.tract.store.validate import check_name
from toolcarry.tract.store.verify import all_conversations, verify
from toolcarry.types.values import checked_path

__all__ = ["archive_conversations", "conversation_names", "count", "forget_conversation", "repair"]


def count(log: Log) -> Stats:
    """Count the commits by kind, the tokens of the original messages, and the bytes of all contents, each once."""
    kinds: Counter[str] = Counter()
    sizes: dict[str, tuple[int, int]] = {}
    tokens = 0
    for commit, size, stored in log.measured():
        kinds[commit.kind.name.lower()] += 1
        sizes[commit.content_hash] = (size, stored)
        if commit.kind < Kind.RECORD:
            tokens += commit.token_count
    return Stats(
        sum(kinds.values()),
        dict(kinds),
        tokens,
        sum(size for size, _ in sizes.values()),
        sum(stored for _, stored in sizes.values()),
    )


def conversation_names(log: Log) -> list[str]:
    """Return the names of the tenant's conversations, in the order in which they began."""
    found = all_conversations(log.database)
    return [name for _, tenant, name in found if tenant == log.tenant]


def repair(log: Log, path: str | os.PathLike[str], tenant: str | None) -> Salvage:
    """Copy what can be verified into a new file. Raises ``ConfigError`` if something is at the path.

    The copy has another name until it is complete, verified and on the disk.
    """
    name = checked_path("path", path)
    if name == MEMORY or is_url(name) or os.path.lexists(name):
        raise ConfigError(f"path: {name!r} is not allowed; allowed: a new file")
    with new_name(name) as partial:
        with other_store(log, "path", partial) as target:
            done = salvage(log.database, target, tenant)
            made = verify(target)
            if made.damaged or made.checked != done.saved:
                raise StoreError(
                    f"{partial}: the copy differs from what was written; the disk may be damaged"
                )
        sync(partial)
        if os.path.lexists(name):
            raise ConfigError(f"path: {name!r} is not allowed; allowed: a new file")
        Path(partial).rename(name)
        sync(Path(name).absolute().parent)
    return done


@contextmanager
def new_name(name: str) -> Iterator[str]:
    """Yield a name for a copy that is not complete; remove its files at the end, and those that a killed process left.

    A process holds a lock on the file ``-lock`` next to its copy, which ends with the process.
    """
    place = Path(name).absolute()
    for lock in place.parent.glob(f"{glob.escape(place.name)}.????????.partial-lock"):
        with suppress(OSError), lock.open("rb") as held:
            take_lock(held, waits=False)
            remove_partial(str(lock).removesuffix("-lock"))
    partial = f"{name}.{secrets.token_hex(4)}.partial"
    try:
        with Path(f"{partial}-lock").open("wb") as held:
            take_lock(held, waits=True)
            yield partial
    finally:
        remove_partial(partial)


def take_lock(file: IO[bytes], *, waits: bool) -> None:
    """Lock a file until it is closed. Raises ``OSError`` if another process has locked it, and ``waits`` is false.

    Windows deletes no file that is open, so nothing is locked there.
    """
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415 - not on Windows

        fcntl.flock(file, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_partial(partial: str) -> None:
    """Remove the files of a copy that is not complete."""
    for suffix in ("", "-wal", "-shm", "-head", "-lock"):
        Path(f"{partial}{suffix}").unlink(missing_ok=True)


def sync(path: str | Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def archive_conversations(log: Log, target: str | os.PathLike[str], before: datetime) -> Archived:
    """Move the tenant's conversations that ended before a time to another store."""
    if not isinstance(before, datetime) or before.tzinfo is None:
        raise ConfigError(
            f"before: {before!r} is not allowed; allowed: a datetime with its time zone"
        )
    with other_store(log, "target", target) as other:
        return archive(log.database, other, log.tenant, before)


def forget_conversation(log: Log, conversation: str | None) -> bool:
    """Delete a conversation of the tenant, by default the log's own. Return true if it existed."""
    name = log.conversation if conversation is None else conversation
    check_name("conversation", name)
    return forget(log.database, log.tenant, name)


@contextmanager
def other_store(log: Log, key: str, target: str | os.PathLike[str]) -> Iterator[Database]:
    """Open another persistent store. Raises ``ConfigError`` for memory, and for the log's own store."""
    name = checked_path(key, target, "a persistent store")
    if name == MEMORY:
        raise ConfigError(f"{key}: {MEMORY!r} is not allowed; allowed: a persistent store")
    other = open_database(name, busy_timeout=10.0)
    try:
        if other.identity() == log.database.identity():
            raise ConfigError(f"{key}: {other.name!r} is this store; allowed: another one")
        yield other
    finally:
        other.close()
