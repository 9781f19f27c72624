"""The commits of one conversation, read a page at a time and verified: each by itself, and that none is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolcarry.errors import StoreDamagedError, StoreError, UnknownCommitError
from toolcarry.tract.checks import check_text
from toolcarry.tract.store.database import Database, Row, Value
from toolcarry.tract.store.hashing import hash_range
from toolcarry.tract.store.rows import WIDTH, read_content, read_contents, read_row, read_rows
from toolcarry.tract.store.statements import (
    FIND,
    HEAD,
    LOST,
    NUMBER,
    SELECT,
    SELECT_WITH_CONTENT,
    SELECT_WITH_SIZE,
)
from toolcarry.tract.store.unfolding import find_contents, unfolded
from toolcarry.tract.values import CommitInfo

__all__ = ["Head", "Pages"]

PAGE: Final = 1000
"""Commits read at once."""

Head = tuple[int, bytes | None]
"""The newest commit of a conversation: its sequence and its hash; ``(0, None)`` where there is none."""


class Pages:
    """The reading half of a log. It keeps no cursor open, so that nobody has to wait for who reads.

    Conditions are SQL that begins with ``AND``. Without one, a commit that is missing between two is told by
    ``StoreDamagedError``, unless the store was repaired and knows of the loss.
    """

    def __init__(self, database: Database, tenant: str, conversation: str) -> None:
        self.database = database
        self.tenant = tenant
        self.conversation = conversation
        self._number: int | None = None
        self._failures = database.failures

    def head(self) -> Head:
        """The newest commit. Where a write failed on the disk, it is read again whole, so that nothing is built on a loss."""
        number = self._find_number()
        if number is None:
            return 0, None
        found = self._find_head(self.database.read(HEAD, (number,)))
        if self._failures != self.database.failures and found[0] > 0:
            for commit, _ in self.contents(after=found[0] - 1):
                found = commit.sequence, bytes.fromhex(commit.commit_hash)
        self._failures = self.database.failures
        return found

    def commits(self, condition: str = "", *, after: int = 0) -> Iterator[CommitInfo]:
        """The commits behind a sequence, oldest first."""
        for commits, _ in self._pages(SELECT, (), condition, after):
            yield from commits

    def contents(
        self, condition: str = "", *, after: int = 0
    ) -> Iterator[tuple[CommitInfo, bytes]]:
        """The commits behind a sequence, each with its content, oldest first."""
        pages = self._pages(SELECT_WITH_CONTENT, (self.tenant,), condition, after)
        for commits, rows in pages:
            yield from read_contents(commits, [row[WIDTH:] for row in rows])

    def sized(self, condition: str = "") -> Iterator[tuple[CommitInfo, int, int]]:
        """The commits, each with the bytes of its content and the bytes that these take, oldest first."""
        for commits, rows in self._pages(SELECT_WITH_SIZE, (self.tenant,), condition, 0):
            for commit, row in zip(commits, rows, strict=False):
                yield commit, row[WIDTH] or 0, row[WIDTH + 1] or 0

    def newest(self, limit: int | None) -> Iterator[CommitInfo]:
        """The commits, newest first."""
        newer: CommitInfo | None = None
        while limit is None or limit > 0:
            number = self._find_number()
            if number is None:
                return
            size = PAGE if limit is None else min(PAGE, limit)
            end = "" if newer is None else "AND c.sequence < ? "
            values = (number, size) if newer is None else (number, newer.sequence, size)
            rows = self._read(f"{SELECT} {end}ORDER BY c.sequence DESC LIMIT ?", values)
            for commit in read_rows(rows, self.tenant, self.conversation):
                if newer is not None:
                    self._check_link(commit.sequence, commit.commit_hash, newer)
                newer = commit
                yield commit
            if len(rows) < size:
                if newer is not None:
                    self._check_link(0, None, newer)
                return
            limit = None if limit is None else limit - size

    def find(self, given: str) -> CommitInfo:
        """The commit of a hash, or of the first eight or more of its digits.

        Raises ``UnknownCommitError``, and ``InputError`` for what is no text.
        """
        check_text("commit", given)
        low, high = hash_range(given)
        number = self._find_number()
        rows: list[Row] = []
        if number is not None and low:
            rows = self._read(FIND, (number, low[:8], high[:8], low, high))
        if len(rows) != 1:
            reason = "several commits begin with it" if rows else "has no such commit"
            raise UnknownCommitError(
                f"commit {given!r:.80}: the conversation {self.conversation!r} {reason}", given
            )
        commit = read_row(rows[0], self.tenant, self.conversation)
        if not low.hex() <= commit.commit_hash <= high.hex():
            raise StoreDamagedError(f"commit {given:.80}: another one is found for it", given)
        return commit

    def content(self, commit: CommitInfo) -> bytes:
        """The content of a commit, verified. Raises ``UnknownCommitError`` for a commit that is not of here."""
        key = bytes.fromhex(commit.content_hash)
        found = find_contents(self.database.read, self.tenant, [key])
        if key not in found:
            self.find(commit.commit_hash)  # of another tenant's commit nothing was lost here
        return read_content(commit, found.get(key, (None, None, None)))

    def _pages(
        self, select: str, values: tuple[Value, ...], condition: str, after: int
    ) -> Iterator[tuple[list[CommitInfo], list[Row]]]:
        """The commits behind a sequence, many at once, each with its row; of a page with damage, those before it."""
        number = self._find_number()
        if number is None:
            return
        sql = f"{select} AND c.sequence > ? {condition} ORDER BY c.sequence LIMIT ?"
        older: CommitInfo | None = None
        place = after
        while True:
            rows = self._read(sql, (*values, number, place, PAGE))
            commits: list[CommitInfo] = []
            try:
                for commit in read_rows(rows, self.tenant, self.conversation):
                    if not condition and older is not None:
                        self._check_link(older.sequence, older.commit_hash, commit)
                    elif not condition and after == 0:
                        self._check_link(0, None, commit)
                    if commit.sequence <= place:
                        raise StoreDamagedError(
                            f"{self.database.name}: is damaged: rows are not in order"
                        )
                    older, place = commit, commit.sequence
                    commits.append(commit)
            except StoreError:
                yield commits, rows
                raise
            yield commits, rows
            if len(rows) < PAGE:
                return

    def _read(self, sql: str, values: tuple[Value, ...]) -> list[Row]:
        """The rows of commits, with their metadata as it was written."""
        return unfolded(self.database.read(sql, values), self.database.read, self.tenant)

    def _check_link(self, sequence: int, found: str | None, commit: CommitInfo) -> None:
        """Raise ``StoreDamagedError`` where a commit does not stand on the one of this sequence and hash."""
        shown = commit.commit_hash
        if commit.sequence == sequence + 1:
            if commit.parent_hash != found:
                raise StoreDamagedError(
                    f"commit {shown}: does not stand on the commit before it", shown
                )
            return
        lost = {row[0] for row in self.database.read(LOST, (self._find_number(),))}
        missing = [each for each in range(sequence + 1, commit.sequence) if each not in lost]
        if missing:
            raise StoreDamagedError(
                f"commit {shown}: number {missing[0]} of the conversation is missing before it",
                shown,
            )

    def _find_number(self) -> int | None:
        if self._number is None:
            rows = self.database.read(NUMBER, (self.tenant, self.conversation))
            self._number = int(rows[0][0]) if rows else None
        return self._number

    @staticmethod
    def _find_head(rows: list[Row]) -> Head:
        return (rows[0][0], rows[0][1]) if rows else (0, None)
