"""The session file of a real client tells what its provider got: the oracle for records that a release adds.

The clients are in wheels of PyPI (the extra ``test-clients``). Each works in a folder of its own, with a fake provider
that refuses what the real one would.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.oracles.format_checks import blocks
from support.providers.fakes import AnthropicFake, Call, Fake, OpenAIFake, Turn, serving
from support.providers.fakes.script import Asked

from toolcarry import ToolBlock

pytestmark = pytest.mark.sdk

PROMPTS = ("Count the hens.", "And the geese?")
HENS, GEESE = (
    "forty hens\n" * 40 + "end",
    "nine geese\n" * 40 + "end",
)  # Claude Code trims what it sends
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


def script(calls: list[list[Call]]) -> Callable[[Asked], Turn]:
    """Make these calls, one list in a turn, and say something after the first half and at the end.

    A request without tools is the client's own: for a title, for example.
    """
    half = len(calls) // 2
    turns = [
        *(Turn(f"Step {number}.", each, "Hm.") for number, each in enumerate(calls[:half])),
        Turn("Forty.", thinking="Hm."),
        *(Turn(f"Step {number}.", each, "Hm.") for number, each in enumerate(calls[half:], half)),
        Turn("Nine.", thinking="Hm."),
    ]
    left = iter(turns)

    def answer(asked: Asked) -> Turn:
        return next(left, Turn("Done.")) if asked.request.get("tools") else Turn("ok")

    return answer


def run(command: list[str], folder: Path, settings: dict[str, str]) -> None:
    """Run a client with a home folder of its own, without the settings of this machine."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    done = subprocess.run(
        command,
        cwd=folder,
        env=kept | settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode("utf-8", "replace")[-2000:]


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    """The folder in which a client works."""
    folder = tmp_path / "farm"
    folder.mkdir()
    (folder / "hens.txt").write_text(HENS)
    (folder / "geese.txt").write_text(GEESE)
    return folder


REMINDER = re.compile(r"\n*<system-reminder>.*?</system-reminder>\n*", re.DOTALL)


def without_reminders(value: Any) -> Any:
    """Return messages without what the client adds to results as it sends them; its session has that apart from them."""
    if isinstance(value, str):
        return REMINDER.sub("", value)
    if isinstance(value, list):
        return [without_reminders(each) for each in value]
    if isinstance(value, dict):
        return {key: without_reminders(each) for key, each in value.items()}
    return value


def facts_of(block: ToolBlock) -> tuple[Any, ...]:
    """Return what a provider knows of a block."""
    result = block.tool_result or {}
    content = result.get("content", result.get("output"))
    texts = content if isinstance(content, str) else [part.get("text") for part in content or ()]
    return block.call_id, block.tool_name, block.is_error, texts


def check(
    api: ModuleType, rust: ModuleType, session: bytes, sent: list[Any], steps: int, fake: Fake
) -> None:
    """Compare a session file with the last request that the provider got, which has all but the last answer."""
    assert fake.refusals == []
    read, got = blocks(api, session), blocks(api, sent)
    assert list(map(facts_of, read)) == list(map(facts_of, got))
    assert read
    assert all(block.tool_result is not None and block.notes.is_active for block in read)
    survey = rust.inspect(session, tokens=True, model="gpt-5")
    assert (survey.calls, survey.results) == (len(got), len(got))
    assert (survey.unread.count, survey.orphan_calls, survey.duplicate_results) == (0, 0, 0)
    counts = rust.inspect(sent, tokens=True, model="gpt-5").context.parts
    for part in ("results", "inputs"):
        assert survey.context.parts[part] == counts[part]
    said = [f"Step {number}." for number in range(steps)]
    said = [*said[: steps // 2], "Forty.", *said[steps // 2 :], "Nine."]
    for messages in (rust.recount(session).messages, api.convert(session, to="openai").messages):
        spoken = [each for each in messages if each["role"] in ("user", "assistant")]
        users = [each["content"] for each in spoken if each["role"] == "user"]
        assert users == list(PROMPTS)
    turns = api.dialogue(session).split("\n\n")
    assert [turn for turn in turns if turn.startswith("[USER]")] == [
        f"[USER]\n{prompt}\n[/USER]" for prompt in PROMPTS
    ]
    assert [turn for turn in turns if turn.startswith("[ASSISTANT]")] == [
        f"[ASSISTANT]\n{text}\n[/ASSISTANT]" for text in said
    ]


def last_request(fake: Fake, path: str, key: str) -> list[Any]:
    """Return the messages of the last request that could use tools."""
    found = [
        each.json for each in fake.recorded if each.path.endswith(path) and each.method == "POST"
    ]
    messages: list[Any] = without_reminders([each for each in found if each.get("tools")][-1][key])
    return messages


def test_claude_code(api: ModuleType, rust: ModuleType, farm: Path, tmp_path: Path) -> None:
    claude = program("claude-agent-sdk", "claude_agent_sdk", "_bundled/claude")
    calls = [
        [Call("Read", {"file_path": str(farm / "hens.txt")})],
        [Call("Bash", {"command": "cat hens.txt; wc -l hens.txt"})],
        [
            Call("Read", {"file_path": str(farm / "geese.txt")}),
            Call("Bash", {"command": "cat nothing.txt"}),
        ],
        [Call("Edit", {"file_path": str(farm / "geese.txt"), "old_string": "nine geese\n", "new_string": "ten geese\n", "replace_all": True})],
    ]  # fmt: skip
    fake = AnthropicFake(script(calls))
    name = "00000000-0000-4000-8000-000000000001"
    home = tmp_path / "home"
    home.mkdir()
    with serving(fake) as url:
        settings = {
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": fake.key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }
        for prompt, option in zip(PROMPTS, ("--session-id", "--resume"), strict=True):
            run([str(claude), "-p", prompt, option, name, "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"], farm, settings)  # fmt: skip
    (path,) = home.glob(f".claude/projects/*/{name}.jsonl")
    sent = last_request(fake, "/messages", "messages")
    check(api, rust, path.read_bytes(), sent, len(calls), fake)


def test_codex(api: ModuleType, rust: ModuleType, farm: Path, tmp_path: Path) -> None:
    codex = program("openai-codex-cli-bin", "codex_cli_bin", "bin/codex")
    commands = ["cat hens.txt", "wc -l hens.txt"], ["cat geese.txt", "cat nothing.txt"]
    calls = [[Call("exec_command", {"cmd": each}) for each in turn] for turn in commands]
    fake = OpenAIFake(script(calls))
    home = tmp_path / "home"
    home.mkdir()
    with serving(fake) as url:
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
        settings = {"HOME": str(home), "CODEX_HOME": str(home), "FAKE_KEY": fake.key}
        start = [str(codex), "exec", "--skip-git-repo-check"]
        run([*start, PROMPTS[0]], farm, settings)
        run([*start, "resume", "--last", PROMPTS[1]], farm, settings)
    (path,) = home.glob("sessions/*/*/*/rollout-*.jsonl")
    sent = last_request(fake, "/responses", "input")
    check(api, rust, path.read_bytes(), sent, len(calls), fake)
