"""The help of the commands: an example that works, and a sentence for each option."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from toolcarry.cli import main
from toolcarry.cli.app import app
from toolcarry.cli.help import EXAMPLES, FIRST

pytestmark = pytest.mark.usefixtures("rust")

EXAMPLE = Path(__file__).parents[2] / "examples" / "session.jsonl"
ENDLESS = ("serve", "watch")


def commands(group: Any, *before: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *before, name)
        else:
            yield " ".join((*before, name))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the examples name."""
    folder = tmp_path_factory.mktemp("files")
    shutil.copy(EXAMPLE, folder / "session.jsonl")
    shutil.copy(EXAMPLE.with_name("toolcarry.toml"), folder)
    (folder / "sessions").mkdir()
    shutil.copy(EXAMPLE, folder / "sessions")
    return folder


def test_each_command_has_an_example() -> None:
    assert sorted(commands(get_command(app))) == sorted(EXAMPLES)


def test_each_example_works(command: list[str], environment: dict[str, str], files: Path) -> None:
    project = files / ".claude" / "projects" / "tally"
    project.mkdir(parents=True)
    shutil.copy(files / "session.jsonl", project)
    cleared = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME"), "")
    own = {**environment, **cleared, "HOME": str(files)}
    first = ["convert", "history import"]  # they make files that others name
    for name in [*first, *(each for each in EXAMPLES if each not in (*first, *ENDLESS))]:
        typed = [*command, *name.split(), *shlex.split(EXAMPLES[name])]
        if name == "continue":
            typed.append("--dry-run")
        if name == "sessions":
            typed.remove("--here")
        done = subprocess.run(
            typed, check=False, env=own, cwd=files, capture_output=True, timeout=60
        )
        assert done.returncode == 0, (name, done.stderr.decode())


@pytest.mark.parametrize("name", ENDLESS)
def test_the_examples_that_do_not_end(
    command: list[str], environment: dict[str, str], files: Path, name: str
) -> None:
    typed = [*command, name, *shlex.split(EXAMPLES[name])]
    with subprocess.Popen(typed, env=environment, cwd=files, stdout=-1, stderr=-1) as done:
        assert done.stdout is not None
        assert done.stdout.readline()
        done.send_signal(signal.SIGINT)
        done.communicate(timeout=30)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_is_brief(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main([*name.split(), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"Example: toolcarry {name} {EXAMPLES[name]}".rstrip()
    assert len(lines) <= 40
    if "--help-all" in lines[-1]:
        assert main([*name.split(), "--help-all"]) == 0
        full = capsys.readouterr().out
        assert words("\n".join(lines[:-1])) <= words(full) | {"no", "More", "options"}
        assert len(full) > len("\n".join(lines[:-1]))


def test_the_options_that_come_first_are_options() -> None:
    found: Any = get_command(app)
    for name, first in FIRST.items():
        assert set(first) <= {each.name for each in found.commands[name].params}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))
