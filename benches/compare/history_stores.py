"""The opponents of the history: one table through the raw driver, as durable; and a peer in a process of its own."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import apsw
import psycopg

from toolcarry.fallback.tokens.count import encoding_of

VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
PEER = Path(__file__).with_name("history_peer.py")


class Raw(Protocol):
    """A table with a number and a blob."""

    name: str

    def insert(self, data: bytes) -> None:
        """One row in one transaction."""

    def insert_many(self, rows: Sequence[bytes]) -> None:
        """Write this many rows in one transaction."""

    def read(self) -> list[bytes]: ...

    def close(self) -> None: ...


class RawSqlite:
    name = "SQLite"

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.pragma("journal_mode", "wal")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE raw (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")

    def insert(self, data: bytes) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO raw (data) VALUES (?)", (data,))
        self._connection.execute("COMMIT")

    def insert_many(self, rows: Sequence[bytes]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO raw (data) VALUES (?)", [(row,) for row in rows])
        self._connection.execute("COMMIT")

    def read(self) -> list[bytes]:
        return [row[0] for row in self._connection.execute("SELECT data FROM raw ORDER BY id")]

    def close(self) -> None:
        self._connection.close()


class RawPostgres:
    name = "PostgreSQL"

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url)
        self._connection.execute("SET synchronous_commit = on")
        self._connection.execute(
            "CREATE TABLE raw (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data BYTEA NOT NULL)"
        )
        self._connection.commit()

    def insert(self, data: bytes) -> None:
        with self._connection.transaction():
            self._connection.execute("INSERT INTO raw (data) VALUES (%b)", (data,))

    def insert_many(self, rows: Sequence[bytes]) -> None:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany("INSERT INTO raw (data) VALUES (%b)", [(row,) for row in rows])

    def read(self) -> list[bytes]:
        with self._connection.transaction(), self._connection.cursor(binary=True) as cursor:
            return [row[0] for row in cursor.execute("SELECT data FROM raw ORDER BY id")]

    def close(self) -> None:
        with self._connection.transaction():
            self._connection.execute("DROP TABLE raw")
        self._connection.close()


class PeerProcess:
    """A peer that does one job for each line that it is given. Use as a context."""

    def __init__(self, python: str, folder: Path) -> None:
        write_vocabulary(folder)
        self._process = subprocess.Popen(
            [python, str(PEER), str(folder / "peer.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TIKTOKEN_CACHE_DIR": str(folder), "PYTHONPATH": ""},
        )

    def ask(self, job: str, *values: Any) -> Any:
        """Return the output of the job. Raises ``RuntimeError`` if the peer has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([job, *values]) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            raise RuntimeError(f"the peer ended with {self._process.wait()} at {job!r}") from None

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_vocabulary(folder: Path) -> None:
    """The vocabulary where tiktoken looks for it, so that the peer fetches nothing."""
    tokens = encoding_of("o200k_base").token_byte_values()
    ranks = {encoding_of("o200k_base").encode_single_token(token): token for token in tokens}
    lines = [b"%b %d\n" % (base64.b64encode(ranks[rank]), rank) for rank in sorted(ranks)]
    name = hashlib.sha1(VOCABULARY.encode(), usedforsecurity=False).hexdigest()
    (folder / name).write_bytes(b"".join(lines))
