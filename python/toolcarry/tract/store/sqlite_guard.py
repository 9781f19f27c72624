"""Keep other SQLite libraries of this process away from a file that is open here.

POSIX drops all locks of a process on a file when any of its descriptors of that file is closed. A library keeps its
descriptors open for as long as it holds locks, but doesn't know of another library's: that one's ``close`` lets a
second writer in, and the file is damaged. So Python's own ``sqlite3`` is refused a file that is open here, and a file
that something else of this process has open is refused here.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolcarry.errors import StoreError

Identity = tuple[int, int]
"""Of a file: its device and its number there."""

DESCRIPTORS: Final = Path("/proc/self/fd")

lock = threading.RLock()
"""Held while a file is looked for among the descriptors and noted as open: two threads that open one at the same time
would take each other for another library. Who holds it may be interrupted by what opens a file itself."""
opened: Counter[Identity] = Counter()
is_hooked = False


def add(path: str) -> Identity | None:
    """Keep other libraries of this process from a file, which is not open yet, until it is given to ``remove``.

    Raises ``StoreError`` where something else of this process has the file open, as far as the system tells.
    """
    global is_hooked  # noqa: PLW0603 - a hook can't be taken back, so there is one
    with lock:
        found = identity(path)
        if found is not None:
            if not opened[found]:
                check(path, found)
            opened[found] += 1
        if not is_hooked:
            is_hooked = True
            sys.addaudithook(refuse)
    return found


def check(path: str, wanted: Identity) -> None:
    """Raise ``StoreError`` where a descriptor of this process is the file's."""
    if not DESCRIPTORS.is_dir():
        return
    for descriptor in DESCRIPTORS.iterdir():
        with suppress(OSError):
            status = os.fstat(int(descriptor.name))
            if (status.st_dev, status.st_ino) == wanted:
                raise StoreError(
                    f"{path}: is open in this process already, by another library: closing it there "
                    "would take the locks on it away here"
                )


def remove(found: Identity | None) -> None:
    """Let a file go, by what ``add`` returned: at its path there may be another by now."""
    with lock:
        if found is not None and opened[found] > 0:
            opened[found] -= 1


def is_known(found: Identity) -> bool:
    with lock:
        return opened[found] > 0


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse Python's ``sqlite3`` a file that is open here."""
    if event != "sqlite3.connect" or not arguments:
        return
    found = identity(arguments[0])
    if found is not None and is_known(found):
        raise StoreError(
            f"{arguments[0]!r:.200} is open as a history in this process: a second SQLite library would damage it"
        )


def identity(path: object) -> Identity | None:
    """Of a file that is there."""
    if isinstance(path, str) and path.startswith("file:"):
        path = path.removeprefix("file:").partition("?")[0]
    if not isinstance(path, (str, bytes, os.PathLike)):
        return None
    try:
        status = Path(os.fsdecode(path)).stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
