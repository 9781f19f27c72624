"""SQLite stores of agents: known ones are read and never written, everything else is refused with a reason."""

import hashlib
import json
import os
import shutil
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.builders.producers import ANSWER, ASKED, FAILURE, SAID
from support.builders.session_stores import HELLO, NEW, OLD, STORES, opencode, write
from support.rows import for_each

from toolcarry import InputError
from toolcarry._input import stores
from toolcarry._input.sources import read_source

PRODUCER = pytest.mark.parametrize("name", STORES)


def state(folder: Path) -> dict[str, str]:
    """The files of a folder with the hashes of their contents."""
    files = (path for path in folder.iterdir() if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_every_store_has_a_file() -> None:
    assert STORES.keys() == {store.producer for store in stores.STORES}


@PRODUCER
def test_the_newest_conversation(
    api: ModuleType, rust: ModuleType, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "store.db"
    STORES[name](path)
    before = state(tmp_path)
    body, remarks = read_source(path)
    found = rust.inspect(body)
    assert (found.calls, found.results, found.errors) == (2, 2, 1)
    assert not found.unread
    said = api.dialogue(body)
    assert f"[USER]\n{ASKED}\n[/USER]" in said
    assert f"[ASSISTANT]\n{SAID}\n[/ASSISTANT]" in said
    assert HELLO not in said
    (remark,) = remarks
    assert NEW in remark
    assert OLD in remark
    (carried,) = api.carry_files([path])
    assert ANSWER in carried.text
    assert FAILURE in carried.text
    assert carried.report.remarks == remarks
    assert ANSWER in str(api.convert(body, to="anthropic").messages)
    assert state(tmp_path) == before


@PRODUCER
def test_a_conversation_by_its_id(api: ModuleType, tmp_path: Path, name: str) -> None:
    path = tmp_path / "store.db"
    STORES[name](path)
    body, remarks = read_source(Path(f"{path}#{OLD}"))
    assert api.dialogue(body) == f"[USER]\n{HELLO}\n[/USER]"
    assert remarks == ()
    with pytest.raises(InputError, match=f"has no conversation 'x'; it has: .*{NEW}.*{OLD}"):
        read_source(Path(f"{path}#x"))


def test_a_file_with_the_mark_in_its_name(rust: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "chat#1.json"
    path.write_text('[{"role": "user", "content": "Hi."}]')
    assert read_source(path).body == path.read_bytes()
    opencode(tmp_path / "store#1.db")
    assert rust.inspect(tmp_path / "store#1.db").calls == 2


def test_a_store_that_is_being_written(api: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    opencode(path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE part SET data = replace(data, 'forty bales', 'no bales') ")
        writer.commit()
        assert "no bales" in api.carry(path).text
        writer.execute("BEGIN EXCLUSIVE")
        assert "no bales" in api.carry(path).text


def test_nothing_is_left_next_to_a_store_with_a_log(api: ModuleType, tmp_path: Path) -> None:
    path, left = tmp_path / "store.db", tmp_path / "left"
    opencode(path)
    left.mkdir()
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    before = state(tmp_path)
    assert "forty bales" in api.carry(path).text
    assert state(tmp_path) == before
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("UPDATE part SET data = replace(data, 'forty bales', 'no bales') ")
        writer.commit()
        for end in ("", "-wal"):  # as a process leaves them that is killed
            shutil.copy(f"{path}{end}", left)
    before = state(left)
    assert before.keys() == {"store.db", "store.db-wal"}
    assert "no bales" in api.carry(left / "store.db").text
    assert state(left) == before


def test_an_agent_opens_a_store_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    opencode(path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(path)) as agent:

        def choose(*given: Any) -> stores.StoredConversation:
            agent.execute("UPDATE part SET data = replace(data, 'forty bales', 'no bales') ")
            agent.commit()
            return was(*given)

        was = stores.choose
        monkeypatch.setattr(stores, "choose", choose)
        assert b"no bales" in read_source(path).body


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_log_that_cannot_be_opened(tmp_path: Path) -> None:
    path, index = tmp_path / "store.db", tmp_path / "store.db-shm"
    opencode(path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("DELETE FROM part WHERE 0")
        index.chmod(0)
        assert any("newest rows may be missing" in remark for remark in read_source(path).remarks)


@for_each(
    ("schema", "reason"),
    [
        ("CREATE TABLE birds (name); CREATE TABLE nests (place)", "unknown SQLite store, with the tables: birds, nests; known are: opencode"),
        ("CREATE TABLE ItemTable (key, value); CREATE TABLE cursorDiskKV (key, value)", "Cursor store, which toolcarry can't read"),
        ("CREATE TABLE x (y); CREATE VIEW message AS SELECT 1 AS id", "unknown SQLite store"),
        ("CREATE TABLE agent_sessions (session_id, updated_at); CREATE TABLE agent_messages (id, session_id, message_data)", "without conversations"),
        ("CREATE TABLE agent_sessions (session_id, updated_at); CREATE TABLE agent_messages (id, session_id, message_data AS (hex(zeroblob(9))))", "unknown SQLite store"),
    ],
)  # fmt: skip
def test_other_stores_are_refused(tmp_path: Path, schema: str, reason: str) -> None:
    path = tmp_path / "store.db"
    path.unlink(missing_ok=True)
    write(path, schema, [])
    with pytest.raises(InputError, match=reason):
        read_source(path)


def test_views_in_place_of_tables(tmp_path: Path) -> None:
    """A view may be a query that never ends."""
    path = tmp_path / "store.db"
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 's' AS session_id, '{}' AS message_data FROM n"  # fmt: skip
    write(path, f"CREATE TABLE agent_sessions (session_id, updated_at); CREATE VIEW agent_messages AS {endless}", [("agent_sessions", ("s", 1))])  # fmt: skip
    with pytest.raises(InputError, match="unknown SQLite store"):
        read_source(path)


def test_damaged_rows_are_reported(rust: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    opencode(path)
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.execute("UPDATE message SET data = '{' WHERE id = 'm1'")
        writer.execute("UPDATE part SET data = 7 WHERE id = 'p20'")
        writer.execute("INSERT INTO part VALUES ('z', 'nobody', ?, 1, 1, '[]')", (NEW,))
    body, remarks = read_source(path)
    assert "3 rows are damaged, and are left out" in remarks
    assert rust.inspect(body).calls == 2


@PRODUCER
def test_any_damage_is_an_input_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / "store.db"
    STORES[name](path)
    data = path.read_bytes()
    for place in range(16, len(data), 199):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x5A] * 7) + data[place + 7 :])
        try:
            read_source(path)
        except InputError:
            continue
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"cannot be read|unknown SQLite store"):
        read_source(path)


@pytest.mark.parametrize("column", ["title", "id", pytest.param("data", marks=pytest.mark.slow)])
def test_rows_that_are_longer_than_their_file_are_not_read(tmp_path: Path, column: str) -> None:
    """A column that was added with a default is in every older row without being stored."""
    path = tmp_path / "store.db"
    long = "'" + json.dumps({"role": "user", "content": [[]] * 25_000}) + "'"
    with closing(sqlite3.connect(path)) as store:
        store.execute("create table session (parent_id, time_updated)")
        store.execute("create table message (session_id, time_created)")
        store.execute("create table part (id, message_id, session_id)")
        store.executemany("insert into session values (null, ?)", [(n,) for n in range(3_000)])
        store.executemany("insert into message values ('s', ?)", [(n,) for n in range(900)])
        for table, name in (
            ("session", "id"),
            ("session", "title"),
            ("message", "id"),
            ("message", "data"),
            ("part", "data"),
        ):
            is_long = name == column
            store.execute(
                f"alter table {table} add column {name} text default {long if is_long else repr('s')}"
            )
        store.commit()
    assert path.stat().st_size < 2 << 20
    tracemalloc.start()
    try:
        if column == "title":
            assert read_source(path)[0]
        else:
            with pytest.raises(InputError, match="longer than the whole file"):
                read_source(path)
        assert tracemalloc.get_traced_memory()[1] < 192 << 20
    finally:
        tracemalloc.stop()
