"""The real Claude Code and Codex go on with sessions that ``write_session`` made: the strict provider takes them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.live_clients import Client, claude_code, codex, run
from support.providers.fakes import Call
from support.rows import for_each

from toolcarry import extract_tool_blocks
from toolcarry.sessions import write_session

pytestmark = [pytest.mark.sdk, pytest.mark.usefixtures("rust")]

PROMPT, NEXT = "Count the hens.", "And the geese?"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # fmt: skip


class Farm(NamedTuple):
    folder: Path
    clients: dict[str, Client]


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    """A folder with both clients, which have not begun a session."""
    folder = tmp_path / "a farm, süß"
    folder.mkdir()
    (folder / "hens.txt").write_text("forty hens\n" * 40)
    hens = str(folder / "hens.txt")
    claude_calls = [
        [Call("Read", {"file_path": hens})],
        [Call("Bash", {"command": "cat hens.txt", "description": "Read"}), Call("Bash", {"command": "cat nothing"})],
        [Call("Write", {"file_path": str(folder / "geese.txt"), "content": "nine\n"})],
        [Call("Edit", {"file_path": str(folder / "geese.txt"), "old_string": "nine", "new_string": "ten"})],
    ]  # fmt: skip
    codex_calls = [
        [Call("exec_command", {"cmd": "cat hens.txt"}), Call("exec_command", {"cmd": "cat nothing"})],
        [Call("update_plan", {"plan": [{"step": "Count", "status": "in_progress"}]})],
    ]  # fmt: skip
    with (
        claude_code(folder, tmp_path / "claude", claude_calls) as one,
        codex(folder, tmp_path / "codex", codex_calls) as two,
    ):
        yield Farm(folder, {"claude": one, "codex": two})


def results(source: Any) -> list[tuple[str, str, str]]:
    """Return each call's id with the text of its result, and its tool."""
    found = []
    for block in extract_tool_blocks(source):
        result = block.tool_result or {}
        content = result.get("content", result.get("output"))
        parts = [{"text": content}] if isinstance(content, str) else content or []
        text = "".join(str(part.get("text", part.get("type"))) for part in parts)
        found.append((block.call_id, block.tool_name, text.removeprefix("[Tool use failed]\n")))
    return found


def go_on(client: Client, farm: Farm, source: Any) -> list[Any]:
    """Continue a session in a client, and return what it sent first."""
    session = write_session(source, client.name, directory=farm.folder, environment=client.settings)
    assert session.session_id in client.listed()
    # Claude Code trims what it sends.
    told = [(call_id, name, text.strip()) for call_id, name, text in results(session.path)]
    client.resume(session.session_id, "Go on.")
    assert client.fake.refusals == []
    assert session.session_id in client.listed()
    sent = client.sent()
    got = [(call_id, name, text.strip()) for call_id, name, text in results(sent)]
    assert got == told
    return sent


@pytest.mark.parametrize("target", ["claude", "codex"])
@pytest.mark.parametrize("origin", ["claude", "codex"])
def test_a_session_goes_on(farm: Farm, origin: str, target: str) -> None:
    first = farm.clients[origin]
    path = first.first(PROMPT)
    sent = go_on(farm.clients[target], farm, path)
    before = results(path)
    assert before
    assert [call_id for call_id, _, _ in results(sent)] == [call_id for call_id, _, _ in before]
    said = json.dumps(sent)
    assert said.index(PROMPT) < said.index("Go on.")


@for_each("target", ["claude", "codex"])
def test_a_session_that_was_cut_off_in_a_call(farm: Farm, target: str) -> None:
    talk = [
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}},
            {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make test"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "built"}]},
    ]  # fmt: skip
    sent = go_on(farm.clients[target], farm, talk)
    texts = [text for _, _, text in results(sent)]
    assert texts == ["built", "[Tool use interrupted: no result]"]


@for_each("target", ["claude", "codex"])
def test_five_hundred_messages(farm: Farm, target: str) -> None:
    talk: list[Any] = []
    for number in range(125):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"echo {number}"}}  # fmt: skip
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"line {number}"}
        talk += [
            {"role": "user", "content": f"Step {number}."},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": f"Done {number}."},
        ]
    sent = go_on(farm.clients[target], farm, talk)
    assert len(results(sent)) == 125


@for_each("target", ["claude", "codex"])
def test_images(farm: Farm, target: str) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}  # fmt: skip
    call = {"type": "tool_use", "id": "t1", "name": "mcp__barn__look", "input": {"path": "loft"}}
    talk = [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [image]}]},
    ]  # fmt: skip
    sent = go_on(farm.clients[target], farm, talk)
    assert json.dumps(sent).count(PIXEL) == 2


def test_there_and_back(farm: Farm) -> None:
    """From Claude Code to Codex, which goes on, and back again."""
    one, two = farm.clients["claude"], farm.clients["codex"]
    path = one.first(PROMPT)
    there = write_session(path, "codex", directory=farm.folder, environment=two.settings)
    two.resume(there.session_id, NEXT)
    assert two.fake.refusals == []
    back = go_on(one, farm, there.path)
    names = [name for _, name, _ in results(back)]
    assert names[:3] == ["Read", "Bash", "Bash"]
    assert NEXT in json.dumps(back)


def test_the_command_starts_the_client(farm: Farm, tmp_path: Path) -> None:
    """``toolcarry continue`` writes the session of Codex, and Claude Code takes its place with the arguments after ``--``."""
    one, two = farm.clients["claude"], farm.clients["codex"]
    path = two.first(PROMPT)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to(one.program)
    settings = {
        **one.settings,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
    }
    command = [sys.executable, "-m", "toolcarry", "continue", str(path), "--in", "claude"]
    given = ["-p", "Go on.", "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"]
    run([*command, "--", *given], tmp_path, settings)
    assert one.fake.refusals == []
    sent = one.sent()
    assert [call_id for call_id, _, _ in results(sent)] == [call for call, _, _ in results(path)]
    assert PROMPT in json.dumps(sent)
    assert "Go on." in json.dumps(sent)
