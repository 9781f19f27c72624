"""``toolcarry convert``: the request on stdout, what was lost on stderr."""

from __future__ import annotations

import json

import pytest

import toolcarry

READ = ("Read", {"file_path": "/a.py"}, "x = 'é'")
OPEN = ("Bash", {"command": "sleep 9"}, None)
TARGETS = ("anthropic", "openai", "responses", "ollama", "gemini", "bedrock")


@pytest.mark.parametrize("to", TARGETS)
def test_request_equals_that_of_the_library(run, example, to):
    done = run("convert", example, "--destination", to)
    assert run("convert", example, "--to", to).stdout == done.stdout
    converted = toolcarry.convert(example.read_bytes(), to=to)
    assert done.returncode == 0
    assert json.loads(done.stdout) == converted.to_dict()
    assert done.stdout.count(b"\n") == 1


def test_losses_are_lines(run, example):
    lines = run("convert", example, "--destination", "openai").stderr.decode().splitlines()
    assert all(line.startswith(f"{example}: ") for line in lines)
    told = [line.removeprefix(f"{example}: ") for line in lines]
    assert told[0] == "lines that hold no JSON object were skipped: 20"
    assert told[1] == "messages of sub-agents were left out: 4 messages with 1 call"
    assert (
        "a call without a result was given a placeholder result: 20 (toolu_01d2974c96dc96b3)"
        in told
    )
    failed = next(line for line in told if "mark a result as failed" in line)
    assert failed.endswith(
        ": 6 (Bash toolu_01b7f86a38be91c3); 17 (Edit toolu_013c4a359ade745c); 28 (Bash toolu_01a5e1a5d93ff242)"
    )


def test_many_losses_of_a_kind_are_counted(run, write):
    path = write("a.json", *[OPEN] * 9)
    line = run("convert", path, "--destination", "openai").stderr.decode()
    assert line.endswith(": 1 (t0); 1 (t1); 1 (t2); 6 more\n")


def test_json(run, example):
    done = run("convert", example, "--destination", "ollama", "--json")
    found = json.loads(done.stdout)
    converted = toolcarry.convert(example.read_bytes(), to="ollama")
    assert done.stderr == b""
    assert found == {
        "file": str(example),
        "to": "ollama",
        "request": converted.to_dict(),
        "losses": [loss.to_dict() for loss in converted.losses],
        "mends": [mend.to_dict() for mend in converted.mends],
        "not_repaired": "",
        "unread": {"count": 0, "total": converted.unread.total, "first": [], "texts": 0},
    }


def test_there_and_back_through_pipes(run, write):
    path = write("a.json", READ, READ)
    there = run("convert", path, "--destination", "openai")
    assert there.stderr == b""
    back = run("convert", "-", "--destination", "anthropic", stdin=there.stdout)
    assert json.loads(back.stdout) == json.loads(path.read_text())


def test_output(run, write, tmp_path):
    path = write("a.json", READ)
    done = run("convert", path, "--destination", "openai", "-o", "out.json")
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "out.json").read_bytes() == run(
        "convert", path, "--destination", "openai"
    ).stdout
    assert run("convert", path, "--destination", "openai", "-o", path).returncode == 2


def test_strict(run, write, example):
    assert (
        run("convert", "--strict", write("good.json", READ), "--destination", "openai").returncode
        == 0
    )
    lone = write("open.json", READ, OPEN)
    assert run("convert", lone, "--destination", "openai").returncode == 0
    done = run("convert", "--strict", lone, "--destination", "openai", "--json")
    assert done.returncode == 1
    assert done.stderr.endswith(
        b"open.json: a call without a result was given a placeholder result: 3 (t1)\n"
    )


def test_a_fallback_without_a_repair_says_so(run, write):
    path = write("open.json", READ, OPEN)
    args = ("convert", path, "--destination", "openai")
    done = run(*args, env={"TOOLCARRY_BACKEND": "python"})
    assert done.returncode == 0
    assert b"open.json: not repaired: repair needs the Rust extension" in done.stderr
    assert (
        json.loads(done.stdout)
        == toolcarry.convert(path.read_bytes(), to="openai", repair=False).to_dict()
    )
    assert run(*args, "--strict", env={"TOOLCARRY_BACKEND": "python"}).returncode == 1


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (
            ["--destination", "opnai"],
            b"'opnai' is not allowed; allowed: anthropic, openai, responses, ollama",
        ),
        ([], b"--destination"),
        (["--destination", "openai", "b.json"], b"b.json"),
    ],
)
def test_usage(run, write, args, reason):
    done = run("convert", write("a.json", READ), *args)
    assert (done.returncode, done.stdout) == (2, b"")
    assert reason in done.stderr


def test_unreadable_files_are_errors(run, tmp_path):
    assert run("convert", "absent", "--destination", "openai").returncode == 3
    (tmp_path / "bad").write_bytes(b"{")
    done = run("convert", "bad", "--destination", "openai")
    assert (done.returncode, done.stdout) == (1, b"")
    assert (
        done.stderr
        == b"bad: not JSON at byte 1: expecting property name enclosed in double quotes\n"
    )
    assert run("convert", "-", "--destination", "openai").stderr == b"stdin: is empty\n"


def test_escape_sequences_in_a_transcript_are_not_printed(run, tmp_path):
    call = {"id": "\x1b[31m", "function": {"name": "\x9b1m", "arguments": "{}"}}
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps([{"role": "assistant", "content": "\x1b]0;t\x07", "tool_calls": [call]}])
    )
    done = run("convert", path, "--destination", "openai")
    for output in (done.stdout, done.stderr):
        assert b"\x1b" not in output
        assert b"\xc2\x9b" not in output
