"""Read the bytes of a conversation that is packed with gzip or Zstandard, or is a folder of events.

The first bytes of a file show that it is packed, whatever its name. It is unpacked up to a cap, so that a few bytes
can't fill the memory. If the end is missing, as in a file that is still being written, the part that is there is used.
Shared by both backends.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import zlib
from pathlib import Path
from typing import Any, Final

from toolcarry.errors import InputError

MAX_UNPACKED: Final = 1 << 30
"""The largest number of bytes that a file may unpack to."""
GZIP: Final = b"\x1f\x8b"
ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
HEADING: Final = b"Exporting session"
"""The beginning of what ``opencode export`` tells (anomalyco/opencode, packages/opencode/src/cli/cmd/export.ts)."""
SKIPPABLE: Final = b"\x2a\x4d\x18"
"""The bytes 1 to 3 of a skippable frame in Zstandard, which holds no data of the file."""
NOT_ZERO: Final = re.compile(rb"[^\0]")
SQLITE: Final = b"SQLite format 3\0"
"""The first bytes of a SQLite file (https://www.sqlite.org/fileformat.html)."""
ZIP: Final = b"PK\x03\x04"
STEP: Final = 1 << 20
CHUNK: Final = 1 << 16


def read_file(path: Path, *, limit: int = MAX_UNPACKED) -> bytes:
    """Return all bytes of a file, unpacked if it is packed; for a folder of OpenHands events, one line per event.

    Raises ``OSError``, and ``InputError`` if it may never end, unpacks to more than ``limit`` bytes, or is damaged.
    """
    if path.is_dir():
        return join_events(path)
    check_end(path)
    return unpack(path.read_bytes(), limit=limit)


def check_end(file: Path | int) -> None:
    """Raise ``InputError`` for a file that may never end: a device, or a named pipe, which may never get a writer.

    An open file, given as its descriptor, may be a pipe: it has a writer. A pipe that a shell passes as a file has no
    name of its own; its path is one of a process's descriptors.
    """
    try:
        found = file.stat() if isinstance(file, Path) else os.fstat(file)
        if stat.S_ISFIFO(found.st_mode):
            is_endless = isinstance(file, Path) and not is_descriptor(file)
        else:
            is_device = stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode)
            is_endless = is_device and not os.path.samestat(found, Path(os.devnull).stat())
    except OSError:  # the error is raised when the file is read
        return
    if is_endless:
        raise InputError("is a device or a named pipe, which may never end", None)


def is_descriptor(path: Path) -> bool:
    """Return true for a path such as ``/dev/fd/63``."""
    return os.path.realpath(path).startswith(("/dev/", "/proc/"))


def is_sqlite(path: Path) -> bool:
    """Return true for a regular file that begins like a SQLite file. One that can't be read is reported when it is read."""
    return first_bytes(path).startswith(SQLITE)


def is_zip(path: Path) -> bool:
    """Return true for a regular file that begins like a zip file."""
    return first_bytes(path).startswith(ZIP)


def first_bytes(path: Path) -> bytes:
    """Return the first bytes of a regular file; none of any other, and of one that can't be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(len(HEADING))
    except (OSError, ValueError):
        return b""


def read_packed(path: Path) -> bytes | None:
    """Return ``read_file`` of a folder or a packed file; ``None`` for a plain file, or one that can't be read.

    The extension calls it.
    """
    try:
        if path.is_dir():
            return read_file(path)
        if not path.is_file():  # a pipe can be read only once
            return None
        with path.open("rb") as file:
            start = file.read(4)
        return read_file(path) if is_packed(start) else None
    except (InputError, OSError):
        return None


def is_packed(data: bytes) -> bool:
    """Return true if bytes begin like gzip or Zstandard, whose first frame may be a skippable one."""
    return data.startswith((GZIP, ZSTANDARD)) or is_skippable(data)


def is_skippable(data: bytes) -> bool:
    return 0x50 <= (data or b"\0")[0] <= 0x5F and data[1:4] == SKIPPABLE


def unpack(data: bytes, *, limit: int = MAX_UNPACKED) -> bytes:
    """Return ``data`` unpacked if it is packed, else unchanged.

    All members of a gzip file and all frames of a Zstandard file are read, with zeros or skippable frames between them.
    Raises ``InputError`` with the position in ``data`` if anything else follows, with the number of unpacked bytes if a
    member is damaged, and if there are more than ``limit`` bytes.

    >>> import gzip
    >>> unpack(gzip.compress(b"{}") + gzip.compress(b"{}")), unpack(b"[]")
    (b'{}{}', b'[]')
    """
    if data.startswith(GZIP):
        data = unpack_gzip(data, limit)
    elif is_packed(data):
        data = unpack_zstandard(data, limit)
    return without_heading(data)


def without_heading(data: bytes) -> bytes:
    r"""Return a file without the line that ``opencode export`` writes to the terminal, and so into a file with all output.

    >>> without_heading(b'Exporting session: ses_1\n{"info": {}}'), without_heading(b"Exporting session: ses_1")
    (b'{"info": {}}', b'Exporting session: ses_1')
    """
    if not data.startswith(HEADING):
        return data
    _, _, rest = data.partition(b"\n")
    return rest if rest.lstrip().startswith(b"{") else data


def unpack_gzip(data: bytes, limit: int) -> bytes:
    """Unpack all members of a gzip file. There may be zeros between and after them, as tapes and block devices leave."""
    found = Unpacked("gzip", limit)
    at = 0
    while data.startswith(GZIP, at):
        member = zlib.decompressobj(wbits=31)
        while not member.eof and at < len(data):
            chunk = data[at : at + CHUNK]
            try:
                found.add(member.decompress(chunk, found.room))
                # At the end of a member, what follows it may be in ``unconsumed_tail`` too: only ``eof`` tells the end.
                while member.unconsumed_tail and not member.eof:
                    found.add(member.decompress(member.unconsumed_tail, found.room))
            except zlib.error as error:
                raise found.damaged(error) from None
            at += len(chunk) - len(member.unused_data)
        found.is_whole = member.eof
        following = NOT_ZERO.search(data, at)
        at = following.start() if following else len(data)
    found.check_end(data, at, GZIP)
    return found.joined()


def unpack_zstandard(data: bytes, limit: int) -> bytes:
    """Unpack all frames of a Zstandard file."""
    zstd = zstandard()
    found = Unpacked("Zstandard", limit)
    at = 0
    while data.startswith(ZSTANDARD, at) or is_skippable(data[at : at + 4]):
        if not data.startswith(ZSTANDARD, at):
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        frame = zstd.ZstdDecompressor()
        while not frame.eof and at < len(data):
            chunk = data[at : at + CHUNK]
            try:
                found.add(frame.decompress(chunk, found.room))
                while not frame.eof and not frame.needs_input:
                    found.add(frame.decompress(b"", found.room))
            except zstd.ZstdError as error:
                raise found.damaged(error) from None
            at += len(chunk) - len(frame.unused_data)
        found.is_whole = frame.eof
    found.check_end(data, at, ZSTANDARD)
    return found.joined()


def zstandard() -> Any:
    """Return the ``zstd`` module of the standard library (from 3.14 on) or its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - slow
    else:
        from backports import zstd  # noqa: PLC0415 - slow
    return zstd


class Unpacked:
    """The bytes that were unpacked so far, up to a limit."""

    def __init__(self, kind: str, limit: int) -> None:
        self._kind = kind
        self._limit = limit
        self._size = 0
        self._parts: list[bytes] = []
        self.is_whole = True

    @property
    def room(self) -> int:
        """The most that the next step may add. It is one byte more than is allowed, so that an excess is noticed."""
        return min(STEP, self._limit - self._size + 1)

    def add(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._limit:
            raise InputError(f"unpacks to more than {self._limit:,} bytes")

    def check_end(self, data: bytes, at: int, magic: bytes) -> None:
        """Raise an error if anything but the beginning of another member is at the end."""
        if at < len(data) and not magic.startswith(data[at : at + len(magic)]):
            raise InputError(
                f"is not {self._kind} from byte {at:,} on, after {self._size:,} unpacked bytes", at
            )

    def joined(self) -> bytes:
        """Return all bytes. Raise an error if nothing was unpacked and the end is missing."""
        if not self._size and not self.is_whole:
            raise self.damaged("the end is missing")
        return b"".join(self._parts)

    def damaged(self, reason: object) -> InputError:
        return InputError(
            f"damaged {self._kind} after {self._size:,} unpacked bytes: {reason}", self._size
        )


def join_events(folder: Path) -> bytes:
    """Return the events of a folder as JSONL, in their order: one line per file."""
    inner = folder / "events"
    events = sorted((inner if inner.is_dir() else folder).glob("event-*.json"), key=event_order)
    if not events:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(folder))
    # A JSON string can't contain a raw line break, so that all line breaks may be replaced.
    return b"\n".join(b" ".join(event.read_bytes().splitlines()) for event in events)


def event_order(path: Path) -> tuple[int, str]:
    """Return a sort key: the number in ``event-00012-...``, then the name."""
    number = path.name.removeprefix("event-").partition("-")[0]
    return (int(number) if number.isascii() and number.isdigit() else sys.maxsize), path.name
