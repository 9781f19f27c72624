"""``toolcarry continue`` and ``toolcarry sessions``, with agents that are scripts which say how they were started."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.rows import for_each

from toolcarry import estimate_tokens, extract_tool_blocks

pytestmark = pytest.mark.usefixtures("rust")

AGENT = """#!/bin/sh
echo "$0"
pwd
for each in "$@"; do echo "$each"; done
"""
CALL = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "hens.txt", "content": "forty\n"}}  # fmt: skip


class Machine(NamedTuple):
    """A home folder with the stores of agents, a working directory, and the programs of agents."""

    home: Path
    farm: Path
    env: dict[str, str]

    def session(self, name: str, records: list[dict[str, Any]]) -> Path:
        """Write a session of Claude Code."""
        path = self.home / ".claude" / "projects" / "farm" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        held = [{"sessionId": name, "cwd": str(self.farm), "type": each["role"], "message": each} for each in records]  # fmt: skip
        path.write_text("".join(json.dumps(each) + "\n" for each in held))
        return path

    def files(self) -> dict[str, bytes]:
        """Return all files of the home folder."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def place(tmp_path: Path) -> Machine:
    home, farm, programs = tmp_path / "home", tmp_path / "a farm, süß", tmp_path / "bin"
    for folder in (home, farm, programs):
        folder.mkdir()
    for name in ("claude", "codex", "gemini", "opencode", "pi", "agent", "droid", "qwen"):
        (programs / name).write_text(AGENT)
        (programs / name).chmod(0o755)
    cleared = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "PI_CODING_AGENT_DIR", "XDG_STATE_HOME")  # fmt: skip
    env = {"HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", **dict.fromkeys(cleared, "")}
    return Machine(home, farm, env)


TALK = [
    {"role": "user", "content": "Count the hens."},
    {"role": "assistant", "content": [CALL]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Written."}]},
]  # fmt: skip


def out(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().splitlines()


def test_an_agent_takes_the_place_of_the_command(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    before = place.files()
    done = run("continue", "claude", "--in", "codex", "--", "--model", "gpt 5", env=place.env)
    program, where, *arguments = out(done)
    assert program.endswith("/bin/codex")
    assert where == str(place.farm)
    assert arguments[0] == "resume"
    assert arguments[2:] == ["--model", "gpt 5"]
    new = place.files().keys() - before.keys()
    (session,) = [name for name in new if "rollout-" in name]
    assert arguments[1] in session
    assert {name: data for name, data in place.files().items() if name in before} == before
    assert [block.tool_name for block in extract_tool_blocks(place.home / session)] == [
        "apply_patch"
    ]
    assert b"1 call of Write became apply_patch" in done.stderr


def test_the_session_is_a_file_an_id_an_agent_or_the_newest_here(run: Any, place: Machine) -> None:
    path = place.session("s1", TALK)
    place.session("s2", TALK)
    for name in (str(path), "s1"):
        done = run("continue", name, "--in", "claude", "--dry-run", env=place.env)
        assert out(done) == []
        assert b"s1" in done.stderr
    done = run("continue", "claude", "--in", "codex", "--print", env=place.env)
    assert b"session s2 of Claude Code in Codex" in done.stderr
    assert run("continue", "--in", "codex", "--print", env=place.env).returncode == 3
    for name in ("nothing", "pi"):
        done = run("continue", name, "--in", "codex", "--print", env=place.env)
        assert done.returncode == 3
        assert b"no session" in done.stderr


def test_a_dry_run_writes_nothing(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    before = place.files()
    for way in ("session", "context"):
        done = run("continue", "s1", "--in", "pi", "--as", way, "--dry-run", env=place.env)
        assert out(done) == []
        assert b"nothing is written" in done.stderr
        assert b"&& pi " in done.stderr
    assert place.files() == before


def test_undo_takes_back_what_was_not_changed(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    before = place.files()
    for target in ("codex", "pi", "gemini", "claude"):
        out(run("continue", "s1", "--in", target, "--print", env=place.env))
    for _ in range(4):
        out(run("continue", "--undo", env=place.env))
    left = place.files()
    log = left.pop(next(name for name in left if name.endswith("continued.jsonl")))
    assert left == before
    assert len(log.splitlines()) == 4
    done = run("continue", "--undo", env=place.env)
    assert done.returncode == 1
    assert b"no session that toolcarry wrote is left" in done.stderr
    out(run("continue", "s1", "--in", "codex", "--print", env=place.env))
    (session,) = place.home.glob(".codex/sessions/*/*/*/*.jsonl")
    with session.open("a") as file:
        file.write("{}\n")
    done = run("continue", "--undo", env=place.env)
    assert done.returncode == 1
    assert b"was changed after toolcarry wrote it" in done.stderr
    assert session.exists()


def test_a_context_is_a_file_and_a_prompt_that_points_to_it(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    file = place.farm / "context.md"
    done = run("continue", "s1", "--in", "opencode", "-o", str(file), env=place.env)
    _, _, option, prompt = out(done)
    assert option == "--prompt"
    assert prompt == (
        f"Read the file {file} first: it says what another agent did for me so far. Then go on with my request, "
        "which is not answered yet: 'Count the hens.'"
    )
    text = file.read_text()
    assert "> Count the hens." in text
    assert "hens.txt is gone" in text
    assert "## Latest Steps" in text
    done = run("continue", "s1", "--in", "opencode", "-o", str(file), env=place.env)
    assert done.returncode == 1
    assert b"exists; name a new file" in done.stderr
    assert file.read_text() == text


@for_each("name, program, option", [("cursor", "agent", []), ("droid", "droid", []), ("qwen", "qwen", ["--prompt-interactive"])])  # fmt: skip
def test_an_agent_that_can_only_begin(run: Any, place: Machine, name: str, program: str, option: list[str]) -> None:  # fmt: skip
    place.session("s1", TALK)
    started, _, *arguments = out(run("continue", "s1", "--in", name, env=place.env))
    assert started.endswith(f"/bin/{program}")
    assert arguments[:-1] == option
    assert arguments[-1].startswith("Read the file ")


def test_a_context_without_an_agent(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    before = place.files()
    done = run("continue", "s1", "-o", "-", env=place.env)
    assert "> Count the hens." in out(done)
    assert out(run("continue", "s1", "--in", "pi", "-o", "-", "--dry-run", env=place.env)) == []
    assert place.files() == before
    file = place.farm / "context.md"
    assert out(run("continue", "s1", "-o", str(file), env=place.env)) == []
    assert file.read_bytes() == done.stdout


@for_each("content, told", [("forty\n", "changed since: 0"), ("ten\n", "changed since: 1 (hens.txt)")])  # fmt: skip
def test_the_state_of_the_world(run: Any, place: Machine, content: str, told: str) -> None:
    place.session("s1", TALK)
    subprocess.run(["git", "init", "-q", "-b", "barn", str(place.farm)], check=True)
    (place.farm / "hens.txt").write_text(content)
    done = run("continue", "s1", "--in", "codex", "--print", env=place.env)
    [command] = out(done)
    session = shlex.split(command)[-1]
    said = done.stderr.decode()
    assert "branch barn, head without a commit" in said
    assert "uncommitted changes: 1 file (hens.txt)" in said
    assert told in said
    (file,) = place.home.glob(f".codex/sessions/*/*/*/*{session}.jsonl")
    assert ("no longer as this session saw them" in file.read_text()) == (content == "ten\n")


def test_secrets_are_redacted(run: Any, place: Machine) -> None:
    pytest.importorskip("re2")
    secret = "DB_PASSWORD=correct-horse"
    place.session("s1", [{"role": "user", "content": f"Use {secret}."}, *TALK[1:]])
    [command] = out(run("continue", "s1", "--in", "codex", "--redact", "--print", env=place.env))
    (file,) = place.home.glob(f".codex/sessions/*/*/*/*{shlex.split(command)[-1]}.jsonl")
    assert "correct-horse" not in file.read_text()
    done = run("continue", "s1", "--in", "pi", "--as", "context", "--redact", env=place.env)
    assert b"correct-horse" not in done.stdout + done.stderr
    (file,) = place.home.glob(".local/state/toolcarry/contexts/*.md")
    assert "correct-horse" not in file.read_text()


def test_a_conversation_larger_than_the_window(run: Any, place: Machine) -> None:
    talk: list[dict[str, Any]] = []
    for number in range(60):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"run {number}"}}  # fmt: skip
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "a line\n" * 400}
        talk += [
            {"role": "user", "content": f"Ask {number}. " + "word " * 100},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": f"Done {number}."},
        ]
    place.session("s1", talk)
    for window, told in ((60_000, "results were shortened"), (12_000, "the first messages became a context")):  # fmt: skip
        done = run("continue", "s1", "--in", "codex", "--window-tokens", str(window), "--print", env=place.env)  # fmt: skip
        [command] = out(done)
        assert told in done.stderr.decode()
        (file,) = place.home.glob(f".codex/sessions/*/*/*/*{shlex.split(command)[-1]}.jsonl")
        assert estimate_tokens(file, model="gpt-5").value < window
        assert "Done 59." in file.read_text()
        assert "Ask 0." in file.read_text()


def test_a_session_that_cannot_be_noted_is_written(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    (place.home / ".local").write_text("a file where a folder would be")
    done = run("continue", "s1", "--in", "pi", "--print", env=place.env)
    assert len(out(done)) == 1
    assert b"--undo will not find it" in done.stderr


def test_a_secret_at_the_end_of_a_prompt(run: Any, place: Machine) -> None:
    """What is redacted would be shorter than a half of the secret."""
    pytest.importorskip("re2")
    asked = "word " * 55 + "DB_PASSWORD=correct-horse-battery-staple"
    place.session("s1", [{"role": "user", "content": asked}])
    done = run("continue", "s1", "--in", "pi", "--as", "context", "--redact", env=place.env)
    assert b"corre" not in done.stdout + done.stderr
    assert b"[redacted" in done.stdout


def test_the_context_on_the_clipboard(run: Any, place: Machine, tmp_path: Path) -> None:
    place.session("s1", TALK)
    before = place.files()
    done = run("continue", "s1", "--in", "pi", "--copy", env={**place.env, "PATH": "/nothing"})
    assert done.returncode == 3
    assert b"no clipboard program" in done.stderr
    program = tmp_path / "bin" / "xclip"
    program.write_text(f"#!/bin/sh\ncat > {shlex.quote(str(tmp_path / 'copied'))}\n")
    program.chmod(0o755)
    done = run("continue", "s1", "--in", "pi", "--copy", env=place.env)
    assert out(done) == []
    assert "## Latest Steps" in (tmp_path / "copied").read_text()
    program.write_text("#!/bin/sh\nexit 7\n")
    done = run("continue", "s1", "--in", "pi", "--copy", env=place.env)
    assert done.returncode == 1
    assert b"xclip: failed with exit code 7" in done.stderr
    assert place.files() == before


def test_a_printed_command_names_the_directory(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    [command] = out(run("continue", "s1", "--in", "claude", "--print", env=place.env))
    assert command.startswith(f"cd {shlex.quote(str(place.farm))} && claude --resume ")
    place.farm.rmdir()
    done = run("continue", "s1", "--in", "claude", "--print", env=place.env)
    [command] = out(done)
    assert command.startswith("claude --resume ")
    assert f"its directory {place.farm} is not there".encode() in done.stderr


def test_the_newest_session_is_none_that_was_only_written(run: Any, place: Machine) -> None:
    path = place.session("s1", TALK)
    for _ in range(2):
        done = run("continue", "claude", "--in", "claude", "--print", env=place.env)
        [command] = out(done)
        assert b"session s1 of Claude Code" in done.stderr
    name = shlex.split(command)[-1]
    done = run("continue", name, "--in", "pi", "--dry-run", env=place.env)
    assert f"session {name}".encode() in done.stderr
    (new,) = place.home.glob(f".claude/projects/*/{name}.jsonl")
    with new.open("a") as file:
        file.write(path.read_text().splitlines()[0] + "\n")
    done = run("continue", "claude", "--in", "pi", "--dry-run", env=place.env)
    assert f"session {name}".encode() in done.stderr


def test_the_name_of_an_agent_is_no_file(run: Any, place: Machine, tmp_path: Path) -> None:
    path = place.session("s1", TALK)
    (tmp_path / "claude").write_bytes(path.read_bytes())
    for name, told in (("claude", b"session s1 of Claude Code"), ("./claude", b"continuing ./claude")):  # fmt: skip
        done = run("continue", name, "--in", "pi", "--dry-run", env=place.env)
        assert told in done.stderr


WRONG = [
    ((), b"'--in': is needed"),
    (("--in", "aider"), b"'aider' is not allowed"),
    (("--in", "pi", "--as", "letter"), b"'letter' is not allowed"),
    (("--in", "pi", "--as", "session", "-o", "a.md"), b"not allowed with --as session"),
    (("--in", "pi", "--as", "session", "--copy"), b"not allowed with --as session"),
    (("--in", "pi", "--copy", "-o", "a.md"), b"not allowed together with --output"),
    (("--in", "cursor", "--as", "session"), b"can't resume a session"),
]  # fmt: skip


@for_each("arguments, told", WRONG)
def test_wrong_usage(run: Any, place: Machine, arguments: tuple[str, ...], told: bytes) -> None:
    done = run("continue", *arguments, env=place.env)
    assert done.returncode == 2
    assert told in done.stderr


def test_an_agent_that_is_not_installed(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    before = place.files()
    done = run("continue", "s1", "--in", "codex", env={**place.env, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 3
    assert b"codex: no such program on the PATH" in done.stderr
    assert place.files() == before


def test_the_list_of_sessions(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    place.session("s2", TALK[:2])
    place.session("s3", [*TALK, {"role": "assistant", "content": "Forty."}])
    side = place.session("s4", [{"role": "user", "content": "Hi."}])
    side.write_text(side.read_text().replace('"sessionId"', '"isSidechain": true, "sessionId"'))
    rows = [json.loads(line) for line in out(run("sessions", "--json", env=place.env))]
    states = {row["session_id"]: row["state"] for row in rows}
    assert {key: states[key] for key in ("s1", "s2", "s3")} == {"s1": "waiting", "s2": "cut-off", "s3": "finished"}  # fmt: skip
    assert states.keys() == {"s1", "s2", "s3"}
    assert {row["directory"] for row in rows} == {str(place.farm)}
    assert {row["agent"] for row in rows} == {"claude"}
    [row] = [json.loads(line) for line in out(run("sessions", "--json", "--state", "cut-off", env=place.env))]  # fmt: skip
    assert row["session_id"] == "s2"
    table = out(run("sessions", "--directory", str(place.farm), "--limit", "2", env=place.env))
    assert len(table) == 3
    assert table[0].split() == ["agent", "age", "tokens", "state", "title", "directory", "session"]
    assert "Count the hens." in table[1]
    for options in (("--agent", "pi"), ("--here",), ("--since", "2999-01-01")):
        assert run("sessions", *options, env=place.env).returncode == 3
    assert run("sessions", "--here", "--directory", "/", env=place.env).returncode == 2


def test_a_file_that_holds_nothing_is_passed_over(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    (place.home / ".claude" / "projects" / "farm" / "empty.jsonl").write_bytes(b"")
    (place.home / ".claude" / "projects" / "farm" / "odd.jsonl").write_bytes(b"\xff\xfe no JSON")
    done = run("sessions", "--json", env=place.env)
    assert [json.loads(line)["session_id"] for line in out(done)] == ["s1"]
    assert b"odd.jsonl" in done.stderr


def in_terminal(command: list[str], place: Machine, typed: bytes) -> tuple[int, str]:
    """Run the command in a terminal in which something is typed; its exit code, and what the terminal shows."""
    own, other = pty.openpty()
    env = {**os.environ, **place.env, "TERM": "xterm", "COLUMNS": "160", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=env, cwd=place.home) as done:  # fmt: skip
        os.close(other)
        os.write(own, typed)
        shown = b""
        with suppress(OSError):  # the terminal is closed when the command ends
            while data := os.read(own, 65_536):
                shown += data
    os.close(own)
    return done.returncode, shown.decode()


def test_a_session_is_chosen_in_a_terminal(command: list[str], place: Machine) -> None:
    place.session("s1", TALK)
    os.utime(place.session("s2", TALK), (1e9, 1e9))
    for arguments in (("--pick",), ("claude", "--pick"), ()):  # none works in this directory
        code, shown = in_terminal([*command, "continue", *arguments, "--in", "codex", "--dry-run"], place, b"x\n3\n2\n")  # fmt: skip
        assert code == 0, shown
        assert [line.split()[0] for line in shown.splitlines() if "Count the hens." in line] == ["1", "2"]  # fmt: skip
        assert shown.count("no such session") == 2
        assert "continuing session s2 of Claude Code in Codex" in shown
    assert in_terminal([*command, "continue", "--in", "codex"], place, b"\x04")[0] == 130


def test_nobody_is_asked_without_a_terminal(run: Any, place: Machine) -> None:
    place.session("s1", TALK)
    done = run("continue", "--pick", "--in", "codex", "--dry-run", env=place.env)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"needs a terminal" in done.stderr


def test_the_command_alone_names_commands_that_work(run: Any, place: Machine) -> None:
    path = place.session("s1", TALK)
    lines = out(run(env=place.env))
    assert len(lines) == 8
    assert "is from Claude Code" in lines[0]
    for line in lines[1:6]:
        typed = line[line.index("toolcarry ") :]
        assert str(path.name) in typed or typed == "toolcarry sessions"
        arguments = [each.replace("~", str(place.home), 1) for each in shlex.split(typed)[1:]]
        done = run(*arguments, "--dry-run" if "continue" in arguments else "--", env=place.env)
        assert done.returncode == 0, (typed, done.stderr)


def test_the_command_alone_without_a_session(run: Any, place: Machine) -> None:
    lines = out(run(env=place.env))
    assert len(lines) == 8
    assert lines[0].startswith("No agent sessions were found on this machine")
