"""Repairs, archives that break off, and what is forgotten: nothing is lost that is whole, and nothing stays that must go."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.processes import children

from toolcarry.errors import StoreBusyError, StoreError, StoreVersionError
from toolcarry.tract import Tract
from toolcarry.tract.store import archive
from toolcarry.tract.store.schema import VERSION

pytestmark = pytest.mark.slow

LATER = datetime.now(UTC) + timedelta(days=1)


def fill(tract: Tract, count: int = 30) -> None:
    for number in range(count):
        call = {
            "id": f"{tract.conversation}-{number}",
            "name": "Bash",
            "arguments": {"q": f"secret {number} " * 9},
        }
        tract.assistant(f"said {number}", tool_calls=[call])
        tract.tool_result(
            call["id"], "Bash", f"{tract.conversation} result {number} " * (number * 30)
        )


def contents(tract: Tract) -> list[bytes]:
    return [tract.get_source(commit) for commit in tract.log()]


def test_a_repair_keeps_all_undamaged_commits(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path) as tract:
        tract.append_many(
            [{"role": "user", "content": f"text {number}"} for number in range(1_500)]
        )
        talk = tract.in_conversation("other")
        fill(talk)
    with closing(sqlite3.connect(path)) as other:
        other.execute(
            "UPDATE tract_commits SET role = 'tool' WHERE conversation = 1 AND sequence = 3"
        )
        other.execute(
            "DELETE FROM tract_commits WHERE conversation = 1 AND sequence BETWEEN 700 AND 750"
        )
        other.execute(
            "DELETE FROM tract_contents WHERE hash = "
            "(SELECT content FROM tract_commits WHERE conversation = 1 AND sequence = 900)"
        )
        other.execute(
            "UPDATE tract_commits SET sequence = 4611686018427387904 WHERE conversation = 2 AND sequence = 60"
        )
        other.commit()
    before = path.read_bytes()
    with Tract.open(path) as tract:
        saved = tract.repair(tmp_path / "new.db")
        assert saved.saved == 1_500 - 53 + 59
        lost = [(damage.conversation, damage.sequence) for damage in saved.lost]
        gap = [("default", sequence) for sequence in range(700, 751)]
        assert lost == [("default", 3), *gap, ("default", 900), ("other", 1 << 62)]
    assert path.read_bytes() == before
    with Tract.open(tmp_path / "new.db") as tract:
        found = tract.verify()
        assert found.damaged == ()
        assert [damage.sequence for damage in found.lost] == [3, *range(700, 751), 900]
        assert tract.user("it goes on").sequence == 1_501
        assert tract.verify().damaged == ()


def test_an_archive_that_breaks_off_is_gone_on_with(tmp_path: Path) -> None:
    """Killed between the copy and the deletion, and within the copy, which is of several transactions."""
    path, other = tmp_path / "history.db", tmp_path / "archive.db"
    with Tract.open(path) as tract:
        tract.append_many(
            [{"role": "user", "content": f"text {number}"} for number in range(1_200)]
        )
        wanted = contents(tract)
        for script in (KILL_WITHIN_COPY, KILL_BEFORE_FORGET):
            with children.start(script, path, other) as child:
                _, said = child.communicate(timeout=children.TIMEOUT)
            assert child.returncode == -9, said
            assert contents(tract) == wanted
        with Tract.open(other) as copied:
            assert contents(copied) == wanted
        archived = tract.archive(other, before=LATER)
        assert (archived.conversations, archived.commits) == (("default",), 0)
        assert tract.log() == []
        assert tract.archive(other, before=LATER).conversations == ()
        assert tract.verify().is_whole
    with Tract.open(other) as copied:
        assert contents(copied) == wanted
        assert copied.verify().is_whole


KILL = """
import os, signal, sys
from datetime import UTC, datetime, timedelta
from toolcarry.tract import Tract
from toolcarry.tract.store import archive

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def go():
    with Tract.open(sys.argv[1]) as tract:
        tract.archive(sys.argv[2], before=datetime.now(UTC) + timedelta(days=1))
"""
KILL_BEFORE_FORGET = f"{KILL}\narchive.forget = die\ngo()"
KILL_WITHIN_COPY = f"""{KILL}
plain = archive.copy_rows
def once(*arguments):
    archive.copy_rows = die
    return plain(*arguments)
archive.copy_rows = once
go()
"""


def test_an_archive_leaves_a_growing_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = archive.forget
    with Tract.open(tmp_path / "history.db") as tract:
        tract.user("first")

        def late(*arguments: object, **options: object) -> bool:
            tract.user("second")
            return plain(*arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(archive, "forget", late)
        assert tract.archive(tmp_path / "archive.db", before=LATER).conversations == ()
        assert len(tract.log()) == 2


def left(folder: Path, *words: bytes) -> set[bytes]:
    """Return the words that occur in any file of a folder."""
    return {word for word in words for file in folder.iterdir() if word in file.read_bytes()}


@pytest.mark.parametrize("is_reopened", [False, True])
def test_forgotten_text_is_in_no_file(tmp_path: Path, is_reopened: bool) -> None:
    """Also where pages were split and joined while both conversations grew."""
    path = tmp_path / "history.db"
    tract = Tract.open(path)
    one, two = tract.in_conversation("one"), tract.in_conversation("two")
    for number in range(300):
        for talk in (one, two):
            word = f"{talk.conversation}-word-{number}"
            call = {"id": word, "name": "Bash", "arguments": {"q": word * (number % 7)}}
            talk.assistant(word, tool_calls=[call])
            talk.tool_result(word, "Bash", word * (number % 40))
    one.user("both-word")
    two.user("both-word")
    wanted = contents(two)
    if is_reopened:
        tract.close()
        tract = Tract.open(path)
    assert tract.forget("one")
    assert left(tmp_path, b"one-word", b"both-word", b"two-word") == {b"both-word", b"two-word"}
    two = tract.in_conversation("two")
    assert contents(two) == wanted
    assert tract.verify().is_whole
    assert tract.forget("two")
    assert left(tmp_path, b"one-word", b"both-word", b"two-word") == set()
    assert not tract.forget("two")
    tract.close()
    assert left(tmp_path, b"one-word", b"both-word", b"two-word") == set()


HOLD = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("BEGIN")
other.execute("SELECT count(*) FROM tract_commits").fetchall()
print("reads", flush=True)
sys.stdin.readline()
"""


def test_a_reader_during_forget(tmp_path: Path) -> None:
    """The call reports it, and the same call erases the rest when the reader is gone."""
    path = tmp_path / "history.db"
    with Tract.open(path, busy_timeout=0.2) as tract:
        tract.user("one-word")
        with children.start(HOLD, path, stdin=children.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "reads\n"
            with pytest.raises(StoreBusyError, match="a running reader keeps"):
                tract.forget()
            assert tract.log() == []
            child.communicate("\n", timeout=children.TIMEOUT)
        assert not tract.forget()
        assert left(tmp_path, b"one-word") == set()


def test_a_file_of_a_newer_toolcarry_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path) as tract:
        tract.user("hi")
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    for options in ({}, {"read_only": True}):
        with pytest.raises(StoreVersionError, match="upgrade toolcarry"):
            Tract.open(path, **options)  # type: ignore[arg-type]
        assert path.read_bytes() == before


def test_other_files_are_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"not a database " * 100)
    with pytest.raises(StoreError):
        Tract.open(path)
    assert path.read_bytes() == b"not a database " * 100
