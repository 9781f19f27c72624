"""Read a conversation from the SQLite store of an agent. The store is only read, never written.

Each known store is a ``Store``: the tables and columns by which it is recognised, a query that lists its conversations,
and a function that returns the messages of one as its producer writes them elsewhere, so that the importers read them.
A store is somebody else's file: only plain tables are read, and rows that hold no object are reported.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

from toolcarry._input.json import dump, loads
from toolcarry.errors import InputError

__all__ = ["STORES", "StoredConversation", "ids_in_store", "read_rows", "read_store"]

MOST_LISTED: Final = 50
MAX_BYTES: Final = 1 << 30
"""The most bytes that are read of a store."""
LEAST_BYTES: Final = 4 << 20
"""The bytes that are read of any store, however small."""

Row = tuple[Any, ...]
T = TypeVar("T", dict[str, Any], list[Any])
A = TypeVar("A")


class StoredConversation(NamedTuple):
    """A conversation of a store: its messages as JSON, and remarks about the choice and the reading of it."""

    body: bytes
    remarks: tuple[str, ...]


class Store(NamedTuple):
    """A known store. Its source is the producer's public code."""

    producer: str
    source: str
    columns: dict[str, frozenset[str]]
    """The columns by which the store is recognised, by table."""
    listing: str
    """A query for the id and the title of each conversation, the newest first."""
    messages: Callable[[Rows, str], Iterator[Any]]
    """Yield the messages of a conversation."""


class Rows:
    """Queries on a store. ``damaged`` counts the rows that hold no JSON.

    The rows of a file may be longer than the file: those that were written before a column was added have its default.
    So no more is read than a few times the size of the file.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.damaged = 0
        names = [name for _, _, name in connection.execute("PRAGMA database_list") if name]
        files = [Path(f"{name}{end}") for name in names for end in ("", "-wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
        self._room = min(LEAST_BYTES + 2 * size, MAX_BYTES)

    def ask(self, query: str, *given: str) -> Iterator[Row]:
        """Yield the rows. Raises ``InputError`` if they are much longer than the file."""
        for row in self._connection.execute(query, given):
            self._room -= sum(len(value) for value in row if isinstance(value, (str, bytes)))
            if self._room < 0:
                raise InputError("has rows that are longer than the whole file, or than the limit")
            yield row

    def read(self, data: object, kind: type[T]) -> T | None:
        """Return the object, or the list, of a column with JSON; ``None`` if it holds none, which is counted."""
        body = data.encode("utf-8", "replace") if isinstance(data, str) else data
        found: object = None
        if isinstance(body, bytes):
            with suppress(InputError):
                found = loads(body)
        if isinstance(found, kind):
            return found
        self.damaged += 1
        return None


def of_opencode(rows: Rows, name: str) -> Iterator[Any]:
    """Yield the messages as ``opencode export`` writes them."""
    parts: dict[str, list[Any]] = {}
    for message, data in rows.ask(
        "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id", name
    ):
        part = rows.read(data, dict)
        if part is not None:
            parts.setdefault(message, []).append(part)
    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    for message, data in rows.ask(query, name):
        info = rows.read(data, dict)
        if info is not None:
            yield {"info": {**info, "id": message}, "parts": parts.get(message, [])}


def of_crush(rows: Rows, name: str) -> Iterator[Any]:
    # Its clock counts seconds.
    query = "SELECT role, parts FROM messages WHERE session_id = ? ORDER BY created_at, rowid"
    for role, data in rows.ask(query, name):
        parts = rows.read(data, list)
        if parts is not None:
            yield {"role": role, "parts": parts}


def of_goose(rows: Rows, name: str) -> Iterator[Any]:
    query = "SELECT role, content_json FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
    for role, data in rows.ask(query, name):
        content = rows.read(data, list)
        if content is not None:
            yield {"role": role, "content": content}


def of_agents(rows: Rows, name: str) -> Iterator[Any]:
    query = "SELECT message_data FROM agent_messages WHERE session_id = ? ORDER BY id"
    for (data,) in rows.ask(query, name):
        item = rows.read(data, dict)
        if item is not None:
            yield item


STORES: Final = (
    Store(
        "opencode",
        "anomalyco/opencode, packages/opencode/src/session/session.sql.ts",
        {
            "session": frozenset(("id", "parent_id", "title", "time_updated")),
            "message": frozenset(("id", "session_id", "time_created", "data")),
            "part": frozenset(("id", "message_id", "session_id", "data")),
        },
        # The session of a sub-agent has a parent.
        "SELECT id, substr(title, 1, 99) FROM session ORDER BY parent_id IS NOT NULL, time_updated DESC, id DESC",
        of_opencode,
    ),
    Store(
        "crush",
        "charmbracelet/crush, internal/db/migrations, internal/message/message.go",
        {
            "sessions": frozenset(("id", "parent_session_id", "title", "updated_at")),
            "messages": frozenset(("session_id", "role", "parts", "created_at")),
        },
        "SELECT id, substr(title, 1, 99) FROM sessions ORDER BY parent_session_id IS NOT NULL, updated_at DESC, rowid DESC",
        of_crush,
    ),
    Store(
        "goose",
        "block/goose, crates/goose/src/session/session_manager.rs",
        {
            "sessions": frozenset(("id", "description", "updated_at")),
            "messages": frozenset(
                ("id", "session_id", "role", "content_json", "created_timestamp")
            ),
        },
        "SELECT id, substr(description, 1, 99) FROM sessions ORDER BY updated_at DESC, rowid DESC",
        of_goose,
    ),
    Store(
        "OpenAI Agents SDK",
        "openai/openai-agents-python, src/agents/memory/sqlite_session.py",
        {
            "agent_sessions": frozenset(("session_id", "updated_at")),
            "agent_messages": frozenset(("id", "session_id", "message_data")),
        },
        "SELECT session_id, '' FROM agent_sessions ORDER BY updated_at DESC, rowid DESC",
        of_agents,
    ),
)
"""The stores that are read."""
CURSOR: Final = "cursorDiskKV"
"""The table of Cursor's chats. No public source of its producer describes them."""


def read_store(path: Path, chosen: str | None = None) -> StoredConversation:
    """Return a conversation of a store: the one with the id ``chosen``, else the newest one.

    Raises ``InputError`` for an unknown store, a damaged one, and an id that it does not have.
    """
    return in_store(path, lambda connection, remarks: choose(connection, chosen, remarks))


def ids_in_store(path: Path) -> list[str]:
    """Return the ids of the conversations in a store, the newest first. Raises as ``read_store`` does."""
    return in_store(
        path,
        lambda connection, _: [
            name for name, _ in listed_in(known_store(connection), Rows(connection))
        ],
    )


def read_rows(path: Path, query: str) -> list[Row]:
    """Return the rows of a query on a store. Raises ``OSError``, and ``InputError`` if it can't be read."""
    return in_store(path, lambda connection, _: connection.execute(query).fetchall())


def in_store(path: Path, job: Callable[[sqlite3.Connection, list[str]], A]) -> A:
    """Return what a job finds in a store, given a connection and remarks. It runs again if an agent opened the store."""
    try:
        with ExitStack() as opening:
            is_plain = is_logged(path) and not index_of(path).exists()
            found = job(*(connect_plain if is_plain else connect)(path, opening))
    except sqlite3.Error as error:
        raise InputError(f"is a SQLite store that cannot be read: {error}") from None
    return in_store(path, job) if is_plain and index_of(path).exists() else found


def listed_in(store: Store, rows: Rows) -> list[tuple[str, Any]]:
    """Return the id and the title of each conversation, the newest first. Raises ``InputError`` if there is none."""
    listed = [(name, title) for name, title in rows.ask(store.listing) if isinstance(name, str)]
    if not listed:
        raise InputError(f"is a store of {store.producer} without conversations")
    return listed


def is_logged(path: Path) -> bool:
    """Return true if a store has a write-ahead log (https://www.sqlite.org/fileformat.html, 1.3.3)."""
    with path.open("rb") as file:
        return file.read(20)[18:] == b"\2\2"


def index_of(path: Path) -> Path:
    """Return the index of a store's log, which SQLite keeps next to it as long as somebody has the store open."""
    return Path(f"{os.path.realpath(path)}-shm")


def connect(path: Path, opening: ExitStack) -> tuple[sqlite3.Connection, list[str]]:
    """Open a store read-only; as an immutable file if its write-ahead log can't be opened, as in a read-only folder."""
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        return opening.enter_context(opened(address)), []
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    remark = "its write-ahead log cannot be opened: the newest rows may be missing"
    return opening.enter_context(opened(f"{address}&immutable=1")), [remark]


def connect_plain(path: Path, opening: ExitStack) -> tuple[sqlite3.Connection, list[str]]:
    """Open a store that nobody has open. SQLite would leave an index of its log next to it, even if it only reads.

    With rows in the log, a copy is opened; without any, the file is all.
    """
    log = Path(f"{os.path.realpath(path)}-wal")
    if not log.exists() or not log.stat().st_size:
        address = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        return opening.enter_context(opened(address)), []
    folder = Path(opening.enter_context(TemporaryDirectory(prefix="toolcarry-")))
    copyfile(log, folder / "store-wal")
    copyfile(path, folder / "store")
    return connect(folder / "store", opening)


def opened(address: str) -> closing[sqlite3.Connection]:
    connection = sqlite3.connect(address, uri=True)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return closing(connection)


def choose(
    connection: sqlite3.Connection, chosen: str | None, remarks: list[str]
) -> StoredConversation:
    store = known_store(connection)
    rows = Rows(connection)
    listed = listed_in(store, rows)
    names = [name for name, _ in listed]
    if chosen is not None and chosen not in names:
        raise InputError(f"has no conversation {chosen!r:.80}; it has: {listing(listed)}")
    name = names[0] if chosen is None else chosen
    messages = list(store.messages(rows, name))
    if chosen is None and len(listed) > 1:
        others = listing(listed[1:])
        remarks = [
            *remarks,
            f"conversation {name}, the newest of {len(listed)}, is read; others: {others}",
        ]
    if rows.damaged:
        remarks = [*remarks, f"{rows.damaged} rows are damaged, and are left out"]
    return StoredConversation(dump(messages), tuple(remarks))


def listing(conversations: list[tuple[str, Any]]) -> str:
    """Return the ids of conversations, with their titles."""
    told = [
        f"{name} ({title:.60})" if isinstance(title, str) and title else name
        for name, title in conversations[:MOST_LISTED]
    ]
    more = len(conversations) - len(told)
    return ", ".join([*told, *([f"{more:,} more"] if more else [])])


def known_store(connection: sqlite3.Connection) -> Store:
    """Return the store whose tables a file has. Views and virtual tables may run code of the file, so they don't count."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    tables = [name for (name,) in connection.execute(query) if isinstance(name, str)]
    for store in STORES:
        if store.columns.keys() <= set(tables) and all(
            columns <= columns_of(connection, table) for table, columns in store.columns.items()
        ):
            return store
    if CURSOR in tables:
        raise InputError(
            "is a Cursor store, which toolcarry can't read: its structure is not public"
        )
    known = ", ".join(store.producer for store in STORES)
    held = ", ".join(sorted(tables)[:MOST_LISTED]) or "none"
    raise InputError(f"is an unknown SQLite store, with the tables: {held}; known are: {known}")


def columns_of(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """Return the names of the columns that a table stores, without those that it computes."""
    found = connection.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (table,))
    return frozenset(name for name, hidden in found if hidden == 0)
