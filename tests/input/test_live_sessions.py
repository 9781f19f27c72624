"""The session file of a real client tells what its provider got: the oracle for records that a release adds.

The clients are in wheels of PyPI (the extra ``test-clients``). Each works in a folder of its own, with a fake provider
that refuses what the real one would.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.live_clients import claude_code, codex, requests
from support.oracles.format_checks import blocks
from support.providers.fakes import Call, Fake

from toolcarry import ToolBlock

pytestmark = pytest.mark.sdk

PROMPTS = ("Count the hens.", "And the geese?")
HENS, GEESE = (
    "forty hens\n" * 40 + "end",
    "nine geese\n" * 40 + "end",
)  # Claude Code trims what it sends


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
    messages: list[Any] = without_reminders(requests(fake, path, key)[-1])
    return messages


def test_claude_code(api: ModuleType, rust: ModuleType, farm: Path, tmp_path: Path) -> None:
    calls = [
        [Call("Read", {"file_path": str(farm / "hens.txt")})],
        [Call("Bash", {"command": "cat hens.txt; wc -l hens.txt"})],
        [
            Call("Read", {"file_path": str(farm / "geese.txt")}),
            Call("Bash", {"command": "cat nothing.txt"}),
        ],
        [Call("Edit", {"file_path": str(farm / "geese.txt"), "old_string": "nine geese\n", "new_string": "ten geese\n", "replace_all": True})],
    ]  # fmt: skip
    with claude_code(farm, tmp_path / "home", calls) as client:
        path = client.first(PROMPTS[0])
        client.resume(path.stem, PROMPTS[1])
    sent = last_request(client.fake, "/messages", "messages")
    check(api, rust, path.read_bytes(), sent, len(calls), client.fake)


def test_codex(api: ModuleType, rust: ModuleType, farm: Path, tmp_path: Path) -> None:
    commands = ["cat hens.txt", "wc -l hens.txt"], ["cat geese.txt", "cat nothing.txt"]
    calls = [[Call("exec_command", {"cmd": each}) for each in turn] for turn in commands]
    with codex(farm, tmp_path / "home", calls) as client:
        path = client.first(PROMPTS[0])
        client.resume(path.stem[-36:], PROMPTS[1])
    sent = last_request(client.fake, "/responses", "input")
    check(api, rust, path.read_bytes(), sent, len(calls), client.fake)
