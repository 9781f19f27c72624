"""The statements by which the log reads and writes; the same for both databases."""

from __future__ import annotations

from typing import Final

from toolcarry.tract.store.rows import COLUMNS

__all__ = [
    "ADD_COMMIT",
    "ADD_CONTENT",
    "ADD_LOST",
    "FIND",
    "HEAD",
    "LOST",
    "NUMBER",
    "SEAL",
    "SELECT",
    "SELECT_WITH_CONTENT",
    "SELECT_WITH_SIZE",
]

SELECT: Final = f"SELECT {COLUMNS} FROM tract_commits c WHERE c.conversation = ?"
SELECT_WITH_CONTENT: Final = (
    f"SELECT {COLUMNS}, k.packing, k.size, k.data FROM tract_commits c "
    "LEFT JOIN tract_contents k ON k.tenant = ? AND k.hash = c.content WHERE c.conversation = ?"
)
SELECT_WITH_SIZE: Final = (
    f"SELECT {COLUMNS}, k.size, length(k.data) FROM tract_commits c "
    "LEFT JOIN tract_contents k ON k.tenant = ? AND k.hash = c.content WHERE c.conversation = ?"
)
# The index has the first eight bytes alone.
FIND: Final = (
    f"{SELECT} AND substr(c.hash, 1, 8) >= ? AND substr(c.hash, 1, 8) <= ? "
    "AND c.hash >= ? AND c.hash <= ? LIMIT 2"
)
HEAD: Final = (
    "SELECT sequence, hash FROM tract_commits WHERE conversation = ? ORDER BY sequence DESC LIMIT 1"
)
SEAL: Final = "SELECT hash, seal FROM tract_commits WHERE conversation = ? AND sequence = ?"
# Where the same content is stored in other bytes, they are damaged, or packed another way: these ones are good.
ADD_CONTENT: Final = (
    "INSERT INTO tract_contents (tenant, hash, size, packing, data) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (tenant, hash) DO UPDATE SET size = excluded.size, packing = excluded.packing, "
    "data = excluded.data WHERE tract_contents.data <> excluded.data"
)
ADD_COMMIT: Final = (
    "INSERT INTO tract_commits (conversation, sequence, hash, parent, role, kind, content, metadata, "
    "token_count, created_at, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
NUMBER: Final = "SELECT id FROM tract_conversations WHERE tenant = ? AND name = ?"
ADD_LOST: Final = "INSERT INTO tract_lost (conversation, sequence, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
LOST: Final = "SELECT sequence, reason FROM tract_lost WHERE conversation = ? ORDER BY sequence"
