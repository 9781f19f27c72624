"""The options of ``toolcarry continue`` and the filters of ``toolcarry sessions``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import typer

from toolcarry.cli.options import read_choice
from toolcarry.sessions.agents import AGENT_NAMES, Agent, agent_named

__all__ = ["STATES", "WAYS", "ContinueOptions", "agent_and_way"]

WAYS: Final = ("session", "context")
"""The forms in which an agent gets a session."""
STATES: Final = ("finished", "waiting", "cut-off")
"""The states of a session."""


@dataclass(frozen=True, slots=True)
class ContinueOptions:
    """The options of ``toolcarry continue``."""

    agent: Agent
    way: str
    is_picked: bool
    is_printed: bool
    is_dry: bool
    is_redacted: bool
    is_copied: bool
    window: int | None
    output: str | None
    arguments: tuple[str, ...]

    @property
    def starts_nothing(self) -> bool:
        """True if no agent is started."""
        return self.is_printed or self.is_dry or self.is_copied


def agent_and_way(
    target: str | None, way: str | None, *, output: str | None, is_copied: bool
) -> tuple[Agent, str]:
    """Return the agent and the way. Raises ``typer.BadParameter`` for values that are not allowed."""
    if target is None:
        raise typer.BadParameter(f"is needed: {', '.join(AGENT_NAMES)}", param_hint="'--in'")
    agent = agent_named(read_choice("--in", target, AGENT_NAMES))
    is_text = output is not None or is_copied
    found = way or ("context" if is_text else "session")
    read_choice("--as", found, WAYS)
    if is_text and found == "session":
        option = "--copy" if is_copied else "--output"
        raise typer.BadParameter("not allowed with --as session", param_hint=f"'{option}'")
    if output is not None and is_copied:
        raise typer.BadParameter("not allowed together with --output", param_hint="'--copy'")
    return agent, found
