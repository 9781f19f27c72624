"""A terminal gets no control that is not toolcarry's own, from any command; a pipe and a file get every byte."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path

import pytest
import typer
from support.processes.terminals import in_terminal

from toolcarry.cli import main
from toolcarry.cli.app import app
from toolcarry.sessions.agents import AGENTS

pytestmark = pytest.mark.usefixtures("rust")

pty = pytest.importorskip("pty")

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egpj\x7f\r\u2066\U000e0041"
RAW = "\x9b31m\x7f\u202egpj\x85"
"""The part that JSON allows as it is in a string."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
UNSAFE = re.compile(
    "[^\n\t -~\xa0-\U0010ffff]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\U000e0000-\U000e007f]"
)


def conversation() -> list[dict[str, object]]:
    """Every text of a conversation, with controls: names, ids, keys, arguments and results."""
    messages: list[dict[str, object]] = []
    for number in range(3):
        call = {
            "type": "tool_use",
            "id": f"t{number}{HOSTILE}",
            "name": f"Re{HOSTILE}",
            "input": {HOSTILE: HOSTILE},
        }
        read = {
            "type": "tool_use",
            "id": f"r{number}{HOSTILE}",
            "name": "Read",
            "input": {"file_path": f"a{HOSTILE}"},
        }
        messages.append(
            {"role": "assistant", "content": [{"type": "text", "text": HOSTILE}, call, read]}
        )
        results = [
            {
                "type": "tool_result",
                "tool_use_id": each["id"],
                "content": f"{HOSTILE * 40}\n... [truncated]",
            }
            for each in (call, read)
        ]
        messages.append({"role": "user", "content": results})
    return messages


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A request and a session whose names and texts are hostile, a store with both, and settings."""
    request, session = tmp_path / f"a{RAW}.json", tmp_path / f"b{RAW}.jsonl"
    # Both spellings: as JSON escapes, and the bytes themselves.
    body = json.dumps({"messages": conversation(), "metadata": {"x": RAW}}, ensure_ascii=False)
    request.write_text(body.replace("t0", f"t0{RAW}"))
    lines = [json.dumps(message, ensure_ascii=False).encode() for message in conversation()]
    session.write_bytes(b"\n".join([*lines, HOSTILE.encode(), b"\x9b31m \xff\xfe", b""]))
    db = tmp_path / "history.db"
    assert main(["history", "import", str(session), "--conversation", "a", "--db", str(db)]) == 0
    kept = tmp_path / ".claude" / "projects" / "farm" / "a.jsonl"
    kept.parent.mkdir(parents=True)
    cwd = json.dumps(
        {"cwd": HOSTILE, "sessionId": HOSTILE, "message": {"role": "user", "content": HOSTILE}}
    )
    kept.write_bytes(b"\n".join([cwd.encode(), *lines, b""]))
    settings = tmp_path / "toolcarry.toml"
    settings.write_text('[thinking.summarize]\ninstructions = "\\u001b]0;x\\u0007\\u009b2J"\n')
    return {
        "REQUEST": str(request),
        "SESSION": str(session),
        "DB": str(db),
        "SETTINGS": str(settings),
    }


COMMANDS = (
    *("carry SESSION", "carry SESSION --explain", "carry SESSION REQUEST --json --explain"),
    *("inspect SESSION", "inspect SESSION REQUEST", "inspect SESSION --json --strict"),
    *("count SESSION", "count SESSION REQUEST --json", "resolve SESSION t0"),
    *("convert SESSION --destination openai", "convert REQUEST --destination bedrock --json"),
    *("project REQUEST", "project REQUEST --diff", "project REQUEST --json"),
    *("project REQUEST --repair --max-request-tokens 300 --diff", "project SESSION"),
    *("check REQUEST --destination anthropic", "check REQUEST --json"),
    *("recount SESSION", "recount REQUEST --json"),
    *("history import SESSION REQUEST --db DB", "history import REQUEST --json --db DB"),
    *("history log --db DB", "history log --json --db DB"),
    *(
        "history show HASH --db DB",
        "history show HASH --raw --db DB",
        "history show HASH --json --db DB",
    ),
    *("history turns --db DB", "history turns --json --db DB"),
    *("history legacy --db DB", "history legacy --json --db DB"),
    *("history backfill --db DB", "history backfill --json --db DB"),
    *("history search truncated --db DB", "history search truncated --json --db DB"),
    *("history compact --limit 1000 --db DB", "history compact --limit 1000 --json --db DB"),
    *("history conversations --db DB", "history conversations --json --db DB"),
    "history shadow-report --db DB",
    *("history verify --db DB", "history verify --json --db DB"),
    *("history export --db DB", "history export --db DB -o /dev/stdout"),
    *("history stats --db DB", "history stats --all --db DB", "history stats --json --db DB"),
    *("config check SETTINGS", "config show SETTINGS", "config show SETTINGS --json"),
    *("continue SESSION --in codex --dry-run", "continue SESSION --in pi --as context --dry-run"),
    *("continue SESSION --in claude --print", "continue SESSION --in gemini --print"),
    *("sessions", "sessions --json"),
)
SILENT = {"batch", "config reference", "config schema", "doctor", "formats", "report", "serve"}
"""Commands that print no content."""
ENDLESS = {"watch"}
"""Commands that don't end by themselves; their own tests try this."""


def test_every_command_is_tried() -> None:
    """A new command must be added to the list above."""

    def names(command: object, prefix: str = "") -> set[str]:
        inner = getattr(command, "commands", {})
        found = {name for key, each in inner.items() for name in names(each, f"{prefix} {key}")}
        return found or {prefix.strip()}

    tried = {
        name
        for name in names(typer.main.get_command(app))
        if any(f"{line} ".startswith(f"{name} ") for line in COMMANDS)
    }
    assert names(typer.main.get_command(app)) == tried | SILENT | ENDLESS


@pytest.mark.parametrize("line", COMMANDS)
def test_a_terminal_gets_no_control_of_the_content(
    command, environment, files, capfdbinary, line, tmp_path
) -> None:
    moved = {agent.variable: "" for agent in AGENTS}
    environment = {**environment, **moved, "HOME": str(tmp_path), "XDG_STATE_HOME": ""}
    if "HASH" in line:
        assert main(["history", "log", "--json", "--db", files["DB"]]) == 0
        logged = [json.loads(each) for each in capfdbinary.readouterr().out.splitlines()]
        files["HASH"] = logged[0]["commit_hash"]
    args = [*command, *(files.get(word, word) for word in line.split())]
    code, shown = in_terminal(args, environment, stdout=None)
    assert code in ((3,) if line.startswith("resolve") else (0, 1)), shown  # it has no such id
    text = COLOURS.sub("", shown.decode().replace("\r\n", "\n"))
    assert UNSAFE.findall(text) == []
    assert text.strip()


def test_a_pipe_gets_every_byte(run, files, tmp_path) -> None:
    session = Path(files["SESSION"]).read_bytes()
    assert run("history", "export", "--db", files["DB"]).stdout == session
    out = tmp_path / "out"
    assert run("history", "export", "--db", files["DB"], "-o", out).returncode == 0
    assert out.read_bytes() == session
    body = Path(files["REQUEST"]).read_bytes()
    assert (
        json.loads(run("project", files["REQUEST"]).stdout)["metadata"]
        == json.loads(body)["metadata"]
    )
    assert RAW.encode() in run("project", files["REQUEST"]).stdout


def test_a_terminal_shows_controls_as_json_writes_them(command, environment, files) -> None:
    args = [*command, "history", "export", "--db", files["DB"]]
    lines = in_terminal(args, environment, stdout=None)[1].replace(b"\r\n", b"\n").splitlines()
    assert [json.loads(line) for line in lines[:6]] == conversation()
    assert lines[6:] == [
        rb"\u001b]0;title\u0007\u001b[2J\u009b31m\u202egpj\u007f\r\u2066\udb40\udc41",
        rb"\x9b31m \xff\xfe",
    ]


def test_an_output_file_that_is_a_terminal(run, files) -> None:
    ours, theirs = pty.openpty()
    shown: list[bytes] = []

    def watch() -> None:
        while True:
            try:
                shown.append(os.read(ours, 65_536))
            except OSError:  # the other end is closed
                return

    thread = threading.Thread(target=watch)
    thread.start()
    assert run("history", "export", "--db", files["DB"], "-o", os.ttyname(theirs)).returncode == 0
    os.close(theirs)
    thread.join(30)
    os.close(ours)
    text = b"".join(shown).decode().replace("\r\n", "\n")
    assert UNSAFE.findall(text) == []
    assert r"\u001b]0;title" in text
