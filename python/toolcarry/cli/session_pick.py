"""Let a user choose one of the newest sessions, in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

import typer

from toolcarry.cli.exit_codes import NOT_FOUND, USAGE, FileError
from toolcarry.cli.sessions_list import newest, table_of
from toolcarry.cli.terminal import Screen, is_terminal, one_line
from toolcarry.sessions.find import FoundSession

__all__ = ["can_ask", "pick"]

SHOWN: Final = 10
"""The sessions to choose from: reading each takes time."""


def can_ask() -> bool:
    """Return true if there is somebody to answer a question."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def pick(found: Sequence[FoundSession], screen: Screen) -> FoundSession:
    """Return the session that the user chooses. Raises ``FileError`` if there is none, or nobody to ask."""
    if not can_ask():
        raise FileError("--pick needs a terminal; name a session instead", USAGE)
    rows = newest(found, SHOWN, screen)
    if not rows:
        raise FileError("no agent sessions were found on this machine", NOT_FOUND)
    screen.show([table_of(rows, sys.stderr, is_numbered=True)])
    try:
        while True:
            answer = typer.prompt("Session", default="1", err=True).strip()
            if answer.isdecimal() and 1 <= int(answer[:9]) <= len(rows):
                return rows[int(answer[:9]) - 1][0]
            screen.say(f"{one_line(answer)}: no such session; type a number from 1 to {len(rows)}")
    except typer.Abort:  # Ctrl-C or Ctrl-D
        raise KeyboardInterrupt from None
