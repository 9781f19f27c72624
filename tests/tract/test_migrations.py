"""A store of an older schema is brought up and read; and what the newest one keeps shorter is whole when it is read.

``store_1.sql`` is a SQLite store as the first schema had it, written by the toolcarry of that time: a talk with an edited
result, an imported session with a call whose arguments are long, and another tenant's packed content.
"""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from toolcarry.errors import StoreDamagedError, StoreVersionError
from toolcarry.tract import Kind, Tract
from toolcarry.tract.store.schema import MIGRATIONS, POSTGRES, VERSION
from toolcarry.tract.store.sqlite import APPLICATION

WRITTEN = Path(__file__).with_name("store_1.sql").read_text()
TABLES = ("tract_conversations", "tract_contents", "tract_commits", "tract_lost")
HASHES = ["45849ee9128284e4", "b67593d8662644c6", "f8ae05a0f8694925", "d8ca5218a2576282"]
TEXT = "import os\n" * 60 + "größer\n"
LINES = [
    {"type": "assistant", "uuid": "u1", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "w1", "name": "Write", "input": {"file_path": "a.py", "content": TEXT}}]}},
    {"type": "user", "uuid": "u2", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "w1", "content": "written"}]}},
]  # fmt: skip
SESSION = b"".join(
    json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in LINES
)


@pytest.fixture
def old_target(durable_target: str) -> str:
    """A store of the first schema, on either kind of database."""
    if "://" in durable_target:
        write_postgres(durable_target)
    else:
        write_sqlite(durable_target)
    return durable_target


def write_sqlite(path: str) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.executescript(WRITTEN)
        other.execute(f"PRAGMA application_id = {APPLICATION}")
        other.execute("PRAGMA user_version = 1")
        other.commit()


def write_postgres(url: str) -> None:
    """The same rows, in the tables that the first step made."""
    with closing(sqlite3.connect(":memory:")) as source, psycopg.connect(url) as other:
        source.executescript(WRITTEN)
        for statement in (*MIGRATIONS[0], *POSTGRES.own[0]):
            other.execute(statement.format_map(POSTGRES._asdict()).encode())
        for table in TABLES:
            for row in source.execute(f"SELECT * FROM {table}"):
                places = ", ".join(["%s"] * len(row))
                statement = f"INSERT INTO {table} OVERRIDING SYSTEM VALUE VALUES ({places})"
                other.execute(statement.encode(), row)
        other.execute("CREATE TABLE tract_schema (version BIGINT NOT NULL)")
        other.execute("INSERT INTO tract_schema VALUES (1)")
        for table in TABLES[:2]:
            other.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), 100)".encode())


def test_an_old_store_is_read(old_target: str) -> None:
    with Tract.open(old_target) as tract:
        commits = tract.log()[::-1]
        assert [commit.commit_hash[:16] for commit in commits] == HASHES
        for commit, found in zip(commits, HASHES, strict=True):
            assert tract.get_commit(found[:8]) == tract.get_commit(commit.commit_hash) == commit
        texts = ["Run the tests.", "I run them.", "3 passed in 0.1 s", "3 passed"]
        assert [tract.get_content(commit) for commit in commits] == texts
        assert tract.compile()[-1]["content"] == "3 passed"
        session = tract.in_conversation("session")
        assert b"".join(session.export()) == SESSION
        (turn,) = session.find_tool_turns()
        assert turn.call.metadata["tool_calls"][0]["arguments"]["content"] == TEXT
        assert tract.verify().is_whole
        assert version_of(tract) == VERSION
    with Tract.open(old_target, tenant="other", conversation="é") as other:
        assert other.get_content(other.log()[0]) == "x" * 9_000


def test_an_old_store_is_gone_on_with(old_target: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(SESSION + SESSION.replace(b"w1", b"w2"))
    with Tract.open(old_target) as tract:
        assert tract.user("again").sequence == 5
        session = tract.in_conversation("session")
        done = session.import_transcript(path)
        assert (done.skipped, done.commits) == (2, 2)
        assert [len(row[0]) < 400 for row in stored_calls(session)] == [False, True]
        calls = [call.metadata["tool_calls"][0] for call in session.find_tool_calls()]
        assert [call["arguments"]["content"] for call in calls] == [TEXT, TEXT]
        assert tract.verify().is_whole


def test_an_old_store_must_be_opened_for_writing_once(old_target: str) -> None:
    with pytest.raises(StoreVersionError, match="older than this toolcarry's"):
        Tract.open(old_target, read_only=True)
    Tract.open(old_target).close()
    with Tract.open(old_target, read_only=True) as tract:
        assert len(tract.log()) == 4


def version_of(tract: Tract) -> int:
    database = tract._log.database
    if "://" in database.name:
        return int(database.read("SELECT version FROM tract_schema")[0][0])
    return int(database.read("PRAGMA user_version")[0][0])


def stored_calls(tract: Tract) -> list[Any]:
    statement = (
        f"SELECT metadata FROM tract_commits WHERE kind = {Kind.CALL:d} AND conversation = ? "
        "ORDER BY sequence"
    )
    return tract._log.database.read(statement, (tract._log._find_number(),))


@pytest.fixture
def session(tract: Tract, tmp_path: Path) -> Tract:
    """A conversation with a call whose arguments are folded."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(SESSION)
    tract.import_transcript(path)
    assert stored_calls(tract)[0][0][:1] == b"\0"
    return tract


def test_arguments_are_kept_once_and_read_whole(session: Tract) -> None:
    (call,) = session.find_tool_calls()
    assert call.metadata["tool_calls"][0]["arguments"]["content"] == TEXT
    assert session.get_commit(call.commit_hash) == session.log()[1] == call
    assert b"".join(session.export()) == SESSION
    assert session.verify().is_whole


def test_folded_commits_move(session: Tract, tmp_path: Path) -> None:
    (call,) = session.find_tool_calls()
    session.repair(tmp_path / "repaired.db")
    with Tract.open(tmp_path / "repaired.db") as repaired:
        assert repaired.find_tool_calls() == [call]
        assert stored_calls(repaired) == stored_calls(session)
    session.archive(tmp_path / "archive.db", before=datetime(2100, 1, 1, tzinfo=UTC))
    assert session.log() == []
    with Tract.open(tmp_path / "archive.db") as archive:
        assert archive.find_tool_calls() == [call]
        assert archive.verify().is_whole


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE tract_contents SET data = ? WHERE hash = ?",
        "UPDATE tract_contents SET size = 7, data = ? WHERE hash = ?",
        "UPDATE tract_contents SET packing = 1, data = ? WHERE hash = ?",
        "DELETE FROM tract_contents WHERE data <> ? AND hash = ?",
    ],
)
def test_folded_metadata_of_a_missing_content(session: Tract, tmp_path: Path, change: str) -> None:
    """Its arguments are lost, and no others are returned in their place."""
    (call,) = session.find_tool_calls()
    values = (b"{}", bytes.fromhex(call.content_hash))
    session._log.database.write(lambda run: run.run(change, values))
    for read in (session.find_tool_calls, session.log, session.compile, session.find_tool_turns):
        with pytest.raises(StoreDamagedError, match=call.commit_hash[:16]):
            read()
    assert [damage.sequence for damage in session.verify().damaged] == [1]
    assert session.repair(tmp_path / "repaired.db").saved == 1
