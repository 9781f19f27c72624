"""The lines of a conversation: other continuations of it, each of which a recorder writes as a conversation of its own."""

from __future__ import annotations

import re
from typing import Final

from toolcarry.tract.store.database import Database

__all__ = ["line_names"]

LINE_NAME: Final = re.compile(r"#[0-9a-f]{16}\Z")
NAMES: Final = (
    "SELECT name FROM tract_conversations WHERE tenant = ? AND (name = ? OR substr(name, 1, ?) = ?) "
    "ORDER BY id"
)


def line_names(database: Database, tenant: str, conversation: str) -> list[str]:
    """Return the names of the lines of a conversation that the history has, its own among them, oldest first."""
    start = f"{conversation}#"
    rows = database.read(NAMES, (tenant, conversation, len(start), start))
    names = [str(row[0]) for row in rows]
    return [
        name
        for name in names
        if name == conversation or LINE_NAME.fullmatch(name[len(conversation) :])
    ]
