"""Keep other SQLite libraries of this process away from a file that is open here.

POSIX drops all locks of a process on a file when any of its descriptors of that file is closed. A library keeps its
own descriptors open while it holds locks. But if another library in the process closes the file, the locks are lost, a
second writer gets in, and the file is damaged. So Python's own ``sqlite3`` can't open a file that is open here, and a
file that another library in this process has open can't be opened here.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolcarry.errors import StoreError

Identity = tuple[int, int]
"""The device and the inode number of a file."""

DESCRIPTORS: Final = Path("/proc/self/fd")

lock = threading.RLock()
"""Held while a file is searched among the descriptors and added to ``opened``: else two threads that open it at the
same time would take each other for another library. It is reentrant, since code that interrupts its holder, such as a
signal handler, may open a file too."""
opened: dict[int, Identity] = {}
"""The open files by the ``id`` of their owners, so that removing one twice, or before it was added, does no harm."""
is_hooked = False


def add(path: str, owner: object) -> Identity | None:
    """Keep other libraries of this process from a file until its owner is removed. Call it before opening the file.

    Raises ``StoreError`` if another library in this process has the file open, as far as the system can report that.
    """
    global is_hooked  # noqa: PLW0603 - an audit hook can't be removed, so it is added only once
    with lock:
        found = identity(path)
        if found is not None:
            if not is_known(found):
                try:
                    check(path, found)
                except OSError as error:  # no descriptor is left to look with
                    raise StoreError(f"{path}: can't be opened: {error.strerror}") from error
            opened[id(owner)] = found
        if not is_hooked:
            is_hooked = True
            sys.addaudithook(refuse)
    return found


def check(path: str, wanted: Identity) -> None:
    """Raise ``StoreError`` if this process has a descriptor of the file."""
    if not DESCRIPTORS.is_dir():
        return
    for descriptor in DESCRIPTORS.iterdir():
        with suppress(OSError):
            status = os.fstat(int(descriptor.name))
            if (status.st_dev, status.st_ino) == wanted:
                raise StoreError(
                    f"{path}: is already open in this process, by another library: closing it there "
                    "would release the locks on it here"
                )


def remove(owner: object) -> None:
    """Release the file of an owner, if it has one."""
    release(id(owner))


def release(key: int) -> None:
    """Release the file of the owner with this ``id``, which may be gone by now."""
    with lock:
        opened.pop(key, None)


def is_known(found: Identity) -> bool:
    with lock:
        return found in opened.values()


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Raise ``StoreError`` if Python's ``sqlite3`` opens a file that is open here."""
    if event != "sqlite3.connect" or not arguments:
        return
    found = identity(arguments[0])
    if found is not None and is_known(found):
        raise StoreError(
            f"{arguments[0]!r:.200} is open as a history in this process: a second SQLite library would damage it"
        )


def identity(path: object) -> Identity | None:
    """Return the identity of a file; ``None`` if it does not exist."""
    if isinstance(path, str) and path.startswith("file:"):
        path = path.removeprefix("file:").partition("?")[0]
    if not isinstance(path, (str, bytes, os.PathLike)):
        return None
    try:
        status = os.stat(path)  # noqa: PTH116 - before each write, and a path object takes longer than the call
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
