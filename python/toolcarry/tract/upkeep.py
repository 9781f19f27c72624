"""What keeps a store trustworthy: proofs, repairs, and the one deletion."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from toolcarry.errors import ConfigError
from toolcarry.tract.checks import check_name
from toolcarry.tract.store.database import Database
from toolcarry.tract.store.log import Log
from toolcarry.tract.store.move import archive, forget
from toolcarry.tract.store.salvage import salvage
from toolcarry.tract.store.stats import count
from toolcarry.tract.store.target import MEMORY, open_database
from toolcarry.tract.store.verify import all_conversations, verify
from toolcarry.tract.threads import in_thread
from toolcarry.tract.values import Archived, Salvage, Stats, VerifyResult
from toolcarry.types import checked_path

__all__ = ["Upkeep"]


class Upkeep:
    """The part of ``Tract`` that looks after the store."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.counts: Counter[str] = Counter()
        """What went wrong without stopping anything: ``hook_failed``, and ``legacy_truncated``."""

    @property
    def conversation(self) -> str:
        """The name of the conversation."""
        return self._log.conversation

    def conversations(self) -> list[str]:
        """The names of the tenant's conversations, in the order in which they began."""
        found = all_conversations(self._log.database)
        return [name for _, tenant, name in found if tenant == self._log.tenant]

    def verify(self) -> VerifyResult:
        """Hash every commit and every content of the store again, of all its conversations, and list what is damaged."""
        return verify(self._log.database)

    def repair(self, path: str | os.PathLike[str]) -> Salvage:
        """Copy what still proves itself into a new file; what doesn't is listed, and noted there as lost.

        The damaged store stays as it is. Raises ``ConfigError`` where there is something at the path.
        """
        name = checked_path("path", path)
        if os.path.lexists(name):
            raise ConfigError(f"path: {name!r} is not allowed; allowed: a new file")
        with self._other("path", path) as target:
            return salvage(self._log.database, target)

    def stats(self) -> Stats:
        """What the conversation holds."""
        return count(self._log)

    def archive(self, target: str | os.PathLike[str], *, before: datetime) -> Archived:
        """Move the tenant's conversations to another store in which nothing is younger than ``before``.

        A conversation leaves this store when the other one has it whole and has proved it.
        Raises ``ConfigError`` where the other store is this one, by whatever name, or memory, which nobody could look into;
        ``StoreError`` where it has a different conversation of the same name, when all others have moved.
        """
        if not isinstance(before, datetime) or before.tzinfo is None:
            raise ConfigError(
                f"before: {before!r} is not allowed; allowed: a datetime with its time zone"
            )
        with self._other("target", target) as other:
            return archive(self._log.database, other, self._log.tenant, before)

    def forget(self, conversation: str | None = None) -> bool:
        """Delete a conversation for good, by default this one; whether there was one.

        Its contents go with it, unless another conversation of the tenant holds them as well. Raises ``StoreBusyError``
        where they are deleted, but a reader keeps them in the file for as long as it reads: then call it again.

        >>> from toolcarry.tract import Tract
        >>> with Tract.open() as tract:
        ...     _ = tract.user("My password is hunter2.")
        ...     tract.forget("default"), tract.log()
        (True, [])
        """
        name = self._log.conversation if conversation is None else conversation
        check_name("conversation", name)
        return forget(self._log.database, self._log.tenant, name)

    aconversations = in_thread(conversations)
    averify = in_thread(verify)
    arepair = in_thread(repair)
    astats = in_thread(stats)
    aarchive = in_thread(archive)
    aforget = in_thread(forget)

    @contextmanager
    def _other(self, key: str, target: str | os.PathLike[str]) -> Iterator[Database]:
        """Another store that lasts. Raises ``ConfigError`` for this one."""
        name = checked_path(key, target, "a store that lasts")
        if name == MEMORY:
            raise ConfigError(f"{key}: {MEMORY!r} is not allowed; allowed: a store that lasts")
        other = open_database(name, busy_timeout=10.0)
        try:
            if other.identity() == self._log.database.identity():
                raise ConfigError(f"{key}: {other.name!r} is this store; allowed: another one")
            yield other
        finally:
            other.close()
