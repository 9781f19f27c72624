"""Files that are deleted or replaced while they are open: nothing is acknowledged that a restart would not find."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.processes import children

from toolcarry.errors import StoreError
from toolcarry.tract import Tract

pytestmark = pytest.mark.slow


def delete(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def delete_the_file_alone(path: Path) -> None:
    path.unlink()


def delete_the_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def move_away(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replace(path: Path) -> None:
    """Restore a backup as ``mv`` does."""
    backup = path.with_name("backup.db")
    with Tract.open(backup) as tract:
        tract.user("of the backup")
    backup.rename(path)


def move_the_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


CHANGES = [delete, delete_the_file_alone, delete_the_log, move_away, replace, move_the_folder]
WRITES: list[Callable[[Tract], object]] = [
    lambda tract: tract.user("lost"),
    lambda tract: tract.append_many([{"role": "user", "content": "lost"}]),
    lambda tract: tract.forget(),
    lambda tract: tract.in_conversation("other").user("lost"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_gone_takes_no_writes(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "history.db"
    with Tract.open(path) as tract:
        first = tract.user("kept")
        change(path)
        for write in WRITES:
            with pytest.raises(StoreError, match=r"was (deleted|replaced by another file) while"):
                write(tract)
        assert tract.log() == [first]
        assert list(tract.export()) == [b'{"role":"user","content":"kept"}\n']
    if change is replace:
        with Tract.open(path) as tract:
            assert [tract.get_content(each) for each in tract.log()] == ["of the backup"]


def test_the_log_of_a_file_does_not_change_the_one_that_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path) as tract:
        tract.user("in the log")
        replace(path)
    with Tract.open(path) as tract:
        assert [tract.get_content(each) for each in tract.log()] == ["of the backup"]
        (told,) = tract.verify().damaged
        assert "an older file was restored" in told.reason


def test_a_file_that_is_moved_away_has_all_commits(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path) as tract:
        tract.user("in the log")
        move_away(path)
    with Tract.open(tmp_path / "moved.db") as tract:
        assert [tract.get_content(each) for each in tract.log()] == ["in the log"]


def test_a_file_that_is_there_again_takes_writes(tmp_path: Path) -> None:
    path, away = tmp_path / "history.db", tmp_path / "away.db"
    with Tract.open(path) as tract:
        tract.user("before")
        path.rename(away)
        with pytest.raises(StoreError):
            tract.user("lost")
        away.rename(path)
        tract.user("after")
    with Tract.open(path) as tract:
        assert len(tract.log()) == 2


def test_a_fork_does_not_make_a_file_again(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path) as tract:
        tract.user("kept")
        delete(path)
        process = os.fork()
        if process == 0:
            code = 1
            try:
                tract.log()
            except StoreError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
        assert not path.exists()
        with pytest.raises(StoreError, match="was deleted"):
            tract.user("lost")


WRITE = "import sys; from toolcarry.tract import Tract; Tract.open(sys.argv[1]).user('other')"


def test_other_processes_that_open_and_close_it_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with Tract.open(path) as tract:
        for number in range(3):
            children.run(WRITE, path)
            tract.user(str(number))
        shutil.copy(path, tmp_path / "copy.db")
        tract.forget("none")
        assert tract.user("last").sequence == 7
