"""The sessions of agents on this machine: found, listed, and written for another agent to go on with."""

from typing import TYPE_CHECKING

from toolcarry.sessions.agents import AGENTS, Agent

if TYPE_CHECKING:
    from toolcarry.sessions.write import WrittenSession, write_session
else:
    LATE = ("WrittenSession", "write_session")

    def __getattr__(name: str) -> object:
        """Import the writers when one of their names is first used: every command knows the agents, and few write."""
        if name not in LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from toolcarry.sessions import write  # noqa: PLC0415 - as above

        return getattr(write, name)


__all__ = ["AGENTS", "Agent", "WrittenSession", "write_session"]
