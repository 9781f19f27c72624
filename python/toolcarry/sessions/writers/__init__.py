"""The writers, one for each agent: a module with the format of its conversation, a new id, and a function that writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from toolcarry.sessions.draft import Draft
from toolcarry.sessions.writers import claude_code, codex, gemini_cli, opencode, pi

__all__ = ["WRITERS", "Writer"]


class Writer(Protocol):
    """Write the sessions of one agent."""

    DESTINATION: str
    """The destination of the conversation that is written."""

    def new_id(self) -> str:
        """Return the id of a new session."""

    def records(self, draft: Draft) -> Iterator[Any]:
        """Yield what is written."""

    def write(self, draft: Draft, root: Path) -> Path:
        """Write a session into the store in a folder, and return its file."""


WRITERS: Final[dict[str, Writer]] = {
    "claude": claude_code,
    "codex": codex,
    "gemini": gemini_cli,
    "opencode": opencode,
    "pi": pi,
}
"""The writers by the names of their agents."""
