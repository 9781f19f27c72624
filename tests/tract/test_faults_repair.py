"""Repair of a damaged file: every commit is saved or told, and a repair that is interrupted leaves nothing."""

import itertools
import random
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from support.builders.stores import NAMES, PAGE_KINDS, flips, write_store
from support.examples import IS_LONG
from support.interrupts import at_moment, interrupted, killed

from toolcarry.errors import StoreError
from toolcarry.tract import Tract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(36_000 if IS_LONG else 120)]
COMMITS = 2_000 if IS_LONG else 60
FLIPS = 200 if IS_LONG else 4
KILLS = 1_000 if IS_LONG else 20
LAST = 60


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, list[str]]]:
    path = tmp_path_factory.mktemp("repair") / "history.db"
    hashes = write_store(path, COMMITS)
    return path.read_bytes(), hashes


def remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-head"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


@pytest.mark.parametrize("kind", PAGE_KINDS)
def test_every_commit_is_saved_or_reported(
    store: tuple[bytes, dict[str, list[str]]], tmp_path: Path, kind: str
) -> None:
    data, hashes = store
    path, new = tmp_path / "flipped.db", tmp_path / "new.db"
    for bit, changed in flips(data, kind, FLIPS, "1"):
        remove(path)
        remove(new)
        path.write_bytes(changed)
        try:
            tract = Tract.open(path)
        except StoreError:
            continue
        with tract:
            by_hash = set()
            for name in NAMES:
                for commit in hashes[name]:
                    with suppress(StoreError):
                        talk = tract.in_conversation(name)
                        talk.get_content(talk.get_commit(commit))
                        by_hash.add(commit)
            done = tract.repair(new)
            repaired_whole = not done.lost
        told = {(damage.conversation, damage.sequence) for damage in done.lost}
        unnamed = any(not damage.conversation for damage in done.lost)
        with Tract.open(new) as tract:
            found = tract.verify()
            assert found.damaged == (), f"bit {bit}"
            assert found.is_whole is repaired_whole or unnamed, f"bit {bit}"
            for name in NAMES:
                talk = tract.in_conversation(name)
                saved = {commit.commit_hash for commit in talk.log()}
                assert by_hash & set(hashes[name]) <= saved, f"bit {bit}"
                for place, commit in enumerate(reversed(hashes[name]), 1):
                    assert commit in saved or (name, place) in told or unnamed, f"bit {bit}"
                if saved:
                    assert talk.user("it goes on").sequence == len(hashes[name]) + 1, f"bit {bit}"
                    assert talk.log()


def test_a_killed_repair_leaves_the_old_state(tmp_path: Path) -> None:
    """Killed at moments from the first to the last, and at each of the last ones, where the file gets its name."""
    path, new = tmp_path / "history.db", tmp_path / "new.db"
    hashes = write_store(path, COMMITS if IS_LONG else 12)

    def repair() -> None:
        with Tract.open(path) as tract:
            tract.repair(new)

    def check(found: Path) -> None:
        with Tract.open(found) as tract:
            assert tract.verify().is_whole
            for name in NAMES:
                log = tract.in_conversation(name).log()
                assert [commit.commit_hash for commit in log] == hashes[name]

    count = at_moment(pytest.fail, repair, sys.maxsize, "toolcarry/tract")
    named = []
    for step in itertools.chain(range(0, count, count // KILLS), range(count - LAST, count)):
        remove(new)
        assert killed(repair, step, "toolcarry/tract")
        check(path)
        if new.exists():
            named.append(step)
            check(new)
    assert count - LAST < min(named, default=0), "the file had its name earlier, or never"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupted_repair_leaves_no_file(tmp_path: Path) -> None:
    """An interrupt that comes as a generator is dropped is not raised, only warned of."""
    new = tmp_path / "new.db"
    with Tract.open(tmp_path / "history.db") as tract:
        tract.user("kept")
        for step in itertools.count(0, 7 if IS_LONG else 31):
            if not interrupted(lambda: tract.repair(new), step, "toolcarry/tract"):
                break
            # From the moment that the file has its name on, it is whole.
            assert [file.name for file in tmp_path.glob("new.db*")] in ([], ["new.db"])
            if new.exists():
                with Tract.open(new) as repaired:
                    assert repaired.verify().is_whole
                    assert repaired.log() == tract.log()
            remove(new)
        assert step > 600
        remove(new)
        assert tract.repair(new).saved == 1
        assert [file.name for file in tmp_path.glob("new.db*")] == ["new.db"]


def test_a_row_that_is_read_twice_is_saved_once(tmp_path: Path) -> None:
    """The pointer to the last page leads to another page, so its rows come twice, and the last ones never."""
    path = tmp_path / "history.db"
    with Tract.open(path) as tract:
        tract.append_many([{"role": "user", "content": str(turn)} for turn in range(400)])
    with closing(sqlite3.connect(path)) as other:
        (root,) = other.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'tract_commits'"
        ).fetchone()
        (size,) = other.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    start = (root - 1) * size
    count = int.from_bytes(data[start + 3 : start + 5], "big")
    cell = int.from_bytes(data[start + 12 : start + 14], "big")
    assert count > 3
    data[start + 8 : start + 12] = data[start + cell : start + cell + 4]
    path.write_bytes(data)
    with Tract.open(path) as tract:
        done = tract.repair(tmp_path / "new.db")
    numbers = [damage.sequence for damage in done.lost]
    assert numbers == list(range(400 - len(numbers) + 1, 401))
    assert done.saved + len(numbers) == 400
    with Tract.open(tmp_path / "new.db") as tract:
        found = tract.verify()
        assert [damage.sequence for damage in found.lost] == numbers
        assert tract.user("it goes on").sequence == 401


def test_lost_blocks_that_move_the_rest_of_the_file(tmp_path: Path) -> None:
    """Pages are then at the places of others: a row is found where another one was looked for."""
    path, new = tmp_path / "history.db", tmp_path / "new.db"
    whole = tmp_path / "whole.db"
    chance = random.Random(3)
    with Tract.open(whole) as tract:
        for name in ("a", "b", "c"):
            talk = tract.in_conversation(name)
            for turn in range(100):
                given = {"command": "x" * chance.randrange(900)}
                calls = [{"id": f"{name}{turn}", "name": "Bash", "arguments": given}]
                talk.assistant("", tool_calls=calls)
                text = chance.randbytes(chance.choice([10, 300, 3_000])).hex()
                talk.tool_result(f"{name}{turn}", "Bash", text)
        count = sum(len(tract.in_conversation(name).log()) for name in tract.conversations())
    data = whole.read_bytes()
    repaired = 0
    for _ in range(400 if IS_LONG else 60):
        at, blocks = chance.randrange(8, len(data) // 512 - 70), chance.choice([1, 8, 64])
        moved = data[: at * 512] + bytes(4_096) + data[(at + blocks) * 512 :]
        remove(path)
        remove(new)
        path.write_bytes(moved[: len(data)].ljust(len(data), b"\0"))
        try:
            tract = Tract.open(path)
        except StoreError:
            continue
        with tract:
            if tract.verify().is_whole:
                continue
            done = tract.repair(new)
        with Tract.open(new) as tract:
            found = tract.verify()
            assert not found.damaged
            assert found.checked == done.saved <= count
        repaired += 1
    assert repaired > 20
