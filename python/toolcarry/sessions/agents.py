"""The agents whose sessions are known: where each keeps them, and how it is started.

The folders are the same on Linux, macOS and Windows, in the home directory, unless the agent's environment variable names
another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolcarry.types.values import check_choice

__all__ = ["AGENTS", "AGENT_NAMES", "TARGET_NAMES", "Agent", "agent_named"]


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that can continue a session. Without ``resume``, it can only start with a context.

    ``name`` is the name that users type, ``title`` the one that is shown. ``variable`` is an environment variable that
    replaces ``folder`` in the home directory. ``patterns`` match the session files in this folder, or the stores if
    ``is_store``. ``program`` is the agent's command, ``resume`` the arguments that continue a session, in which
    ``{id}`` and ``{path}`` are replaced, and ``prompt`` the arguments before a first prompt. ``window`` is the context
    window of its usual model, in tokens.
    """

    name: str
    title: str
    variable: str
    folder: str
    patterns: tuple[str, ...]
    program: str
    resume: tuple[str, ...]
    prompt: tuple[str, ...] = ()
    window: int = 200_000
    is_store: bool = False

    def root(self, environment: Mapping[str, str]) -> Path:
        """Return the folder of the agent on this machine.

        >>> AGENTS[1].root({"CODEX_HOME": "work/codex"}).as_posix()
        'work/codex'
        """
        given = environment.get(self.variable, "")
        return Path(given) if given else Path.home() / self.folder

    def files(self, environment: Mapping[str, str]) -> Iterator[Path]:
        """Yield the files of all sessions, or the stores."""
        root = self.root(environment)
        for pattern in self.patterns:
            yield from root.glob(pattern)

    def resume_command(self, session_id: str, path: Path) -> list[str]:
        """Return the command that continues a session.

        >>> agent_named("codex").resume_command("0199", Path("rollout.jsonl"))
        ['codex', 'resume', '0199']
        """
        given = (each.format(id=session_id, path=path) for each in self.resume)
        return [self.program, *given]

    def start_command(self, prompt: str) -> list[str]:
        """Return the command that begins an interactive session with a first prompt."""
        return [self.program, *self.prompt, prompt]


# Claude Code: https://code.claude.com/docs/en/claude-directory. Codex: github.com/openai/codex, docs/config.md. Gemini
# CLI: https://geminicli.com/docs/cli/session-management. opencode: github.com/anomalyco/opencode,
# packages/opencode/src/storage/db.ts. pi: github.com/badlogic/pi-mono, packages/coding-agent/docs/session.md.
AGENTS: Final = (
    Agent(
        "claude", "Claude Code", "CLAUDE_CONFIG_DIR", ".claude",
        ("projects/*/*.jsonl",), "claude", ("--resume", "{id}"),
    ),
    Agent(
        "codex", "Codex", "CODEX_HOME", ".codex",
        ("sessions/*/*/*/rollout-*.jsonl*", "archived_sessions/rollout-*.jsonl*"),
        "codex", ("resume", "{id}"), window=272_000,
    ),
    Agent(
        "gemini", "Gemini CLI", "GEMINI_CLI_HOME", "",
        (".gemini/tmp/*/chats/session-*.json*",),
        "gemini", ("--resume", "{id}"), ("--prompt-interactive",), window=1_000_000,
    ),
    Agent(
        "opencode", "opencode", "XDG_DATA_HOME", ".local/share",
        ("opencode/opencode*.db",), "opencode", ("--session", "{id}"), ("--prompt",), is_store=True,
    ),
    Agent(
        "pi", "pi", "PI_CODING_AGENT_DIR", ".pi/agent",
        ("sessions/*/*.jsonl",), "pi", ("--session", "{path}"),
    ),
)  # fmt: skip
"""The agents whose sessions are read and written."""
AGENT_NAMES: Final = tuple(agent.name for agent in AGENTS)
# Cursor: https://cursor.com/docs/cli. Droid: https://docs.factory.ai/reference/cli-reference. Qwen Code:
# github.com/QwenLM/qwen-code, docs/users/configuration/settings.md.
STARTED: Final = (
    Agent("cursor", "Cursor", "", "", (), "agent", ()),
    Agent("droid", "Droid", "", "", (), "droid", ()),
    Agent("qwen", "Qwen Code", "", "", (), "qwen", (), ("--prompt-interactive",)),
)  # fmt: skip
"""The agents that begin an interactive session with a first prompt, and whose sessions are not written."""
TARGET_NAMES: Final = (*AGENT_NAMES, *(agent.name for agent in STARTED))


def agent_named(name: str) -> Agent:
    """Return the agent with a name. Raises ``ConfigError`` for an unknown one.

    >>> agent_named("pi").title
    'pi'
    """
    check_choice("agent", name, TARGET_NAMES)
    return next(each for each in (*AGENTS, *STARTED) if each.name == name)
