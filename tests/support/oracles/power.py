"""The possible contents of a disk after a loss of power, from the system calls that a traced process made.

What was written to a file is sure to be there only after a sync of it; before, any of its 512-byte sectors may have
come to the disk, or none. Names that were made or taken away are sure after a sync of their folder.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["CALLS", "Ack", "Disk", "read_trace"]

CALLS = "openat,pwrite64,write,fsync,fdatasync,ftruncate,unlink,mknod,mknodat"
SECTOR = 512

OPEN = re.compile(r'openat\(.*?, "(.*?)", (\S+?)(?:, 0\d+)?\) = \d')
WRITE = re.compile(r'pwrite64\(\d+<(.*?)>, "(.*)", \d+, (\d+)\) = (\d+)')
ACK = re.compile(r'write\(1<.*?>, "(.*)", \d+\) = \d')
SYNC = re.compile(r"f(?:data)?sync\(\d+<(.*?)>\)\s+= 0")
TRUNCATE = re.compile(r"ftruncate\(\d+<(.*?)>, (\d+)\)\s+= 0")
MAKE = re.compile(r'mknod(?:at)?\((?:.*?, )?"(.*?)", S_IFREG\|0\d+(?:, .*?)?\)\s+= 0')
UNLINK = re.compile(r'unlink\("(.*?)"\)\s+= 0')

Change = Callable[[bytearray], None]


@dataclass(frozen=True)
class Ack:
    """A message that the process printed after a write."""

    text: str


@dataclass
class File:
    """The bytes that are sure to be there, and what may be there besides."""

    sure: bytearray = field(default_factory=bytearray)
    pending: list[Change] = field(default_factory=list)


class Disk:
    """A folder and its files, as the calls change them."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._sure: dict[str, File] = {}
        self._now: dict[str, File] = {}
        self._moves: list[tuple[str, File | None]] = []

    def make(self, path: str) -> None:
        if self._is_ours(path) and path not in self._now:
            self._now[path] = File()
            self._moves.append((path, self._now[path]))

    def unlink(self, path: str) -> None:
        if self._now.pop(path, None) is not None:
            self._moves.append((path, None))

    def write(self, path: str, data: bytes, offset: int) -> None:
        """Each sector of a write may be lost by itself."""
        if path not in self._now:
            return
        end = offset + len(data)
        start = offset
        while start < end:
            stop = min(end, (start // SECTOR + 1) * SECTOR)
            self._now[path].pending.append(put(data[start - offset : stop - offset], start))
            start = stop

    def truncate(self, path: str, size: int) -> None:
        if path in self._now:
            self._now[path].pending.append(cut(size))

    def sync(self, path: str) -> None:
        if path == self._folder:
            self._move(self._sure, len(self._moves))
            self._moves.clear()
        elif path in self._now:
            settle(self._now[path].sure, self._now[path].pending)
            self._now[path].pending.clear()

    def crash(self, chance: random.Random, folder: Path) -> None:
        """Write what is left after a loss of power at this moment."""
        names = dict(self._sure)
        self._move(names, chance.randint(0, len(self._moves)))
        kept = chance.choice((0.0, 0.5, 0.9, 1.0))
        for path, file in names.items():
            data = bytearray(file.sure)
            settle(data, [change for change in file.pending if chance.random() < kept])
            (folder / Path(path).name).write_bytes(data)

    def _move(self, names: dict[str, File], count: int) -> None:
        for path, file in self._moves[:count]:
            if file is None:
                names.pop(path, None)
            else:
                names[path] = file

    def _is_ours(self, path: str) -> bool:
        return str(Path(path).parent) == self._folder and not path.endswith("-shm")


def put(data: bytes, offset: int) -> Change:
    def change(file: bytearray) -> None:
        file.extend(bytes(max(0, offset - len(file))))
        file[offset : offset + len(data)] = data

    return change


def cut(size: int) -> Change:
    def change(file: bytearray) -> None:
        del file[size:]
        file.extend(bytes(size - len(file)))

    return change


def settle(file: bytearray, changes: list[Change]) -> None:
    for change in changes:
        change(file)


def read_trace(trace: Path, disk: Disk) -> Iterator[Ack | None]:
    """Replay a trace (``strace -y -xx``) on the disk; yield an ``Ack`` for each message of the process, else ``None``."""
    for line in trace.read_text().splitlines():
        if found := OPEN.search(line):
            if "O_CREAT" in found[2]:
                disk.make(text(found[1]))
        elif found := WRITE.search(line):
            assert len(unescape(found[2])) == int(found[4])
            disk.write(text(found[1]), unescape(found[2]), int(found[3]))
        elif found := ACK.search(line):
            yield Ack(text(found[1]))
            continue
        elif found := SYNC.search(line):
            disk.sync(text(found[1]))
        elif found := TRUNCATE.search(line):
            disk.truncate(text(found[1]), int(found[2]))
        elif found := MAKE.search(line):
            disk.make(text(found[1]))
        elif found := UNLINK.search(line):
            disk.unlink(text(found[1]))
        else:
            continue
        yield None


def unescape(shown: str) -> bytes:
    return bytes.fromhex(shown.replace("\\x", ""))


def text(shown: str) -> str:
    return unescape(shown).decode()
