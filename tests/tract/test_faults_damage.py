"""Changed bytes in a file: the damage is reported, nothing false is ever read, and undamaged commits are saved."""

import random
import shutil
import sqlite3
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from support.examples import IS_LONG

from toolcarry.errors import StoreDamagedError, StoreError, UnknownCommitError
from toolcarry.tract import Tract

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.timeout(1_800 if IS_LONG else 120)
FLIPS = 6_000 if IS_LONG else 300

Known = dict[str, tuple[object, str]]
"""The commits that were written, with their contents, by hash."""


def write(path: Path) -> Known:
    chance = random.Random(1)
    with Tract.open(path) as tract:
        for name in ("default", "other"):
            talk = tract.in_conversation(name)
            for number in range(6):
                call = {"id": f"t{number}", "name": "Bash", "arguments": {"command": "x" * 50}}
                talk.user(f"{name} {number}")
                talk.assistant("", tool_calls=[call])
                talk.tool_result(f"t{number}", "Bash", chance.randbytes(number * 300).hex())
                talk.tool_result(f"t{number}", "Bash", f"{number} passed" * number * 200)
        found = [
            commit for name in ("default", "other") for commit in tract.in_conversation(name).log()
        ]
        return {commit.commit_hash: (commit, tract.get_content(commit)) for commit in found}


def read_all(tract: Tract, known: Known) -> int:
    """Read in every way; how many commits read right. Fails for a wrong one, and for an error of another type."""
    right = 0
    for found, (commit, content) in known.items():
        talk = tract.in_conversation(commit.conversation)  # type: ignore[attr-defined]
        with suppress(StoreDamagedError, UnknownCommitError):
            read = talk.get_commit(found)
            assert read == commit
            assert talk.get_content(read) == content
            right += 1
    for name in ("default", "other"):
        talk = tract.in_conversation(name)
        for call in (talk.log, talk.find_tool_results):
            with suppress(StoreDamagedError):
                for read in call():
                    assert known[read.commit_hash][0] == read
        with suppress(StoreDamagedError):
            list(talk.export())
        with suppress(StoreDamagedError):
            talk.compile()
    return right


def check_damaged(path: Path, known: Known, repaired: Path) -> tuple[bool, int]:
    """Return whether the damage is reported, and how many commits were saved."""
    try:
        tract = Tract.open(path)
    except StoreError:  # of a version that is not known, or no database at all
        return True, 0
    with tract:
        is_told = not tract.verify().is_whole
        right = read_all(tract, known)
        assert is_told or right == len(known)
        if not is_told:
            return False, right
        saved = tract.repair(repaired)
    with Tract.open(repaired) as again:
        assert again.verify().damaged == ()
        assert read_all(again, known) >= saved.saved
    for file in repaired.parent.glob(f"{repaired.name}*"):
        file.unlink()
    return True, saved.saved


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Known]:
    path = tmp_path_factory.mktemp("original") / "history.db"
    return path, write(path)


@pytest.fixture
def written(original: tuple[Path, Known], tmp_path: Path) -> tuple[Path, Known]:
    """A copy of the closed file, which a test may change."""
    path, known = original
    return Path(shutil.copy(path, tmp_path)), known


def damaged(path: Path, change: Callable[[bytearray], None]) -> Path:
    """A copy of a closed file, changed."""
    data = bytearray(path.read_bytes())
    change(data)
    copy = path.with_name("damaged.db")
    for suffix in ("-wal", "-shm"):
        copy.with_name(copy.name + suffix).unlink(missing_ok=True)
    copy.write_bytes(data)
    return copy


@pytest.mark.slow
def test_bits_that_flip(written: tuple[Path, Known]) -> None:
    path, known = written
    chance = random.Random(2)
    told = 0
    for _ in range(FLIPS):
        place = chance.randrange(path.stat().st_size * 8)

        def flip(data: bytearray, place: int = place) -> None:
            data[place // 8] ^= 1 << place % 8

        try:
            told += check_damaged(damaged(path, flip), known, path.with_name("new.db"))[0]
        except Exception as error:
            raise AssertionError(f"bit {place}") from error
    assert told > FLIPS // 10


@pytest.mark.slow
def test_pages_that_are_overwritten(written: tuple[Path, Known]) -> None:
    path, known = written
    chance = random.Random(3)
    saved = []
    for round_ in range(FLIPS // 5):
        start = chance.randrange(path.stat().st_size - 200)
        junk = bytes(200) if round_ % 2 else chance.randbytes(200)

        def overwrite(data: bytearray, start: int = start, junk: bytes = junk) -> None:
            data[start : start + 200] = junk

        try:
            saved.append(
                check_damaged(damaged(path, overwrite), known, path.with_name("new.db"))[1]
            )
        except Exception as error:
            raise AssertionError(f"byte {start}, round {round_}") from error
    assert max(saved) >= len(known) - 2


COLUMNS = [
    ("tract_commits", name)
    for name in ("hash", "parent", "role", "kind", "content", "metadata", "token_count",
                 "created_at", "seal", "sequence")
] + [("tract_contents", name) for name in ("hash", "size", "packing", "data")]  # fmt: skip

WHERE = {
    "tract_commits": "WHERE conversation = 1 AND sequence = 7",
    "tract_contents": "WHERE id = 8",
}


def change(path: Path, statement: str, value: object) -> None:
    """Change a closed file, in a way that is well-formed for SQLite."""
    with closing(sqlite3.connect(path)) as other:
        other.execute(statement, (value,))
        other.commit()


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_column_that_changes(written: tuple[Path, Known], table: str, column: str) -> None:
    """The change is well-formed for SQLite, so only the hashes reveal it."""
    path, known = written
    with closing(sqlite3.connect(path)) as other:
        where = WHERE[table]
        (value,) = other.execute(f"SELECT {column} FROM {table} {where}").fetchone()
    for bit in range(0, 64, 3) if IS_LONG else (0, 7, 15):
        copy = damaged(path, leave)
        try:
            change(copy, f"UPDATE {table} SET {column} = ? {where}", flipped(value, bit))
        except sqlite3.IntegrityError:  # another commit has this place
            continue
        with Tract.open(copy) as tract:
            found = tract.verify()
            assert found.damaged
            assert all(damage.conversation for damage in found.damaged)
        assert check_damaged(copy, known, path.with_name("new.db")) in [
            (True, len(known) - lost) for lost in (0, 1, 2)
        ]


def leave(data: bytearray) -> None:
    """Change nothing yet."""


def flipped(value: object, bit: int) -> object:
    if isinstance(value, int):
        return value ^ (1 << bit if bit < 63 else -1 << 63)  # the last bit is the sign
    if isinstance(value, str):
        return value[:-1] + chr(ord(value[-1]) ^ (1 << bit % 7))
    assert isinstance(value, bytes)
    data = bytearray(value)
    data[bit % len(data)] ^= 1 << bit % 8
    return bytes(data)


def test_a_commit_whose_hash_is_damaged_is_not_unknown(written: tuple[Path, Known]) -> None:
    """The row has another hash, in its table and in the index, so that nothing has the right one."""
    path, _ = written
    with Tract.open(path) as tract:
        known = [commit.commit_hash for commit in reversed(tract.log())]
    wrong = flipped(bytes.fromhex(known[6]), 3)
    change(path, f"UPDATE tract_commits SET hash = ? {WHERE['tract_commits']}", wrong)
    with Tract.open(path) as tract:
        for given in (known[6], known[6][:12], "0" * 64):
            with pytest.raises(StoreDamagedError):
                tract.get_commit(given)
        assert tract.get_commit(known[0]).sequence == 1
        with pytest.raises(UnknownCommitError):
            tract.in_conversation("other").get_commit(known[0])


@pytest.mark.parametrize("value", [None, 0, 1.5, "text", b"", b"\xff" * 40, 2**62])
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_column_of_another_type(
    written: tuple[Path, Known], table: str, column: str, value: object
) -> None:
    path, known = written
    where = WHERE[table]
    try:
        change(path, f"UPDATE {table} SET {column} = ? {where}", value)
    except sqlite3.IntegrityError:  # NULL, where SQLite takes none
        return
    is_told, saved = check_damaged(path, known, path.with_name("new.db"))
    assert is_told or saved == len(known)
    assert saved >= len(known) - 2


def test_a_content_that_unpacks_to_more_than_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    bomb = zstd.compress(bytes(1 << 30), 1)
    assert len(bomb) < 200_000
    with Tract.open(path) as tract:
        commit = tract.user("x" * 10_000)
    change(path, "UPDATE tract_contents SET data = ?, packing = 1", bomb)
    with Tract.open(path) as tract:
        tracemalloc.start()
        try:
            with pytest.raises(StoreDamagedError, match="more than its 10,000 bytes"):
                tract.get_content(commit)
            assert len(tract.verify().damaged) == 1
            assert tracemalloc.get_traced_memory()[1] < 20_000_000
        finally:
            tracemalloc.stop()
        assert tract.user("after").sequence == 2
