"""The log of one conversation: commits appended to its head, and read back, verified.

Nothing is ever changed in it. A commit that was appended is on the disk when ``append`` returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolcarry import _backend
from toolcarry._pure.history.hashing import Content, Part
from toolcarry.errors import InputError, StoreBusyError
from toolcarry.tract.store.database import (
    ConflictError,
    LostConnectionError,
    Row,
    Transaction,
    Value,
)
from toolcarry.tract.store.packing import PACK_FROM, pack
from toolcarry.tract.store.pages import Head, Pages
from toolcarry.tract.store.rows import commits_of
from toolcarry.tract.store.statements import ADD_COMMIT, ADD_CONTENT, HEAD, NUMBER, SEAL
from toolcarry.tract.values import CommitInfo, Kind

__all__ = ["Draft", "Log", "Prepared", "prepare"]

ATTEMPTS: Final = 200
"""At appending, before it is given up because others are always faster."""
LOSSES: Final = 3
"""Of the connection, at one appending."""


Read = Callable[[str, Sequence[Value]], list[Row]]


class Draft(NamedTuple):
    """A commit to be."""

    role: str
    kind: Kind
    content: bytes
    metadata: Mapping[str, Any]
    token_count: int
    written: bytes | None = None
    """The metadata as canonical bytes, where nobody else asks for it; then it is empty."""


class Prepared(NamedTuple):
    """Commits to be, hashed as far as they can be before it is known on what they will stand."""

    parts: list[Part]
    metadata: list[bytes]
    """Of each as it is stored."""
    contents: list[Content]
    """Each once, in one order for all writers."""


def prepare(drafts: Sequence[Draft], tenant: str) -> Prepared:
    """Hash and pack contents, and write out metadata. Raises ``InputError`` for metadata that is no JSON."""
    try:
        prepared = Prepared(*_backend.kernels.prepare_parts(drafts, tenant))
    except (TypeError, ValueError) as error:
        raise InputError(f"metadata: {error}", None) from None
    contents = prepared.contents
    for place, (_, found, size, _, content) in enumerate(contents):
        if size >= PACK_FROM:
            contents[place] = (tenant, found, size, *pack(content))
    return prepared


class Log(Pages):
    """The log of one conversation of one tenant.

    The newest commit that was written here is remembered, so that the next one needs no look at the store: where another
    writer came in between, the place is taken, and the head is asked for.
    """

    _known: Head | None = None

    def append(self, drafts: Sequence[Draft]) -> list[CommitInfo]:
        """Append commits to the head, whatever it is, all or none."""
        prepared = prepare(drafts, self.tenant)
        rows = self._until_first(None, lambda: prepared)
        return commits_of(rows, self.conversation)

    def append_to(self, make: Callable[[Head], Sequence[Draft]]) -> list[CommitInfo]:
        """Append the commits that are made for the head that they will stand on.

        ``make`` is called anew where another writer came in between. It may read this log.
        """
        rows = self._append_to(lambda head: prepare(make(head), self.tenant))
        return commits_of(rows, self.conversation)

    def advance(self, make: Callable[[Head], Prepared]) -> Head | None:
        """As ``append_to``; gives the new head alone, and ``None`` where nothing was appended."""
        rows = self._append_to(make)
        return (rows[-1][0], rows[-1][1]) if rows else None

    def _append_to(self, make: Callable[[Head], Prepared]) -> list[Row]:
        heads: list[Head] = []
        return self._until_first(heads, lambda: make(heads[-1]))

    def _until_first(self, heads: list[Head] | None, make: Callable[[], Prepared]) -> list[Row]:
        """Append what is made, until no other writer comes in between: its rows.

        With ``heads``, the head is put there before it is made, and it must be the same when it is written.
        Where the connection was lost, the rows may be there all the same: they are looked for before they are sent again,
        and always behind the head, so that they can't become visible in between.
        """
        sent: list[Row] = []
        now = time.time_ns() // 1000  # one time for all attempts: the same rows have the same seals
        losses = 0
        for _ in range(ATTEMPTS):
            try:
                if heads is not None:
                    heads.append(self.head())
                    if losses and self._are_there(self.database.read, self._find_number(), sent):
                        return sent
                prepared = make()
                if not prepared.parts:
                    return []
                if self._failures != self.database.failures:
                    self._known = None
                    self.head()
                expected = heads[-1] if heads else None
                self._number = self.database.write(
                    lambda run: self._append(run, expected, prepared, now, sent, losses > 0)  # noqa: B023 - called at once
                )
            except ConflictError:
                self._number = self._known = None
            except LostConnectionError:
                self._known = None
                losses += 1
                if losses > LOSSES:
                    raise
            else:
                self._known = sent[-1][0], sent[-1][1]
                return sent
        raise StoreBusyError(f"{self.database.name}: others were faster {ATTEMPTS} times")

    @staticmethod
    def _are_there(read: Read, number: int | None, rows: Sequence[Row]) -> bool:
        """Whether these very rows were written: the last of them, since they are all there or none."""
        if number is None or not rows:
            return False
        last = rows[-1]
        return read(SEAL, (number, last[0])) == [(last[1], last[-1])]

    def _append(
        self,
        run: Transaction,
        expected: Head | None,
        prepared: Prepared,
        now: int,
        rows: list[Row],
        is_unsure: bool,
    ) -> int:
        """Append commits, and note their rows; the number of the conversation, which is its own once this is written.

        Raises ``ConflictError`` where another head is expected. ``is_unsure``: the rows that are noted already may have
        been written.
        """
        number = self._number or self.make_number(run)
        head = self._known if self._number else None
        if head is None:
            head = self._find_head(run.run(HEAD, (number,)))
        if is_unsure and self._are_there(run.run, number, rows):
            return number
        if expected is not None and head != expected:
            raise ConflictError("the head moved")
        rows[:] = _backend.kernels.link_rows(
            prepared.parts, head, now, self.tenant, self.conversation
        )
        stored = [
            (number, *row[:6], metadata, *row[7:])
            for row, metadata in zip(rows, prepared.metadata, strict=True)
        ]
        run.finish(((ADD_CONTENT, prepared.contents), (ADD_COMMIT, stored)))
        return number

    def make_number(self, run: Transaction) -> int:
        """The number of the conversation, which is made where there is none."""
        names = (self.tenant, self.conversation)
        for _ in range(2):
            found = run.run(NUMBER, names)
            if found:
                return int(found[0][0])
            run.run(
                "INSERT INTO tract_conversations (tenant, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
                names,
            )
        raise ConflictError("the conversation was forgotten meanwhile")
