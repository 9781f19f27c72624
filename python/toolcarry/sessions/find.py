"""Find the sessions of all agents on this machine, and their states."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from toolcarry._input.stores import read_rows
from toolcarry.api.convert import convert
from toolcarry.api.tokens import estimate_tokens
from toolcarry.errors import InputError
from toolcarry.sessions.agents import AGENTS, Agent
from toolcarry.sessions.heads import Head, hash_of, head_of
from toolcarry.sessions.words import words_of
from toolcarry.types.value import Value

__all__ = [
    "FoundSession",
    "SessionFacts",
    "facts_of_session",
    "find_sessions",
    "request_in",
    "state_of",
]


class FoundSession(Value, frozen=True):
    """A session of an agent. ``path`` is its file, or ``STORE#ID``; ``directory`` is empty if it does not say where it works."""

    agent: str
    path: Path
    session_id: str
    directory: str
    changed: datetime

    def is_in(self, directory: Path) -> bool:
        """Return true if the session works in a directory."""
        if self.directory.startswith("sha256:"):
            return self.directory == hash_of(directory)
        return self.directory != "" and os.path.realpath(self.directory) == str(directory)


class SessionFacts(Value, frozen=True):
    """The summary of a session. ``state`` is ``finished`` (the model answered last), ``waiting`` (for the model to go on), or
    ``cut-off`` (in a call without result)."""

    title: str
    tokens: int
    state: str


def find_sessions(environment: Mapping[str, str], *, agent: str | None = None) -> list[FoundSession]:  # fmt: skip
    """Return the sessions of an agent, or of all, the newest first. Sessions of sub-agents are left out.

    Files that can't be read are left out, too: the store belongs to the agent, which may change it at any time.
    """
    found: list[FoundSession] = []
    for each in AGENTS:
        if agent in (None, each.name):
            for path in each.files(environment):
                with suppress(OSError, InputError):
                    found += sessions_in(each, path)
    return sorted(found, key=lambda session: session.changed, reverse=True)


def sessions_in(agent: Agent, path: Path) -> Iterator[FoundSession]:
    """Yield the session in a file, or all sessions in a store."""
    if agent.is_store:
        yield from stored_sessions(agent, path)
        return
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    head: Head = head_of(path)
    if not head.is_side:
        yield FoundSession(agent.name, path, head.session_id, head.directory, changed)


STORED: Final = "SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL"


def stored_sessions(agent: Agent, path: Path) -> Iterator[FoundSession]:
    """Yield the sessions in a store of opencode."""
    for name, directory, changed in read_rows(path, STORED):
        moment = datetime.fromtimestamp(changed / 1000, UTC)
        yield FoundSession(agent.name, Path(f"{path}#{name}"), name, directory, moment)


def facts_of_session(messages: Any) -> SessionFacts:
    """Return what a session holds.

    >>> facts_of_session([{"role": "user", "content": "Count the hens."}])
    SessionFacts(title='Count the hens.', tokens=4, state='waiting')
    """
    talk = convert(messages, to="openai", repair=False).messages
    tokens = estimate_tokens(talk, model="gpt-5").value
    asked = next((text for each in talk if (text := said_by_user(each))), "")
    return SessionFacts(asked, tokens, state_of(talk))


def request_in(talk: list[dict[str, Any]]) -> str:
    """Return the last request of the user in messages of OpenAI Chat."""
    return next((text for each in reversed(talk) if (text := said_by_user(each))), "")


def said_by_user(message: dict[str, Any]) -> str:
    """Return the text of a user message; empty for any other."""
    return words_of(message.get("content")).strip() if message.get("role") == "user" else ""


def state_of(talk: list[dict[str, Any]]) -> str:
    """Return the state of a conversation in the format of OpenAI Chat."""
    answered = {each.get("tool_call_id") for each in talk if each.get("role") == "tool"}
    said = (each for each in reversed(talk) if each.get("role") != "tool")
    last: dict[str, Any] = next(said, {})
    calls = last.get("tool_calls") or ()
    if any(call.get("id") not in answered for call in calls):
        return "cut-off"
    is_answer = last is talk[-1] and last.get("role") == "assistant" if talk else False
    return "finished" if is_answer and not calls else "waiting"
