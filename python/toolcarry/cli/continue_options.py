"""The options of ``toolcarry continue`` and the filters of ``toolcarry sessions``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import typer

from toolcarry.cli.options import read_choice
from toolcarry.sessions.agents import TARGET_NAMES, Agent, agent_named

__all__ = ["STATES", "WAYS", "ContinueOptions", "agent_and_way"]

WAYS: Final = ("session", "context")
"""The forms in which an agent gets a session."""
STATES: Final = ("finished", "waiting", "cut-off")
"""The states of a session."""


@dataclass(frozen=True, slots=True)
class ContinueOptions:
    """The options of ``toolcarry continue``. Without an agent, a context is written, and nothing is started."""

    agent: Agent | None
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
        return (
            self.agent is None or self.is_printed or self.is_dry or self.is_copied or self.is_shown
        )

    @property
    def is_shown(self) -> bool:
        """True if the context goes to stdout."""
        return self.output == "-"


def agent_and_way(
    target: str | None, way: str | None, *, output: str | None, is_copied: bool
) -> tuple[Agent | None, str]:
    """Return the agent and the way. Raises ``typer.BadParameter`` for values that are not allowed."""
    is_text = output is not None or is_copied
    if target is None and not is_text:
        raise typer.BadParameter(f"is needed: {', '.join(TARGET_NAMES)}", param_hint="'--in'")
    agent = None if target is None else agent_named(read_choice("--in", target, TARGET_NAMES))
    can_resume = agent is not None and bool(agent.resume)
    found = way or ("session" if can_resume and not is_text else "context")
    read_choice("--as", found, WAYS)
    if found == "session" and agent is not None and not can_resume:
        reason = f"{agent.title} can't resume a session that another program wrote; leave it out"
        raise typer.BadParameter(reason, param_hint="'--as'")
    if is_text and found == "session":
        option = "--copy" if is_copied else "--output"
        raise typer.BadParameter("not allowed with --as session", param_hint=f"'{option}'")
    if output is not None and is_copied:
        raise typer.BadParameter("not allowed together with --output", param_hint="'--copy'")
    return agent, found
