"""Full-text search in tool results: SQLite's FTS5, in memory, and PostgreSQL's ``tsvector``, in a table of its own.

An index is derived from the log, which is append-only: it is extended by what came since the last search, and may be lost
at any time. SQLite's stays in memory, so that no file keeps words of a conversation that was forgotten. PostgreSQL's
table has a foreign key, by which a conversation's words are deleted with it.

Words are runs of letters and digits, in any case; a word of the query with other characters in it is a phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from toolcarry.errors import StoreError
from toolcarry.tract.store.database import Database, Transaction, Value

__all__ = ["PIECE", "FtsIndex", "TsIndex", "pieces", "words_of"]

NO_WORD: Final = re.compile(r"[\W_]+")
PIECE: Final = 100_000
"""The number of characters that are indexed together: PostgreSQL refuses a ``tsvector`` of more than 1 MB
(https://www.postgresql.org/docs/current/textsearch-limitations.html)."""
OVERLAP: Final = 200
"""The number of characters that a piece repeats of the one before it, so that no phrase is divided."""
LONGEST_WORD: Final = 200
POSTGRES_TABLE: Final = (
    """
    CREATE TABLE IF NOT EXISTS tract_search (
        conversation BIGINT NOT NULL REFERENCES tract_conversations (id) ON DELETE CASCADE,
        sequence BIGINT NOT NULL,
        piece BIGINT NOT NULL,
        words TSVECTOR NOT NULL,
        PRIMARY KEY (conversation, sequence, piece)
    )
    """,
    "CREATE INDEX IF NOT EXISTS tract_search_words ON tract_search USING gin (words)",
)


def words_of(text: str) -> str:
    """Return the words of a string in lower case, with a space between them.

    >>> words_of("src/test_mean.py:12")
    'src test mean py 12'
    """
    words = NO_WORD.sub(" ", text.lower()).split()
    return " ".join([word[:LONGEST_WORD] for word in words])


def pieces(text: str) -> Iterator[str]:
    """Yield the words of a string in pieces that a database accepts."""
    for start in range(0, max(len(text), 1), PIECE):
        yield words_of(text[max(start - OVERLAP, 0) : start + PIECE])


class FtsIndex:
    """An index in memory."""

    def __init__(self) -> None:
        import apsw  # noqa: PLC0415 - a server needs no SQLite

        self._connection = apsw.Connection(":memory:")
        self._end = 0
        try:
            self._connection.execute(
                "CREATE VIRTUAL TABLE found USING fts5(words, sequence UNINDEXED, tokenize = 'unicode61 remove_diacritics 0')"
            )
        except apsw.SQLError as error:
            raise StoreError(
                f"search: this SQLite has no FTS5 ({error}); install apsw from PyPI, which has it"
            ) from None

    def end(self) -> int:
        return self._end

    def add(self, texts: Iterable[tuple[int, str]]) -> None:
        with self._connection:
            for sequence, text in texts:
                for piece in pieces(text):
                    self._connection.execute(
                        "INSERT INTO found (words, sequence) VALUES (?, ?)", (piece, sequence)
                    )
                self._end = max(self._end, sequence)

    def find(self, phrases: list[str], limit: int) -> list[int]:
        query = " AND ".join([f'"{phrase}"' for phrase in phrases])
        rows = self._connection.execute(
            "SELECT sequence FROM found WHERE found MATCH ? ORDER BY rank, sequence DESC", (query,)
        )
        return list(dict.fromkeys([int(row[0]) for row in rows]))[:limit]


class TsIndex:
    """An index in the tables of a PostgreSQL server; ``number`` is that of the conversation."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self._number = number
        if not database.read(IS_THERE)[0][0]:
            database.write(make_table)

    def end(self) -> int:
        sql = "SELECT max(sequence) FROM tract_search WHERE conversation = ?"
        return int(self._database.read(sql, (self._number,))[0][0] or 0)

    def add(self, texts: Iterable[tuple[int, str]]) -> None:
        rows = [
            (self._number, sequence, place, piece)
            for sequence, text in texts
            for place, piece in enumerate(pieces(text))
        ]

        def work(run: Transaction) -> None:
            run.run_many(ADD_WORDS, rows)

        if rows:
            self._database.write(work)

    def find(self, phrases: list[str], limit: int) -> list[int]:
        query = " && ".join(["phraseto_tsquery('simple', ?)"] * len(phrases))
        values: tuple[Value, ...] = (*phrases, self._number, limit)
        rows = self._database.read(
            f"SELECT s.sequence FROM tract_search s, (SELECT {query} AS asked) q "
            "WHERE s.words @@ q.asked AND s.conversation = ? GROUP BY s.sequence "
            "ORDER BY max(ts_rank(s.words, q.asked)) DESC, s.sequence DESC LIMIT ?",
            values,
        )
        return [int(row[0]) for row in rows]


# Not by ``to_regclass``, whose cache may miss a table that another connection has just created.
IS_THERE: Final = (
    "SELECT count(*) > 0 FROM pg_catalog.pg_class "
    "WHERE relname = 'tract_search' AND pg_catalog.pg_table_is_visible(oid)"
)


def make_table(run: Transaction) -> None:
    for statement in POSTGRES_TABLE:
        run.run(statement)


ADD_WORDS: Final = (
    "INSERT INTO tract_search (conversation, sequence, piece, words) "
    "SELECT g.a, g.b, g.c, to_tsvector('simple', g.d) FROM (VALUES (?::bigint, ?::bigint, ?::bigint, ?::text)"
    ") AS g (a, b, c, d) ON CONFLICT DO NOTHING"
)
