"""Write a conversation as a new session of an agent: ``write_session``."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from toolcarry import _backend
from toolcarry.api.conversation import Given
from toolcarry.api.convert import To, convert
from toolcarry.errors import BackendError, InputError
from toolcarry.redact.hook import Redact
from toolcarry.redact.messages import redact_messages
from toolcarry.sessions.agents import agent_named
from toolcarry.sessions.draft import Draft
from toolcarry.sessions.fit import fit
from toolcarry.sessions.world import branch_of
from toolcarry.sessions.writers import WRITERS
from toolcarry.types.results import Loss
from toolcarry.types.value import Value
from toolcarry.types.values import check_choice

__all__ = ["WrittenSession", "draft_session", "losses_of", "put_session", "write_session"]


class WrittenSession(Value, frozen=True):
    """A session that was written.

    ``path`` is its file, or the store that holds it; the agent resumes it by ``session_id``. ``losses`` are content
    that the agent cannot hold, or that was changed for it.
    """

    path: Path
    session_id: str
    losses: tuple[Loss, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain values.

        >>> WrittenSession(Path("barn.jsonl"), "s1").to_dict()
        {'path': 'barn.jsonl', 'session_id': 's1', 'losses': []}
        """
        return {**Value.to_dict(self), "path": str(self.path)}


def write_session(
    messages: Given,
    agent: str,
    *,
    directory: str | os.PathLike[str] = ".",
    environment: Mapping[str, str] | None = None,
) -> WrittenSession:
    """Write a conversation as a new session of ``agent``, which that agent lists and resumes.

    ``messages`` is a conversation in any form that ``convert`` accepts. ``agent`` is ``claude``, ``codex``, ``gemini``,
    ``opencode`` or ``pi``. ``directory`` is where the session works. ``environment`` holds the variables that move the
    stores, such as ``CODEX_HOME``; by default those of this process.

    Calls keep their results, order and ids. Calls of tools that the agent has in another form are translated (``Bash``
    to ``exec_command``, ``Edit`` to ``apply_patch``, task lists); others stay unchanged. The store is only added to:
    nothing in it is changed, and the file appears as a whole or not at all. Raises ``InputError`` as ``convert`` does
    and for a conversation without messages, ``ConfigError`` for an unknown agent, ``OSError`` if the store can't be
    written, and ``BackendError`` on the Python fallback, which cannot repair.

    >>> import tempfile
    >>> talk = [{"role": "user", "content": "Count the hens."}]
    >>> with tempfile.TemporaryDirectory() as home:
    ...     written = write_session(talk, "codex", directory="/barn", environment={"CODEX_HOME": home})
    ...     print(written.path.read_text().count("Count the hens."), written.losses)
    2 ()
    """
    draft = draft_session(messages, agent, directory=directory)
    return put_session(draft, environment)


def draft_session(
    messages: Given,
    agent: str,
    *,
    directory: str | os.PathLike[str] = ".",
    limit: int | None = None,
    source: str = "",
    redact: Redact | None = None,
    note: str = "",
) -> Draft:
    """Return a session that is not written yet. Raises as ``write_session`` does.

    A conversation of more than ``limit`` tokens is made smaller; the losses name its ``source``. ``redact`` is applied to
    all content. ``note`` is a last message of the user.
    """
    check_choice("agent", agent, tuple(WRITERS))
    if _backend.backend() == "python":
        raise BackendError("write_session")
    writer = WRITERS[agent]
    converted = convert(messages, to=cast("To", writer.DESTINATION))
    if not converted.messages:
        raise InputError("holds no messages that a session could be made of")
    if redact is not None:
        converted = replace(converted, messages=redact_messages(converted.messages, redact))
    if limit is not None:
        converted = fit(converted, limit, source)
    if note:
        messages = with_note(converted.messages, note)
        converted = replace(converted, messages=messages)
    place = Path(os.path.realpath(directory))
    return Draft(agent, writer.new_id(), place, branch_of(place), converted)


def with_note(messages: list[dict[str, Any]], note: str) -> list[dict[str, Any]]:
    """Return messages with a last text of the user, in the format of Anthropic or of OpenAI Responses.

    >>> with_note([{"role": "user", "content": "Count the hens."}], "It is night.")
    [{'role': 'user', 'content': 'Count the hens.\\n\\nIt is night.'}]
    """
    last = messages[-1]
    if last.get("role") != "user" or last.get("type") is not None:
        return [*messages, {"role": "user", "content": note}]
    content = last["content"]
    if isinstance(content, str):
        return [*messages[:-1], {**last, "content": f"{content}\n\n{note}"}]
    is_item = any(part["type"].startswith("input_") for part in content)
    kind = "input_text" if is_item else "text"
    return [*messages[:-1], {**last, "content": [*content, {"type": kind, "text": note}]}]


def losses_of(draft: Draft) -> tuple[Loss, ...]:
    """Return the losses that a session will have when it is written."""
    other = Draft(draft.agent, draft.session_id, draft.directory, draft.branch, draft.converted)
    deque(WRITERS[draft.agent].records(other), maxlen=0)
    return other.losses()


def put_session(draft: Draft, environment: Mapping[str, str] | None = None) -> WrittenSession:
    """Write a session into the store of its agent."""
    root = agent_named(draft.agent).root(os.environ if environment is None else environment)
    path = WRITERS[draft.agent].write(draft, root)
    return WrittenSession(path, draft.session_id, draft.losses())
