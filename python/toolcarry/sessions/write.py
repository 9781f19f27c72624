"""Write a conversation as a new session of an agent: ``write_session``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from toolcarry import _backend
from toolcarry.api.conversation import Given
from toolcarry.api.convert import To, convert
from toolcarry.errors import BackendError, InputError
from toolcarry.sessions.agents import agent_named
from toolcarry.sessions.draft import Draft
from toolcarry.sessions.world import branch_of
from toolcarry.sessions.writers import WRITERS
from toolcarry.types.results import Loss
from toolcarry.types.value import Value
from toolcarry.types.values import check_choice

__all__ = ["WrittenSession", "draft_session", "put_session", "write_session"]


class WrittenSession(Value, frozen=True):
    """A session that was written.

    ``path`` is its file, or the store that holds it; the agent resumes it by ``session_id``. ``losses`` are what the agent
    cannot hold, and what was changed for it.
    """

    path: Path
    session_id: str
    losses: tuple[Loss, ...] = ()


def write_session(
    messages: Given,
    agent: str,
    *,
    directory: str | os.PathLike[str] = ".",
    environment: Mapping[str, str] | None = None,
) -> WrittenSession:
    """Write a conversation as a new session of ``agent``, which that agent lists and resumes.

    ``messages`` is a conversation in any form, as ``convert`` takes it. ``agent`` is ``claude``, ``codex``, ``gemini``,
    ``opencode`` or ``pi``. ``directory`` is where the session works. ``environment`` holds the variables that move the
    stores, such as ``CODEX_HOME``; by default those of this process.

    Calls keep their results, order and ids. Calls of tools that the agent has in another form become its own (``Bash``
    and ``exec_command``, ``Edit`` and ``apply_patch``, lists of tasks); others stay as they are. The store is only added
    to: nothing in it is changed, and the file appears as a whole or not at all.
    Raises ``InputError`` as ``convert`` does and for a conversation without messages, ``ConfigError`` for an unknown agent,
    ``OSError`` if the store can't be written, and ``BackendError`` on the Python fallback, which cannot repair.

    >>> import tempfile
    >>> talk = [{"role": "user", "content": "Count the hens."}]
    >>> with tempfile.TemporaryDirectory() as home:
    ...     written = write_session(talk, "codex", directory="/barn", environment={"CODEX_HOME": home})
    ...     print(written.path.read_text().count("Count the hens."), written.losses)
    2 ()
    """
    draft = draft_session(messages, agent, directory=directory)
    return put_session(draft, environment)


def draft_session(messages: Given, agent: str, *, directory: str | os.PathLike[str] = ".") -> Draft:
    """Return a session that is not written yet. Raises as ``write_session`` does."""
    check_choice("agent", agent, tuple(WRITERS))
    if _backend.backend() == "python":
        raise BackendError("write_session")
    writer = WRITERS[agent]
    converted = convert(messages, to=cast("To", writer.DESTINATION))
    if not converted.messages:
        raise InputError("holds no messages that a session could be made of")
    place = Path(os.path.realpath(directory))
    return Draft(agent, writer.new_id(), place, branch_of(place), converted)


def put_session(draft: Draft, environment: Mapping[str, str] | None = None) -> WrittenSession:
    """Write a session into the store of its agent."""
    root = agent_named(draft.agent).root(os.environ if environment is None else environment)
    path = WRITERS[draft.agent].write(draft, root)
    return WrittenSession(path, draft.session_id, draft.losses())
