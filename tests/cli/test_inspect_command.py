"""``toolcarry inspect``: tables for people, JSON for programs."""

from __future__ import annotations

import json

import toolcarry

READ = ("Read", {"file_path": "/a.py"}, "x = 1")
OPEN = ("Bash", {"command": "sleep 9"}, None)


def fields(output: bytes) -> dict[str, str]:
    """The lines ``title  value`` before the table of tools."""
    head = output.decode().split("\ntool ")[0]
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
    assert first[1:5] == ["anthropic", "3", "2", "1"]
    assert total[1:4] == ["40", "17", "15"]


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
    assert json.loads(done.stdout) == {"file": str(example), **survey.to_dict()}
    both = run("inspect", "--json", example, write("a.json", READ)).stdout.splitlines()
    assert [json.loads(line)["calls"] for line in both] == [15, 1]


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
