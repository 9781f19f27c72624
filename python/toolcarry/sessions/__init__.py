"""The sessions of agents on this machine: found, listed, and written for another agent to go on with."""

from toolcarry.sessions.agents import AGENTS, Agent
from toolcarry.sessions.write import WrittenSession, write_session

__all__ = ["AGENTS", "Agent", "WrittenSession", "write_session"]
