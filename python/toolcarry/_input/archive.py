"""The bytes of a conversation that is not one plain file: packed with gzip or Zstandard, or a folder of events.

What is packed is told by its first bytes, whatever its name. It is unpacked up to a cap, so that a few bytes can't
fill the memory; where its end is missing, as in a file that is still written to, what is there counts.
Shared by both backends.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import zlib
from pathlib import Path
from typing import Any, Final

from toolcarry.errors import InputError

MAX_UNPACKED: Final = 1 << 30
"""Of so many bytes, at most, is what a file unpacks to."""
GZIP: Final = b"\x1f\x8b"
ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
SKIPPABLE: Final = b"\x2a\x4d\x18"
"""Behind its first byte, a frame of Zstandard's that holds nothing of the file."""
STEP: Final = 1 << 20
CHUNK: Final = 1 << 16


def read_file(path: Path, *, limit: int = MAX_UNPACKED) -> bytes:
    """All bytes of a file, unpacked where they are packed; of a folder of OpenHands events, a line for each.

    Raises ``OSError``, and ``InputError`` where it unpacks to more than ``limit`` bytes, or is damaged.
    """
    if path.is_dir():
        return join_events(path)
    return unpack(path.read_bytes(), limit=limit)


def check_end(path: Path) -> None:
    """Raise ``InputError`` for what may never end: a device, or a pipe with a name, to which nobody may come to write.

    A pipe that a shell puts in place of a file has none: it stands among the descriptors of a process.
    """
    try:
        mode = path.stat().st_mode
        is_endless = (
            not path.samefile(os.devnull)
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
            else stat.S_ISFIFO(mode) and not os.path.realpath(path).startswith(("/dev/", "/proc/"))
        )
    except OSError:  # which is told where it is read
        return
    if is_endless:
        raise InputError("is a device or a named pipe, which may never end", None)


def read_packed(path: Path) -> bytes | None:
    """``read_file`` of what is no plain file; ``None`` where it is one, or can't be read."""
    try:
        if path.is_dir():
            return read_file(path)
        if not path.is_file():  # what a pipe gives can be read once only
            return None
        with path.open("rb") as file:
            start = file.read(4)
        return read_file(path) if is_packed(start) else None
    except (InputError, OSError):
        return None


def is_packed(data: bytes) -> bool:
    """Whether bytes begin as gzip or Zstandard do; of the latter, with a frame that is to be skipped, too."""
    return data.startswith((GZIP, ZSTANDARD)) or is_skippable(data)


def is_skippable(data: bytes) -> bool:
    return 0x50 <= (data or b"\0")[0] <= 0x5F and data[1:4] == SKIPPABLE


def unpack(data: bytes, *, limit: int = MAX_UNPACKED) -> bytes:
    """``data`` unpacked, where it is packed; else as it is. What is no more of it is passed over.

    >>> import gzip
    >>> unpack(gzip.compress(b"{}")), unpack(b"[]")
    (b'{}', b'[]')
    """
    if data.startswith(GZIP):
        return unpack_gzip(data, limit)
    return unpack_zstandard(data, limit) if is_packed(data) else data


def unpack_gzip(data: bytes, limit: int) -> bytes:
    """All members of a gzip file. Zeros may stand between them."""
    found = Unpacked("gzip", limit)
    at = 0
    while data.startswith(GZIP, at):
        member = zlib.decompressobj(wbits=31)
        while not member.eof and at < len(data):
            chunk = data[at : at + CHUNK]
            try:
                found.add(member.decompress(chunk, found.room))
                while member.unconsumed_tail:
                    found.add(member.decompress(member.unconsumed_tail, found.room))
            except zlib.error as error:
                raise found.damaged(error) from None
            at += len(chunk) - len(member.unused_data)
        found.is_whole = member.eof
        while data[at : at + 1] == b"\0":
            at += 1
    return found.joined()


def unpack_zstandard(data: bytes, limit: int) -> bytes:
    """All frames of a Zstandard file."""
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
    return found.joined()


def zstandard() -> Any:
    """Zstandard as the standard library has it from 3.14 on."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - slow
    else:
        from backports import zstd  # noqa: PLC0415 - slow
    return zstd


class Unpacked:
    """What was unpacked so far, up to a limit."""

    def __init__(self, kind: str, limit: int) -> None:
        self._kind = kind
        self._limit = limit
        self._size = 0
        self._parts: list[bytes] = []
        self.is_whole = True

    @property
    def room(self) -> int:
        """How much the next step may add: one byte more than is allowed, so that it shows."""
        return min(STEP, self._limit - self._size + 1)

    def add(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._limit:
            raise InputError(f"unpacks to more than {self._limit:,} bytes")

    def joined(self) -> bytes:
        """All of it. Nothing at all is an error where the end is missing."""
        if not self._size and not self.is_whole:
            raise self.damaged("the end is missing")
        return b"".join(self._parts)

    def damaged(self, reason: object) -> InputError:
        return InputError(
            f"damaged {self._kind} behind {self._size:,} unpacked bytes: {reason}", self._size
        )


def join_events(folder: Path) -> bytes:
    """The events of a folder as JSONL, in their order: a file by file, a line by line."""
    inner = folder / "events"
    events = sorted((inner if inner.is_dir() else folder).glob("event-*.json"), key=event_order)
    if not events:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(folder))
    # A line break can't stand inside of a JSON string, so that none of them is needed.
    return b"\n".join(b" ".join(event.read_bytes().splitlines()) for event in events)


def event_order(path: Path) -> tuple[int, str]:
    """``event-00012-...`` by its number."""
    number = path.name.removeprefix("event-").partition("-")[0]
    return (int(number) if number.isascii() and number.isdigit() else sys.maxsize), path.name
