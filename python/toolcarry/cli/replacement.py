"""A file that takes the place of another as a whole, or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import weakref
from contextlib import suppress
from pathlib import Path

__all__ = ["Replacement"]


class Replacement:
    """A new file at ``path``, which ``put`` moves to its target, with the mode of the file that it replaces.

    A link stays, and the file that it leads to is replaced. The name is known before the file exists, and the file is
    removed with this object at the latest: after an interrupt at any moment nothing is left, even where one comes as
    ``remove`` begins.

    >>> new = Replacement(Path("notes.txt"))
    >>> try:  # doctest: +SKIP
    ...     new.make()
    ...     new.path.write_text("all of it")
    ...     new.put()
    ... finally:
    ...     new.remove()
    """

    def __init__(self, target: Path) -> None:
        self._target = target.resolve()
        name = f".{self._target.name[:40]}.{secrets.token_hex(8)}.tmp"
        self.path = self._target.with_name(name)
        weakref.finalize(self, remove, self.path)

    def make(self) -> None:
        """Make the empty file. Raises ``OSError``."""
        mode = self._mode()
        self.path.touch(0o666 if mode is None else 0o600, exist_ok=False)
        if mode is not None:
            self.path.chmod(mode)

    def put(self) -> None:
        """Move the file to its place as soon as its content is on the disk. Raises ``OSError``."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.path.replace(self._target)

    def remove(self) -> None:
        """Remove the file, unless it was put in its place."""
        remove(self.path)

    def _mode(self) -> int | None:
        """Return the mode of the file that is replaced; ``None`` if there is none."""
        try:
            return stat.S_IMODE(self._target.stat().st_mode)
        except FileNotFoundError:
            return None


def remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
