"""The real Claude Code and Codex, from their wheels (the extra ``test-clients``), each with a home folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import pytest
from support.providers.fakes import AnthropicFake, Call, Fake, OpenAIFake, ScriptedTurn, serving
from support.providers.fakes.script import Asked

DEADLINE = 120
"""The seconds that a client may take for a prompt."""


def program(package: str, module: str, place: str) -> Path:
    """Return the program in a wheel; skip the test without it."""
    spec = find_spec(module)
    folders = [Path(each) for each in (spec.submodule_search_locations or ())] if spec else []
    found = next((path for each in folders if (path := each / place).is_file()), None)
    if found is None:
        pytest.skip(f"{package} is not installed; it is part of the extra test-clients")
    return found


def script(calls: Sequence[Sequence[Call]]) -> Callable[[Asked], ScriptedTurn]:
    """Make these calls, one list in a turn, and say something after the first half and at the end.

    A request without tools is the client's own: for a title, for example.
    """
    half = len(calls) // 2
    turns = [
        *(ScriptedTurn(f"Step {number}.", each, "Hm.") for number, each in enumerate(calls[:half])),
        ScriptedTurn("Forty.", thinking="Hm."),
        *(
            ScriptedTurn(f"Step {number}.", each, "Hm.")
            for number, each in enumerate(calls[half:], half)
        ),
        ScriptedTurn("Nine.", thinking="Hm."),
    ]
    left = iter(turns)

    def answer(asked: Asked) -> ScriptedTurn:
        return (
            next(left, ScriptedTurn("Done.")) if asked.request.get("tools") else ScriptedTurn("ok")
        )

    return answer


def run(command: list[str], folder: Path, settings: dict[str, str]) -> None:
    """Run a client with a home folder of its own, without the settings of this machine."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=own_environment(settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode("utf-8", "replace")[-2000:]


def own_environment(settings: dict[str, str]) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    return kept | settings


class Client(Protocol):
    """A client in its folder, with its provider."""

    name: str
    """The name of the agent, as ``toolcarry continue`` takes it."""
    fake: Fake
    program: Path
    settings: dict[str, str]

    def first(self, prompt: str) -> Path:
        """Begin a session, and return its file."""

    def resume(self, session_id: str, prompt: str) -> None:
        """Go on with a session."""

    def sent(self) -> list[Any]:
        """Return the messages of the first request with tools since the last ``first`` or ``resume``."""

    def listed(self) -> list[str]:
        """Return the ids of the sessions that the client itself lists."""


def requests(fake: Fake, path: str, key: str, since: int = 0) -> list[list[Any]]:
    """Return the messages of each request that could use tools."""
    found = [
        each.json
        for each in fake.recorded[since:]
        if each.path.endswith(path) and each.method == "POST"
    ]
    return [each[key] for each in found if each.get("tools")]


class ClaudeCode:
    name = "claude"

    def __init__(self, farm: Path, home: Path, fake: Fake, url: str) -> None:
        self.program = program("claude-agent-sdk", "claude_agent_sdk", "_bundled/claude")
        self._farm, self._home, self.fake = farm, home, fake
        self._since = 0
        home.mkdir(parents=True, exist_ok=True)
        self.settings = {
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": fake.key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }

    def first(self, prompt: str) -> Path:
        name = f"00000000-0000-4000-8000-{len(self.fake.recorded):012}"
        self._ask(prompt, "--session-id", name)
        (path,) = self._home.glob(f".claude/projects/*/{name}.jsonl")
        return path

    def resume(self, session_id: str, prompt: str) -> None:
        self._ask(prompt, "--resume", session_id)

    def _ask(self, prompt: str, option: str, name: str) -> None:
        self._since = len(self.fake.recorded)
        run([str(self.program), "-p", prompt, option, name, "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"], self._farm, self.settings)  # fmt: skip

    def sent(self) -> list[Any]:
        return requests(self.fake, "/messages", "messages", self._since)[0]

    def listed(self) -> list[str]:
        from claude_agent_sdk import list_sessions

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CLAUDE_CONFIG_DIR", self.settings["CLAUDE_CONFIG_DIR"])
            return [each.session_id for each in list_sessions(directory=str(self._farm))]


class Codex:
    name = "codex"

    def __init__(self, farm: Path, home: Path, fake: Fake, url: str) -> None:
        self.program = program("openai-codex-cli-bin", "codex_cli_bin", "bin/codex")
        self._farm, self._home, self.fake = farm, home, fake
        self._since = 0
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(f"""
model = "gpt-5-codex"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.fake]
name = "fake"
base_url = {json.dumps(f"{url}/v1")}
env_key = "FAKE_KEY"
wire_api = "responses"
[projects.{json.dumps(str(farm))}]
trust_level = "trusted"
""")
        self.settings = {"HOME": str(home), "CODEX_HOME": str(home), "FAKE_KEY": fake.key}

    def first(self, prompt: str) -> Path:
        before = set(self._sessions())
        self._ask(prompt)
        (path,) = set(self._sessions()) - before
        return path

    def resume(self, session_id: str, prompt: str) -> None:
        self._ask("resume", session_id, prompt)

    def _ask(self, *arguments: str) -> None:
        self._since = len(self.fake.recorded)
        run([str(self.program), "exec", "--skip-git-repo-check", *arguments], self._farm, self.settings)  # fmt: skip

    def _sessions(self) -> Iterator[Path]:
        return self._home.glob("sessions/*/*/*/rollout-*.jsonl")

    def sent(self) -> list[Any]:
        return requests(self.fake, "/responses", "input", self._since)[0]

    def listed(self) -> list[str]:
        """Ask the server that the client's own picker asks."""
        asked = [
            {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
            {"method": "initialized"},
            {"id": 2, "method": "thread/list", "params": {}},
        ]  # fmt: skip
        with subprocess.Popen(
            [str(self.program), "app-server"],
            cwd=self._farm,
            env=own_environment(self.settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in asked))
            server.stdin.flush()
            try:
                for line in server.stdout:
                    told = json.loads(line)
                    if told.get("id") == 2:
                        return [each["id"] for each in told["result"]["data"]]
            finally:
                server.kill()
        raise AssertionError("the server lists no threads")


@contextmanager
def claude_code(
    farm: Path, home: Path, calls: Sequence[Sequence[Call]] = ()
) -> Iterator[ClaudeCode]:
    """Serve Claude Code a fake provider that makes these calls."""
    fake = AnthropicFake(script(calls))
    with serving(fake) as url:
        yield ClaudeCode(farm, home, fake, url)


@contextmanager
def codex(farm: Path, home: Path, calls: Sequence[Sequence[Call]] = ()) -> Iterator[Codex]:
    """Serve Codex a fake provider that makes these calls."""
    fake = OpenAIFake(script(calls))
    with serving(fake) as url:
        yield Codex(farm, home, fake, url)
