"""The last acknowledged commit of a file, in a file next to it that has its name and ``-head``.

SQLite takes the first frame of its log that is damaged or missing for the end of the log: if a log is cut, a bit of it
flips, or it is deleted, then the last commits are gone, and the file is whole. So the last one is noted outside of the
log, after each commit, without waiting for the disk: a process that is killed loses nothing of it, and after a loss of
power it is at most older than the file. It is looked for when the file is opened. Like the log, the note is deleted
when the file is closed by the last process that has it open: then nothing is only in the log.
"""

from __future__ import annotations

import os
import struct
import weakref
from contextlib import suppress
from typing import Final, NamedTuple
from zlib import crc32

__all__ = ["LAST", "MISSING", "HeadFile", "LastCommit"]

FIELDS: Final = struct.Struct("<8sQQ32s")
MAGIC: Final = b"tc-head1"
SLOT: Final = 64
LAST: Final = 0
MISSING: Final = 1


class LastCommit(NamedTuple):
    """A commit: the number of its conversation, its sequence there, and its hash."""

    conversation: int
    sequence: int
    commit_hash: bytes


class HeadFile:
    """The note of the last commit, and of one that was found missing. A note that can't be read or written is
    ignored."""

    def __init__(self, path: str, *, is_new: bool, is_read_only: bool) -> None:
        """Open the note of the database at ``path``. ``is_new``: that file was just created, so a note is an old one."""
        self._path = f"{path}-head"
        self._is_read_only = is_read_only
        self._descriptor: int | None = None
        self._closing: weakref.finalize[..., HeadFile] | None = None
        mode = os.O_RDONLY if is_read_only else os.O_RDWR | os.O_CREAT
        mode |= os.O_CLOEXEC | (os.O_TRUNC if is_new else 0)
        with suppress(OSError):
            self._descriptor = os.open(self._path, mode, 0o600)
            self._closing = weakref.finalize(self, os.close, self._descriptor)

    def read(self, slot: int) -> LastCommit | None:
        """Return the commit in a slot; ``None`` if there is none."""
        data = b""
        if self._descriptor is not None:
            with suppress(OSError):
                data = os.pread(self._descriptor, SLOT, slot * SLOT)
        if len(data) < SLOT or checksum(data[: FIELDS.size]) != data[FIELDS.size :]:
            return None
        magic, conversation, sequence, found = FIELDS.unpack_from(data)
        return LastCommit(conversation, sequence, found) if magic == MAGIC else None

    def write(self, slot: int, commit: LastCommit) -> None:
        """Note a commit."""
        if self._descriptor is not None:
            data = FIELDS.pack(MAGIC, *commit)
            try:
                os.pwrite(self._descriptor, data + checksum(data), slot * SLOT)
            except OSError:  # the commit is on the disk; the note is older, and says less
                return

    def close(self, *, is_last: bool) -> None:
        """Close the note. ``is_last``: no log is left, so delete it, unless it tells of a missing commit."""
        if is_last and not self._is_read_only and self.read(MISSING) is None:
            with suppress(OSError):
                os.unlink(self._path)  # noqa: PTH108 - the path as it was given
        self._descriptor = None
        if self._closing is not None:
            self._closing()


def checksum(data: bytes) -> bytes:
    return crc32(data).to_bytes(SLOT - FIELDS.size, "little")
