"""Disks that are full, fail or are not writable: acknowledged commits stay, errors are typed, and writing can continue."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.examples import IS_LONG
from support.processes import children

from toolcarry.errors import StoreError, StoreFullError
from toolcarry.tract import Tract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800 if IS_LONG else 120)]

# Each acknowledges what was appended, and then says which error stopped it.
WRITE_UNTIL_ERROR = """
import os, sys
from toolcarry.errors import StoreError
from toolcarry.tract import Tract

def write(path, count=1_000):
    tract = Tract.open(path)
    for number in range(count):
        try:
            commit = tract.user(f"{number} " + os.urandom(4_000).hex())
        except StoreError as error:
            print(type(error).__name__, flush=True)
            return tract
        print(commit.commit_hash, flush=True)
    return tract
"""
LIMIT_SIZE = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sizes = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, sizes[1]))
tract = write(sys.argv[1])
assert len(tract.log()) > 3
resource.setrlimit(resource.RLIMIT_FSIZE, sizes)
print(tract.user("there is room again").commit_hash)
"""
LIMIT_FILES = """
import resource
tract = Tract.open(sys.argv[1])
print(tract.user("first").commit_hash)
tract.close()
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
taken = [open(os.devnull) for _ in range(8)]
resource.setrlimit(resource.RLIMIT_NOFILE, (taken[-1].fileno() + 1, limits[1]))
for _ in range(3):
    try:
        write(sys.argv[1])
    except StoreError as error:
        print(type(error).__name__)
    taken.pop().close()  # so that it fails later each time
for file in taken:
    file.close()
print(write(sys.argv[1], 1).log()[0].commit_hash)
"""
LIMIT_MEMORY = """
import resource
tract = write(sys.argv[1], 5)
limits = resource.getrlimit(resource.RLIMIT_AS)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 40_000_000, limits[1]))
try:
    tract.user("x" * 30_000_000)
except (MemoryError, StoreError) as error:
    print(type(error).__name__)
resource.setrlimit(resource.RLIMIT_AS, limits)
print(tract.user("small").commit_hash)
"""
READ_AS_NOBODY = """
with Tract.open() as memory:
    memory.user("hi")  # imports what nobody may not be allowed to read
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for options in ({}, {"read_only": True}):
    tract = Tract.open(sys.argv[1], **options)
    print(len(tract.log()), len(list(tract.export())), tract.verify().is_whole)
    try:
        tract.user("hi")
    except StoreError as error:
        print(type(error).__name__, "reading only" in str(error))
    tract.close()
"""
GO_ON = """
try:
    tract = write(sys.argv[1], 6)
except StoreError as error:
    print(type(error).__name__)
    tract = Tract.open(sys.argv[1])
for number in range(3):
    try:
        commit = tract.user(f"later {number} " + os.urandom(50_000).hex())
    except StoreError as error:
        print(type(error).__name__)
    else:
        print(commit.commit_hash)
tract.close()
"""


def is_hash(line: str) -> bool:
    return len(line) == 64


def assert_whole(path: Path, acknowledged: list[str], unsure: int = 0) -> None:
    """All that was acknowledged is there, at most ``unsure`` commits more, and the store takes another."""
    with Tract.open(path) as tract:
        log = [commit.commit_hash for commit in reversed(tract.log())]
        assert log[: len(acknowledged)] == acknowledged
        assert len(log) - len(acknowledged) <= unsure
        assert tract.verify().is_whole
        assert tract.user("after").sequence == len(log) + 1


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 2 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    folder = Path(tempfile.mkdtemp(prefix="toolcarry-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        folder.rmdir()
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


def test_a_full_disk(small_disk: Path) -> None:
    path, filler = small_disk / "history.db", small_disk / "filler"
    filler.write_bytes(bytes(1_000_000))
    acknowledged: list[str] = []
    with Tract.open(path) as tract:
        texts = (os.urandom(4_000).hex() for _ in range(1_000))
        with pytest.raises(StoreFullError, match="is full"):
            acknowledged.extend(tract.user(text).commit_hash for text in texts)
        with pytest.raises(StoreFullError):
            tract.append_many([{"role": "user", "content": os.urandom(300_000).hex()}] * 3)
        assert [commit.commit_hash for commit in reversed(tract.log())] == acknowledged
        assert len(acknowledged) > 10
        assert len(tract.get_content(acknowledged[-1])) == 8_000
        assert tract.verify().is_whole
        filler.unlink()
        acknowledged.append(tract.user("there is room again").commit_hash)
    assert_whole(path, acknowledged)


def test_no_room_for_a_new_store(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(2 * 1024 * 1024))
    with pytest.raises(StoreError):
        Tract.open(small_disk / "history.db").user("hi")
    (small_disk / "filler").unlink()
    with Tract.open(small_disk / "history.db") as tract:
        tract.user("hi")


def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    *acknowledged, error, last = children.run(WRITE_UNTIL_ERROR + LIMIT_SIZE, path).split()
    assert error in ("StoreError", "StoreFullError")
    assert len(acknowledged) > 3
    assert_whole(path, [*acknowledged, last])


def test_no_more_descriptors(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    lines = children.run(WRITE_UNTIL_ERROR + LIMIT_FILES, path).split()
    assert "StoreError" in lines
    found = list(dict.fromkeys(line for line in lines if is_hash(line)))
    assert len(found) >= 2
    assert_whole(path, found)


def test_no_more_memory(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    lines = children.run(WRITE_UNTIL_ERROR + LIMIT_MEMORY, path).split()
    assert lines[5] in ("MemoryError", "StoreError", "StoreFullError")
    assert_whole(path, lines[:5] + lines[6:])


@pytest.mark.parametrize(
    ("calls", "error", "moments"),
    [
        ("fsync,fdatasync", "EIO", (1, 2, 3, 4, 6, 9, 13)),
        ("pwrite64", "EIO", (1, 3, 5, 6, 8, 11, 17, 29)),
        ("pwrite64", "ENOSPC", (1, 4, 7, 10, 20, 33)),
        ("ftruncate", "EIO", (1, 2)),
    ],
)
def test_calls_that_fail(
    strace: str, tmp_path: Path, calls: str, error: str, moments: tuple[int, ...]
) -> None:
    """The disk fails once, at different moments, and works again afterwards."""
    failed = 0
    for moment in range(1, 60) if IS_LONG else moments:
        path = tmp_path / f"{moment}.db"
        inject = f"inject={calls}:error={error}:when={moment}"
        script = WRITE_UNTIL_ERROR + GO_ON
        traced = [
            strace,
            "-f",
            "--seccomp-bpf",
            "-o",
            os.devnull,
            "-e",
            f"trace={calls}",
            "-e",
            inject,
        ]
        ended = subprocess.run(
            [*traced, *children.command(script, path)],
            **children.with_defaults({}),
            timeout=children.TIMEOUT,
            check=False,
        )
        lines = ended.stdout.split()
        assert ended.returncode == 0, ended.stderr
        assert all(is_hash(line) or line.startswith("Store") for line in lines), ended.stderr
        errors = [line for line in lines if not is_hash(line)]
        failed += bool(errors)
        assert_whole(path, [line for line in lines if is_hash(line)], len(errors))
    assert failed or calls == "ftruncate"


@pytest.mark.parametrize("is_folder_fixed", [False, True])
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_read_only_file(is_folder_fixed: bool, is_closed: bool) -> None:
    folder = Path(tempfile.mkdtemp(prefix="toolcarry-fixed-"))  # pytest's own is closed to others
    path = folder / "history.db"
    tract = Tract.open(path)
    try:
        tract.append_many([{"role": "user", "content": f"text {i}"} for i in range(5)])
        if is_closed:
            tract.close()
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555 if is_folder_fixed else 0o777)
        lines = children.run(WRITE_UNTIL_ERROR + READ_AS_NOBODY, path).splitlines()
        assert lines == ["5 5 True", "StoreError True"] * 2
    finally:
        tract.close()
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_where_nothing_can_be_made(tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "history.db", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(StoreError):
            Tract.open(path)
    assert list(tmp_path.iterdir()) == []
