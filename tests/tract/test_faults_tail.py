"""A log that is cut, damaged or deleted after a crash: the missing commits are reported."""

import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from support.examples import IS_LONG
from support.processes import children

from toolcarry.tract import Tract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800 if IS_LONG else 120)]
ROUNDS = 40 if IS_LONG else 8
FRAME = 24

WRITE_AND_DIE = """
import os, signal, sys
from toolcarry.tract import Tract

tract = Tract.open(sys.argv[1])
for number in range(int(sys.argv[2])):
    for name in ("default", "other"):
        print(tract.in_conversation(name).user(f"{name} {number}" * 9).commit_hash, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of a killed process, and the hashes that it acknowledged."""
    folder = tmp_path_factory.mktemp("crashed")
    with children.start(WRITE_AND_DIE, folder / "history.db", 30) as child:
        assert child.stdout is not None
        return folder, child.stdout.read().split()


def copy_of(folder: Path, place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place)
    return place / "history.db"


def readable(path: Path) -> set[str]:
    with Tract.open(path) as tract:
        names = tract.conversations()
        return {each.commit_hash for name in names for each in tract.in_conversation(name).log()}


def test_a_crash_alone_loses_nothing(crashed: tuple[Path, list[str]], tmp_path: Path) -> None:
    folder, acknowledged = crashed
    path = copy_of(folder, tmp_path / "copy")
    with Tract.open(path) as tract:
        assert tract.verify().is_whole
    assert readable(path) == set(acknowledged)
    assert [file.name for file in path.parent.iterdir()] == ["history.db"]


def cut(log: Path, chance: random.Random) -> None:
    with log.open("r+b") as file:
        file.truncate(chance.randrange(log.stat().st_size - FRAME - 4_096))


def flip(log: Path, chance: random.Random) -> None:
    data = bytearray(log.read_bytes())
    # Within the frames: a bit of the log's own header that is not read changes nothing.
    bit = chance.randrange(8 * 32, 8 * len(data))
    data[bit // 8] ^= 1 << bit % 8
    log.write_bytes(data)


def delete(log: Path, _: random.Random) -> None:
    log.unlink()


def empty(log: Path, _: random.Random) -> None:
    log.write_bytes(b"")


@pytest.mark.parametrize("change", [cut, flip, delete, empty])
def test_a_missing_tail_is_reported(
    crashed: tuple[Path, list[str]], tmp_path: Path, change: Callable[[Path, random.Random], None]
) -> None:
    folder, acknowledged = crashed
    chance = random.Random(1)
    lost = 0
    for turn in range(ROUNDS):
        path = copy_of(folder, tmp_path / "copy")
        change(path.with_name("history.db-wal"), chance)
        with Tract.open(path) as tract:
            found = tract.verify()
        left = readable(path)
        assert left <= set(acknowledged)
        if left == set(acknowledged):
            assert change is flip
            continue
        lost += 1
        assert not found.is_whole, turn
        assert acknowledged[-1] in str(found.damaged)
        with Tract.open(path) as tract:
            tract.user("it goes on")
            assert not tract.verify().is_whole
            assert acknowledged[-1] in str(tract.repair(tmp_path / "new.db").lost)
        with Tract.open(path) as tract:
            assert not tract.verify().is_whole
        with Tract.open(tmp_path / "new.db") as tract:
            assert tract.verify().damaged == ()
        (tmp_path / "new.db").unlink()
    assert lost > ROUNDS * 3 // 4


def test_a_torn_note_is_ignored(crashed: tuple[Path, list[str]], tmp_path: Path) -> None:
    path = copy_of(crashed[0], tmp_path / "copy")
    note = path.with_name("history.db-head")
    data = bytearray(note.read_bytes())
    data[struct.calcsize("<8s")] ^= 1
    note.write_bytes(data)
    with Tract.open(path) as tract:
        assert tract.verify().is_whole


def test_forgotten_commits_are_not_missing(crashed: tuple[Path, list[str]], tmp_path: Path) -> None:
    path = copy_of(crashed[0], tmp_path / "copy")
    note = path.with_name("history.db-head")
    before = note.read_bytes()
    with Tract.open(path) as tract:
        assert tract.forget("other")
        assert tract.verify().is_whole
    note.write_bytes(before)
    with Tract.open(path) as tract:
        assert tract.verify().is_whole


def test_a_note_of_a_deleted_file_says_nothing_of_a_new_one(
    crashed: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path = copy_of(crashed[0], tmp_path / "copy")
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    with Tract.open(path) as tract:
        tract.user("new")
        assert tract.verify().is_whole
