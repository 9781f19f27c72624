"""``toolcarry inspect``: tables for people, JSON for programs."""

from __future__ import annotations

import json
import re

import pytest

import toolcarry
from toolcarry.api.survey import survey_context

pytestmark = pytest.mark.usefixtures("rust")

READ = ("Read", {"file_path": "/a.py"}, "x = 1")
OPEN = ("Bash", {"command": "sleep 9"}, None)


def fields(output: bytes) -> dict[str, str]:
    """The lines ``title  value`` before the tables."""
    head = output.decode().split("\n\n")[0]
    return dict(line.split("  ", 1) for line in head.strip().splitlines())


def test_one_file(run, example):
    done = run("inspect", example)
    assert (done.returncode, done.stderr) == (0, b"")
    found = {title: value.strip() for title, value in fields(done.stdout).items()}
    assert found["shape"] == "claude-code"
    assert (found["messages"], found["calls"], found["results"]) == ("37", "15", "14")
    assert (found["duplicates"], found["stale reads"], found["errors"]) == ("4", "2", "3")
    assert (found["orphan calls"], found["orphan results"]) == ("1", "0")
    assert (found["repeated records"], found["in side chains"]) == ("1", "1")
    assert found["bad lines"] == "1 (20)"
    assert b"\x1b" not in done.stdout


def test_tools_stand_with_their_bytes(run, write):
    path = write("a.json", READ, ("Grep", {}, "é" * 20), OPEN)
    rows = [line.split() for line in run("inspect", path).stdout.decode().splitlines()[-3:]]
    assert rows == [
        ["Grep", "1", "1", "0", "40", "89%"],
        ["Read", "1", "1", "0", "5", "11%"],
        ["Bash", "1", "0", "0", "0", "0%"],
    ]


def test_several_files_stand_in_rows_with_their_sum(run, write, example):
    other = write("a.json", READ, OPEN)
    lines = run("inspect", other, example).stdout.decode().splitlines()
    first = next(line.split() for line in lines if line.startswith(str(other)))
    total = next(line.split() for line in lines if line.startswith("total"))
    assert first[1:2] + first[3:6] == ["anthropic", "3", "2", "1"]
    assert total[2:5] == ["40", "17", "15"]


def test_the_one_file_of_several_that_can_be_read_has_no_empty_table(run, write, tmp_path):
    bad = tmp_path / "broken.json"
    bad.write_text("{")
    done = run("inspect", bad, write("a.json", READ))
    assert done.returncode == 1
    assert "made of" not in done.stdout.decode()


def test_one_file_has_the_tokens_that_several_have(run, write, example):
    rows = run("inspect", "--json", example, write("a.json", READ)).stdout.splitlines()
    alone = json.loads(run("inspect", "--json", example).stdout)
    assert json.loads(rows[0])["context"]["tokens"] == alone["context"]["tokens"] > 2_000


def test_the_context_is_one_line_if_the_model_is_known(run, write, tmp_path):
    def session(model):
        said = {"role": "assistant", "model": model, "content": "word " * 999}
        record = {"uuid": "1", "parentUuid": None, "message": said}
        path = tmp_path / "s.jsonl"
        path.write_text(json.dumps(record))
        return fields(run("inspect", path).stdout)

    found = session("claude-sonnet-4-5-20250929")
    assert (
        found["context"].strip()
        == "1,250 of 200,000 tokens. About 0 % of the context window is used."
    )
    assert "context" not in session("unheard-of")
    assert "context" not in fields(run("inspect", write("a.json", READ)).stdout)


def test_json(run, example, write):
    done = run("inspect", "--json", example)
    survey = toolcarry.inspect(example.read_bytes())
    context = survey_context(example.read_bytes()).to_dict()
    expected = json.loads(json.dumps(context))
    assert json.loads(done.stdout) == {
        "file": str(example),
        **survey.to_dict(),
        "context": expected,
    }
    both = run("inspect", "--json", example, write("a.json", READ)).stdout.splitlines()
    found = [json.loads(line) for line in both]
    assert [each["calls"] for each in found] == [15, 1]
    facts = ("session_id", "directory", "model", "last")
    for name in facts:
        assert found[0]["context"]["session"][name] == expected["session"][name]
    assert sorted(found[0]["context"]) == ["exact", "model", "session", "tokens"]


def test_the_context_in_tables(run, example):
    shown = run("inspect", example).stdout.decode()
    survey = survey_context(example.read_bytes())
    assert survey.tokens == 2_287
    for line in (
        "tokens            about 2,287 (estimated for claude-sonnet-4-5-20250929)",
        "time              2026-03-14 09:12 to 09:16 UTC",
        "tool results   1,404    61%",
        "still needed      6     530    38%",
        "/home/mara/tally/tally/split.py           3      2   1,189",
    ):
        assert line in shown
    exact = run("inspect", example, "--model", "gpt-4o").stdout.decode()
    assert "(exact)" in exact


def test_no_number_loses_a_digit_in_a_narrow_terminal(run, write):
    pairs = [
        (f"a_tool_with_a_long_name_{n}", {"n": "word " * 3_000}, "x" * 1_234_567) for n in range(2)
    ]
    path = write("a.json", *pairs, ("Read", {"file_path": "/a/long/path/" * 9}, "ab " * 70_000))
    shown = run("inspect", path, env={"COLUMNS": "45"}).stdout.decode()
    survey = survey_context(path.read_bytes())
    numbers = [*survey.parts.values(), *(each.tokens for each in (*survey.heaviest, *survey.files))]
    for number in (1_234_567, survey.tokens, *numbers):
        assert f"{number:,}" in shown.split() or not number
    assert max(map(len, shown.splitlines())) <= 45
    other = write("b.json", READ)
    rows = run("inspect", path, other, env={"COLUMNS": "45"})
    assert re.search(r"\s384,\d{3}\s", rows.stdout.decode())


def test_folders_and_patterns(run, write, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").mkdir()
    for name in ("a/2.json", "a/b/1.json"):
        write(name, READ)
    (tmp_path / "a" / "notes.txt").write_text("no session")

    def files(*args):
        done = run("inspect", *args, "--json")
        assert done.returncode == 0, done.stderr
        return [
            json.loads(line)["file"].removeprefix(str(tmp_path))
            for line in done.stdout.splitlines()
        ]

    assert files(tmp_path / "a") == ["/a/2.json", "/a/b/1.json"]
    assert files(tmp_path / "a" / "**" / "*.json") == ["/a/2.json", "/a/b/1.json"]
    assert files(tmp_path / "a" / "2.json", tmp_path / "a") == ["/a/2.json", "/a/b/1.json"]
    assert run("inspect", tmp_path / "*.none").returncode == 3
    (tmp_path / "empty").mkdir()
    assert run("inspect", tmp_path / "empty").returncode == 1


def test_sorted_by_a_column(run, write):
    small, large = write("a.json", READ), write("b.json", READ, ("Grep", {}, "word " * 99), OPEN)

    def first(column):
        done = run("inspect", small, large, "--sort", column, "--json")
        return json.loads(done.stdout.splitlines()[0])["file"]

    assert {column: first(column) for column in ("tokens", "calls", "orphan-calls")} == {
        column: str(large) for column in ("tokens", "calls", "orphan-calls")
    }
    assert first("file") == str(small)
    refused = run("inspect", small, "--sort", "beauty")
    assert refused.returncode == 2
    assert b"allowed: file, tokens" in refused.stderr.replace(b"\n", b" ")


def test_without_a_file_the_sessions_of_the_agents(run, tmp_path, example):
    places = {
        ".claude/projects/-w/s1.jsonl": example.read_bytes(),
        ".codex/sessions/2026/01/02/rollout-1.jsonl": b'{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}}\n',
        ".gemini/tmp/p/chats/session-1.json": b'{"sessionId":"g","messages":[{"id":"1","type":"gemini","content":"Hi."}]}',
        ".local/share/opencode/opencode.db": b"SQLite format 3\0",
    }  # fmt: skip
    for name, content in places.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    others = {"CLAUDE_CONFIG_DIR": "", "CODEX_HOME": "", "GEMINI_CLI_HOME": "", "XDG_DATA_HOME": ""}
    done = run("inspect", "--sort", "file", "--json", env={"HOME": str(tmp_path), **others})
    files = [json.loads(line)["file"] for line in done.stdout.splitlines()]
    assert files == [str(tmp_path / name) for name in list(places)[:3]]
    assert b"FILE#ID" in done.stderr
    elsewhere = {"HOME": str(tmp_path / "none"), **others}
    assert run("inspect", env=elsewhere).returncode == 3
    moved = elsewhere | {"CODEX_HOME": str(tmp_path / ".codex")}
    assert len(run("inspect", "--json", env=moved).stdout.splitlines()) == 1


def test_stdin(run, example):
    done = run("inspect", "-", stdin=example.read_bytes())
    assert fields(done.stdout)["file"].strip() == "stdin"


def test_a_conversation_without_tools(run):
    done = run("inspect", "-", stdin=b'[{"role": "user", "content": "hi"}]')
    assert done.returncode == 0
    assert b"tool " not in done.stdout


def test_only_the_heaviest_tools_are_listed(run, write):
    path = write("a.json", *((f"tool{number}", {}, "x" * number) for number in range(1, 80)))
    lines = run("inspect", path).stdout.decode().splitlines()
    assert lines[-1].split()[:4] == ["29", "others", "29", "29"]
    assert len(json.loads(run("inspect", path, "--json").stdout)["tools"]) == 79


def test_narrow_output_stays_readable(run, example):
    done = run("inspect", example, example, env={"COLUMNS": "60"})
    lines = done.stdout.decode().splitlines()
    assert max(map(len, lines)) <= 60
    assert done.returncode == 0
