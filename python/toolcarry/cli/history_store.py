"""The store that the commands of ``toolcarry history`` work on: found, opened, and asked for a conversation.

What reads opens it for reading only, and makes none. The databases' libraries are imported when it is opened.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolcarry.cli.codes import FAILED, NOT_FOUND, USAGE, FileError
from toolcarry.cli.screen import label, one_line

if TYPE_CHECKING:
    from toolcarry.tract import Tract

__all__ = ["Store", "find_conversation"]

SERVERS: Final = ("postgresql://", "postgres://")
DEFAULT: Final = "default"
"""The conversation that has no other name, as at ``Tract.open``."""
MOST_NAMED: Final = 5
"""How many conversations are named where the one that was asked for is not among them."""


@dataclass(frozen=True, slots=True)
class Store:
    """Where a store is, and whose conversations are meant."""

    db: str
    tenant: str
    busy_timeout: float

    @property
    def files(self) -> list[str]:
        """The file that is not to be written over."""
        return [] if self.db.startswith(SERVERS) else [self.db]

    def check(self, *, is_new_allowed: bool) -> None:
        """Raise ``FileError`` where there can't be a store, and ``ConfigError`` where its settings are none.

        What is there is told at opening it.
        """
        from toolcarry.tract.store.validate import check_name, check_timeout  # noqa: PLC0415 - slow

        if self.db == ":memory:":
            raise FileError("--db :memory: ends with the command; name a file or a URL", USAGE)
        if self.db and "\0" not in self.db and self.files:
            check_file(self.db, is_new_allowed=is_new_allowed)
        check_name("tenant", self.tenant)
        check_timeout("busy_timeout", self.busy_timeout)

    def write(self) -> Tract:
        """Open the store for writing; a new one where there is none."""
        return self._open(is_read_only=False)

    @contextmanager
    def read(self, name: str | None) -> Iterator[Tract]:
        """Open a conversation that is there for reading."""
        with self.read_all() as tract:
            yield tract.in_conversation(find_conversation(name, tract.conversations()))

    def read_all(self) -> Tract:
        """Open the store as a whole for reading."""
        return self._open(is_read_only=True)

    def _open(self, *, is_read_only: bool) -> Tract:
        from toolcarry.tract import Tract  # noqa: PLC0415 - slow

        self.check(is_new_allowed=not is_read_only)
        return Tract.open(
            self.db,
            tenant=self.tenant,
            busy_timeout=self.busy_timeout,
            read_only=is_read_only,
        )


def check_file(name: str, *, is_new_allowed: bool) -> None:
    """Raise ``FileError`` where there is no file that may be a store; what else is wrong is told at opening it."""
    path = Path(os.path.realpath(name))
    try:
        if path.is_dir():
            raise FileError(f"--db {label(name)}: is a directory", FAILED)
        if is_new_allowed and not path.parent.is_dir():
            raise FileError(f"--db {label(name)}: no such directory", NOT_FOUND)
        if not is_new_allowed and not path.exists():
            raise FileError(f"--db {label(name)}: no such file", NOT_FOUND)
    except OSError as error:
        code = NOT_FOUND if error.errno == errno.ENAMETOOLONG else FAILED
        raise FileError(f"--db {label(name)}: cannot read: {error.strerror}", code) from None


def find_conversation(name: str | None, there: list[str]) -> str:
    """The conversation of that name; where none is named, the only one, or else ``default``.

    Raises ``FileError`` where it is not there; it names some that are.
    """
    if name is None:
        name = there[0] if len(there) == 1 else DEFAULT
    if name in there:
        return name
    named = ", ".join(repr(one_line(other)) for other in there[:MOST_NAMED])
    more = f" and {len(there) - MOST_NAMED:,} more" if len(there) > MOST_NAMED else ""
    known = f"there are {named}{more}" if there else "there is none"
    raise FileError(f"no conversation {one_line(name)!r}; {known}", NOT_FOUND)
