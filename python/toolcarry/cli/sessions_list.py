"""``toolcarry sessions``: list the sessions of all agents on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, TypeAlias

from toolcarry._util.plural import counted
from toolcarry.cli.exit_codes import NOT_FOUND, FileError
from toolcarry.cli.io import Output, read_conversation
from toolcarry.cli.terminal import Screen, columns, one_line, render
from toolcarry.errors import InputError
from toolcarry.sessions.agents import agent_named
from toolcarry.sessions.find import FoundSession, SessionFacts, facts_of_session, find_sessions

__all__ = ["Row", "age_of", "list_sessions", "newest", "table_of"]

Row: TypeAlias = tuple[FoundSession, SessionFacts]
"""A session with what it holds."""


def list_sessions(
    *,
    agent: str | None,
    directory: str | None,
    since: datetime | None,
    state: str | None,
    limit: int,
    is_json: bool,
) -> int:
    """Write the sessions, the newest first, and return the exit code."""
    screen = Screen()
    found = find_sessions(os.environ, agent=agent)
    if directory is not None:
        place = Path(os.path.realpath(directory))
        found = [each for each in found if each.is_in(place)]
    if since is not None:
        found = [each for each in found if each.changed >= since]
    rows = newest(found, limit, screen, state=state)
    if not rows:
        screen.say("no sessions found")
        return NOT_FOUND
    with Output(None, []) as out:
        if is_json:
            for session, facts in rows:
                out.write_json(record_of(session, facts))
        else:
            out.draw(render([table_of(rows, sys.stdout)], sys.stdout).encode())
    if len(found) > len(rows) == limit:
        screen.say(f"the newest {limit:,} of {counted(len(found), 'session')}; --limit shows more")
    return 0


def newest(
    found: Sequence[FoundSession], limit: int, screen: Screen, *, state: str | None = None
) -> list[Row]:
    """Return the first sessions that can be read, with what they hold; only those in a state, if one is given."""
    rows: list[Row] = []
    for session in found:
        if len(rows) == limit:
            break
        facts = read_facts(session, screen)
        if facts is not None and state in (None, facts.state):
            rows.append((session, facts))
    return rows


def read_facts(session: FoundSession, screen: Screen) -> SessionFacts | None:
    """Return what a session holds; one that can't be read is reported and left out."""
    try:
        return facts_of_session(read_conversation(str(session.path)).body)
    except (FileError, InputError) as error:
        screen.say(f"{one_line(str(session.path), 400)}: {one_line(str(error), 400)}")
        return None


def record_of(session: FoundSession, facts: SessionFacts) -> dict[str, Any]:
    """Return a session as a line of JSON."""
    return {
        "agent": session.agent,
        "session_id": session.session_id,
        "file": str(session.path),
        "directory": session.directory,
        "changed": session.changed.isoformat(timespec="seconds"),
        **facts.to_dict(),
    }


def table_of(rows: Sequence[Row], stream: IO[str], *, is_numbered: bool = False) -> Any:
    """Return a table for a stream; ``is_numbered`` gives each row its number, from 1."""
    from rich.table import Table  # noqa: PLC0415 - imports rich, for tables and bars only

    table = Table(box=None, pad_edge=False, header_style="bold")
    is_wide = columns(stream) >= 120
    if is_numbered:
        table.add_column("", justify="right")
    for name in ("agent", "age", "tokens", "state", "title", "directory", "session"):
        is_number = name in ("age", "tokens")
        table.add_column(name, justify="right" if is_number else "left", no_wrap=name not in ("title", "directory"), overflow="fold")  # fmt: skip
    now = datetime.now(UTC)
    for number, (session, facts) in enumerate(rows, 1):
        title = one_line(" ".join(facts.title.split()), 60 if is_wide else 30)
        place = one_line(session.directory, 60) or "-"
        first = [f"{number}"] if is_numbered else []
        table.add_row(*first, agent_named(session.agent).title, age_of(now - session.changed), f"{facts.tokens:,}", facts.state, title, place, one_line(session.session_id, 60))  # fmt: skip
    return table


def age_of(age: timedelta) -> str:
    """Return an age in its largest unit.

    >>> age_of(timedelta(hours=50)), age_of(timedelta(seconds=90))
    ('2d', '1m')
    """
    seconds = max(int(age.total_seconds()), 0)
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
