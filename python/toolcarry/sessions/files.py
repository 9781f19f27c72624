"""Files that are added to somebody's store: whole or not at all, and never in the place of another."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

__all__ = ["add_file", "digest_of"]


def add_file(path: Path, data: bytes) -> None:
    """Write a new file, and the folders that it needs; only its user may read it.

    Raises ``FileExistsError`` if there is a file of this name, which stays as it is, and ``OSError`` if it can't be
    written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        put(part, path)
    finally:
        with suppress(OSError):
            part.unlink()


def put(part: Path, path: Path) -> None:
    """Give a file its name, unless another file has it. Of two processes that try, one succeeds."""
    if os.name == "nt":
        part.rename(path)  # refuses to replace a file on Windows
        return
    path.hardlink_to(part)


def digest_of(path: Path) -> str:
    """Return a hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
