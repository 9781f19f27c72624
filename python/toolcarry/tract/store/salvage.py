"""What of a damaged store still proves itself, brought into a new one. The damaged one stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolcarry.errors import StoreError
from toolcarry.tract.store.database import Database, Row, Transaction, Value
from toolcarry.tract.store.log import ADD_COMMIT, ADD_CONTENT, Log
from toolcarry.tract.store.rows import COLUMNS, read_content, read_row
from toolcarry.tract.values import Damage, Salvage

__all__ = ["salvage"]

PAGE: Final = 200
GIVE_UP: Final = 20
"""Pages in a row in which nothing is found."""

CONVERSATION: Final = "SELECT id, tenant, name FROM tract_conversations WHERE id = ?"
ROW: Final = f"SELECT {COLUMNS} FROM tract_commits c WHERE c.conversation = ? AND c.sequence = ?"
CONTENT: Final = (
    "SELECT tenant, hash, size, packing, data FROM tract_contents WHERE tenant = ? AND hash = ?"
)
ADD_LOST: Final = "INSERT INTO tract_lost (conversation, sequence, reason) VALUES (?, ?, ?)"


def salvage(source: Database, target: Database) -> Salvage:
    """Copy every commit that proves itself, with its content; what doesn't is noted as lost, in the new store, too."""
    saved = 0
    lost: list[Damage] = []
    last = newest(source, "SELECT max(id) FROM tract_conversations", ())
    for row in each(source, CONVERSATION, (), last):
        if isinstance(row, Damage):
            if "no such row" not in row.reason:
                lost.append(row)
            continue
        number, tenant, name = row
        log = Log(target, tenant, name)
        end = newest(
            source, "SELECT max(sequence) FROM tract_commits WHERE conversation = ?", (number,)
        )
        for found in each(source, ROW, (number,), end):
            damage = found if isinstance(found, Damage) else take(source, target, log, found)
            if damage is None:
                saved += 1
                continue
            told = Damage(damage.reason, tenant, name, damage.sequence, damage.commit_hash)
            lost.append(told)
            note(target, log, told)
    return Salvage(saved, tuple(lost))


def newest(source: Database, sql: str, values: tuple[Value, ...]) -> int | None:
    """The greatest key; ``None`` where the store can't tell."""
    try:
        return int(source.read(sql, values)[0][0] or 0)
    except StoreError:
        return None


def each(
    source: Database, sql: str, values: tuple[Value, ...], last: int | None
) -> Iterator[Row | Damage]:
    """The row of each key from 1, or why there is none. Where the last key is not known, until nothing comes."""
    key = missed = 0
    while key < last if last is not None else missed < PAGE * GIVE_UP:
        key += 1
        try:
            rows = source.read(sql, (*values, key))
        except StoreError as error:
            missed += 1
            yield Damage(str(error), sequence=key)
            continue
        if rows:
            missed = 0
            yield rows[0]
            continue
        missed += 1
        if last is not None:
            yield Damage("no such row: the commit is missing", sequence=key)


def take(source: Database, target: Database, log: Log, row: Row) -> Damage | None:
    """Copy one commit with its content; what is wrong with it, where it is not copied."""
    sequence, shown = row[0], row[1].hex() if isinstance(row[1], bytes) else None
    try:
        commit = read_row(row, log.tenant, log.conversation)
        content = source.read(CONTENT, (log.tenant, row[5]))
        _, _, size, packing, data = content[0] if content else (None,) * 5
        read_content(commit, (packing, size, data))
    except (StoreError, ValueError, IndexError, TypeError, AttributeError) as error:
        return Damage(str(error), sequence=sequence, commit_hash=shown)

    def work(run: Transaction) -> None:
        run.run(ADD_CONTENT, content[0])
        run.run(ADD_COMMIT, (log.make_number(run), *row))

    target.write(work)
    return None


def note(target: Database, log: Log, damage: Damage) -> None:
    """Say in the new store what it lacks, so that a gap is known for one."""

    def work(run: Transaction) -> None:
        run.run(ADD_LOST, (log.make_number(run), damage.sequence, damage.reason))

    target.write(work)
