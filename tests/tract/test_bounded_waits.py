"""No loop of a store waits for a state that may never come."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from toolcarry.errors import StoreBusyError, StoreError
from toolcarry.tract import Tract, importing
from toolcarry.tract.guard import Guard
from toolcarry.tract.importing import import_file
from toolcarry.tract.store.log import Draft
from toolcarry.tract.store.sqlite import use_write_ahead_log


def test_a_file_that_cannot_have_a_write_ahead_log(tmp_path: Path) -> None:
    """SQLite does not raise an error there, but keeps the mode that it has: so without shared memory."""
    path = tmp_path / "history.db"
    with closing(apsw.Connection(str(path), vfs="unix-dotfile")) as connection:
        connection.execute("CREATE TABLE t (x)")
        with pytest.raises(
            StoreError, match="can't switch to a write-ahead log here; the journal mode is still"
        ):
            use_write_ahead_log(connection, 60.0)


def test_a_locked_file_is_waited_for_until_the_deadline(tmp_path: Path) -> None:
    path = str(tmp_path / "history.db")
    with closing(apsw.Connection(path)) as other, closing(apsw.Connection(path)) as connection:
        other.execute("CREATE TABLE t (x); BEGIN IMMEDIATE")
        with pytest.raises(apsw.BusyError):
            use_write_ahead_log(connection, 0.05)


def test_an_import_that_others_always_outrun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "ATTEMPTS", 5)
    path = tmp_path / "session.jsonl"
    lines = [json.dumps({"role": "user", "content": f"Line {number}."}) for number in range(3)]
    path.write_text("".join(f"{line}\n" for line in lines))
    with Tract.open(tmp_path / "a.db") as tract, Tract.open(tmp_path / "a.db") as other:
        outrun, fast = 0, 99

        class Outrun(Guard):
            """Lets another writer commit between the reading of lines and their writing."""

            def check(self, drafts: Iterable[Draft]) -> None:
                nonlocal outrun
                outrun += 1
                if outrun <= fast:
                    other.user(f"Faster {outrun}.")
                super().check(drafts)

        guard = Outrun("count", Counter())
        with pytest.raises(StoreBusyError, match="other writers committed first 5 times"):
            import_file(tract._log, path, None, guard)
        assert outrun == 5
        outrun, fast = 0, 4
        assert import_file(tract._log, path, None, guard).commits == 3
