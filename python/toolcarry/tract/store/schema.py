"""The schema of the store, as numbered migrations that are never edited.

Both databases have the same schema; ``Dialect`` has the parts that they spell differently. Texts of conversations are
stored as bytes, since tool output may contain NULs and lone surrogates, which PostgreSQL's texts can't hold.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from toolcarry.errors import StoreVersionError
from toolcarry.tract.store.database import Transaction

__all__ = ["POSTGRES", "SQLITE", "VERSION", "Dialect", "migrate"]


class Dialect(NamedTuple):
    """The type names and other differences of a database's SQL."""

    identity: str
    """The type of a key that the database assigns, and never reuses."""
    row: str
    """The type of a key that the database assigns, and may reuse after its row is deleted."""
    blob: str
    integer: str
    clustered: str
    """The suffix of a table that is stored in the order of its key."""
    own: tuple[tuple[str, ...], ...]
    """Statements for this database alone, run after those of each step."""


SQLITE: Final = Dialect(
    identity="INTEGER PRIMARY KEY AUTOINCREMENT",
    row="INTEGER PRIMARY KEY",
    blob="BLOB",
    integer="INTEGER",
    clustered=" WITHOUT ROWID",
    own=((), ()),
)
POSTGRES: Final = Dialect(
    identity="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    row="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    blob="BYTEA",
    integer="BIGINT",
    clustered="",
    own=(
        (
            # Else the server would compress data that is compressed already, or too short to be worth it.
            "ALTER TABLE tract_contents ALTER COLUMN data SET STORAGE EXTERNAL",
            "ALTER TABLE tract_commits ALTER COLUMN metadata SET STORAGE EXTERNAL",
        ),
        (),
    ),
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """
        CREATE TABLE tract_conversations (
            id {identity},
            tenant TEXT NOT NULL,
            name TEXT NOT NULL,
            UNIQUE (tenant, name)
        )
        """,
        """
        CREATE TABLE tract_contents (
            id {row},
            tenant TEXT NOT NULL,
            hash {blob} NOT NULL,
            size {integer} NOT NULL,
            packing {integer} NOT NULL,
            data {blob} NOT NULL,
            UNIQUE (tenant, hash)
        )
        """,
        """
        CREATE TABLE tract_commits (
            conversation {integer} NOT NULL REFERENCES tract_conversations (id),
            sequence {integer} NOT NULL,
            hash {blob} NOT NULL,
            parent {blob},
            role TEXT NOT NULL,
            kind {integer} NOT NULL,
            content {blob} NOT NULL,
            metadata {blob} NOT NULL,
            token_count {integer} NOT NULL,
            created_at {integer} NOT NULL,
            seal {blob} NOT NULL,
            PRIMARY KEY (conversation, sequence)
        ){clustered}
        """,
        "CREATE UNIQUE INDEX tract_commits_hash ON tract_commits (conversation, hash)",
        "CREATE INDEX tract_commits_changes ON tract_commits (conversation, sequence) WHERE kind >= 4",
        """
        CREATE TABLE tract_lost (
            conversation {integer} NOT NULL REFERENCES tract_conversations (id),
            sequence {integer} NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (conversation, sequence)
        )
        """,
    ),
    (
        # Since this step, metadata may be folded (``metadata_delta.py``), which an older toolcarry would
        # report as damage. The index has only the start of each hash: hashes are random, so each new entry changes
        # another page of the index, and shorter entries need fewer pages.
        "DROP INDEX tract_commits_hash",
        "CREATE INDEX tract_commits_start ON tract_commits (conversation, substr(hash, 1, 8))",
    ),
)
"""The statements of each step, which turn one version of the schema into the next."""

VERSION: Final = len(MIGRATIONS)


def migrate(run: Transaction, version: int, dialect: Dialect) -> None:
    """Migrate a schema of ``version`` (0: an empty database) to the newest, within the caller's transaction.

    Raises ``StoreVersionError`` if the schema is newer than this toolcarry.
    """
    if version > VERSION:
        raise StoreVersionError(
            f"the store has schema {version}, but this toolcarry only knows schemas up to {VERSION}: "
            "upgrade toolcarry"
        )
    for step, own in list(zip(MIGRATIONS, dialect.own, strict=True))[version:]:
        for statement in (*step, *own):
            run.run(statement.format_map(dialect._asdict()))
