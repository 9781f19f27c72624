"""The picture of ``toolcarry continue`` with the real clients, made in a terminal.

``PYTHONPATH=tests python -m support.recorded_continue docs/images/continue.svg`` makes it again. It needs tmux and the extra
``test-clients``. Claude Code works on a program and reaches the limit of its provider; Codex goes on.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text
from support.clocks import wait_until
from support.live_clients import ClaudeCode, Codex, own_environment
from support.providers.fakes import AnthropicFake, Call, OpenAIFake, ScriptedTurn, serving
from support.providers.fakes.script import Asked

COLUMNS, ROWS = 110, 44
SHARES = '''def shares(total: int, friends: list[str]) -> dict[str, int]:
    """Split an amount in cents."""
    return {friend: total // len(friends) for friend in friends}
'''
TEST = """from shares import shares

total = sum(shares(1000, ["ann", "ben", "cleo"]).values())
assert total == 1000, f"{total} of 1000"
print("the shares add up")
"""
PROMPT = "The shares do not add up to the bill. Fix it."


@contextmanager
def terminal(folder: Path, settings: dict[str, str]) -> Iterator[list[str]]:
    """Yield the beginning of a command to a shell in a terminal of its own."""
    socket = str(folder.parent / "tmux")
    tmux = ["tmux", "-S", socket]
    shell = ["env", "-i", *(f"{key}={value}" for key, value in settings.items()), "bash", "--norc"]
    size = ["-x", str(COLUMNS), "-y", str(ROWS)]
    subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d", *size, "-c", str(folder), shlex.join(shell)], check=True)  # fmt: skip
    try:
        yield tmux
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
        subprocess.run(["pkill", "-f", str(folder.parent)], check=False)  # a server of Codex


def shown(tmux: list[str], *, is_coloured: bool = False) -> str:
    options = ["-e"] if is_coloured else []
    return subprocess.run([*tmux, "capture-pane", "-p", *options], check=True, capture_output=True).stdout.decode()  # fmt: skip


def press(tmux: list[str], *keys: str) -> None:
    subprocess.run([*tmux, "send-keys", *keys], check=True)


def wait_for(tmux: list[str], text: str, *keys: str) -> None:
    """Wait until the terminal shows a text; the keys are pressed until then."""
    again = (lambda: press(tmux, *keys)) if keys else None
    wait_until(lambda: text in shown(tmux), seconds=60, what=repr(text), again=again)


def turns(*said: ScriptedTurn) -> Callable[[Asked], ScriptedTurn]:
    """Say these things in turn. A request without tools is the client's own: for a title, for example."""
    left = iter(said)
    return lambda asked: (
        next(left, ScriptedTurn("The edit is made.", thinking="Hm."))
        if asked.request.get("tools")
        else ScriptedTurn("ok")
    )


def record(home: Path) -> list[str]:
    """Return the screens: of the command, and of the client that goes on."""
    folder = home / "tally"
    folder.mkdir()
    (folder / "shares.py").write_text(SHARES)
    (folder / "test_shares.py").write_text(TEST)
    (folder / ".gitignore").write_text("__pycache__/\n")
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        [*author, "commit", "-qm", "Begin"],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    program = str(folder / "shares.py")
    before = "    return {friend: total // len(friends) for friend in friends}"
    after = "    share, rest = divmod(total, len(friends))\n    return {friend: share + (place < rest) for place, friend in enumerate(friends)}"
    one_fake = AnthropicFake(
        turns(
            ScriptedTurn("I look at the program first.", [Call("Read", {"file_path": program})], "Hm."),
            ScriptedTurn("Now the test.", [Call("Bash", {"command": "python3 test_shares.py", "description": "Run the tests"})], "Hm."),
            ScriptedTurn("A third of the cents is lost. I give the rest to the first friends.", [Call("Edit", {"file_path": program, "old_string": before, "new_string": after})], "Hm."),
        )
    )  # fmt: skip
    two_fake = OpenAIFake(
        turns(
            ScriptedTurn("The edit is there; I run the test again.", [Call("exec_command", {"cmd": "python3 test_shares.py"})]),
            ScriptedTurn("The test passes: the shares add up to the bill."),
        )
    )  # fmt: skip
    with serving(one_fake) as one_url, serving(two_fake) as two_url:
        one = ClaudeCode(folder, home / "claude", one_fake, one_url)
        two = Codex(folder, home / "codex", two_fake, two_url)
        one.first(PROMPT)
        programs = home / "bin"
        programs.mkdir()
        (programs / "codex").symlink_to(two.program)
        (programs / "toolcarry").write_text(f'#!/bin/sh\nexec {sys.executable} -m toolcarry "$@"\n')
        (programs / "toolcarry").chmod(0o755)
        settings = {
            **own_environment({**one.settings, **two.settings, "HOME": str(home)}),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PS1": "$ ",
        }
        screens = []
        with terminal(folder, settings) as tmux:
            wait_for(tmux, "$")
            press(tmux, "toolcarry sessions --here && toolcarry continue --in codex --dry-run", "Enter")  # fmt: skip
            wait_for(tmux, "would run")
            screens.append(shown(tmux, is_coloured=True))
            command = "toolcarry continue --in codex"
            press(tmux, f"clear; {command} 2>/dev/null", "Enter")
            screens.append(f"$ {command}")
            wait_for(tmux, "for shortcuts")
            press(tmux, "Go on.")
            wait_for(tmux, "add up to the bill.\n", "Enter")
            screens.append(shown(tmux, is_coloured=True))
        return [each.replace(str(home), "~") for each in screens]


def main() -> None:
    with TemporaryDirectory() as name:
        screens = record(Path(name))
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    for screen in screens:
        lines = [line for line in screen.splitlines() if PLAIN.sub("", line).strip()]
        console.print(Text.from_ansi("\n".join(lines)))
    picture = console.export_svg(title="toolcarry continue")
    Path(sys.argv[1]).write_text(FONT.sub("", picture))


FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""The picture loads nothing."""
PLAIN = re.compile(r"\x1b\[[\d;]*m")


if __name__ == "__main__":
    main()
