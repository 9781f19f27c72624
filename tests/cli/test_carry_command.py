"""``toolcarry carry``: the context on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import toolcarry
from toolcarry import NO_LIMIT, CarryPolicy

READ = ("Read", {"file_path": "/a.py"}, "x = 'é'")
TEST = ("Bash", {"command": "pytest -q"}, "3 passed")


def test_context_equals_that_of_the_library(run, example):
    done = run("carry", example)
    assert done.returncode == 0
    assert done.stdout.decode() == toolcarry.carry(example.read_bytes()).text + "\n"
    assert b"session.jsonl: 1 line without a JSON object skipped: 20" in done.stderr


@pytest.mark.parametrize("layout", ["auto", "sections", "handover"])
def test_the_total_is_spent_as_asked(run, example, layout):
    policy = CarryPolicy(max_tokens=300, layout=layout)
    text = toolcarry.carry(example.read_bytes(), policy=policy).text
    done = run("carry", example, "--max-tokens", "300", "--layout", layout)
    assert done.stdout.decode() == text + "\n"
    assert ("## Left Out" in text) is (layout == "sections")
    explained = run(
        "carry", example, "--explain", "--max-tokens", "300", "--layout", layout, "--json"
    )
    fates = [each["fate"] for each in json.loads(explained.stdout)["explain"]]
    assert fates == [
        fate.fate
        for fate in toolcarry.carry(example.read_bytes(), policy=policy, explain=True).fates
    ]


def test_an_unknown_layout_is_refused(run, example):
    done = run("carry", example, "--layout", "oldest")
    assert done.returncode == 2
    assert b"'oldest' is not allowed; allowed: auto, sections, handover" in b" ".join(
        done.stderr.split()
    )


def test_example_demonstrates_each_feature(run, example):
    done = run("carry", example, "--json")
    found = json.loads(done.stdout)
    context, report = found["context"], found["report"]
    assert done.stderr == b""
    for note in (
        "(lines 14-16; edited after this read)",
        "(failed)",
        "(interrupted: no result)",
        "(latest of 3 runs)",
    ):
        assert note in context
    assert report["superseded"] == {"later_read": 1, "later_edit": 1, "later_run": 2}
    assert report["excluded"] == {"side_chain": 1}
    assert report["repeated_records"] == 1
    assert report["skipped_lines"] == [20]


def test_stdin_is_a_file_named_by_a_dash(run, example):
    done = run("carry", "-", stdin=example.read_bytes())
    assert done.stdout == run("carry", example).stdout
    assert done.stderr.startswith(b"stdin: 1 line without a JSON object skipped")


@pytest.mark.parametrize("limit", [0, 60, 200, 1_000, 60_000])
def test_output_is_never_longer_than_the_limit(run, example, limit):
    done = run("carry", example, "--max-chars", str(limit))
    text = done.stdout.decode()
    wanted = toolcarry.carry(example.read_bytes(), policy=CarryPolicy(max_chars=limit)).text
    assert done.returncode == 0
    assert len(text) <= limit
    assert text.removesuffix("\n") == wanted


def test_limit_of_none(run, write):
    path = write("long.json", ("Read", {"file_path": "/a.txt"}, "word " * 20_000))
    assert len(run("carry", path).stdout) <= 60_000
    assert len(run("carry", path, "--max-chars", "none").stdout) > 100_000
    huge = run("carry", path, "--max-chars", "9" * 5_000)
    assert huge.stdout == run("carry", path, "--max-chars", str(NO_LIMIT)).stdout


def test_limit_on_one_result(run, write):
    path = write("long.json", ("Read", {"file_path": "/a.txt"}, "word " * 100), TEST)
    text = run("carry", path, "--max-result-chars", "20").stdout.decode()
    assert "[truncated: 20 of 500 characters shown; whole: t0]" in text
    assert "3 passed" in text


@pytest.mark.parametrize("value", ["-1", "1.5", "ten", "", "1__000", "٣"])
def test_limit_that_is_invalid(run, example, value):
    done = run("carry", example, "--max-chars", value)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"--max-chars" in done.stderr
    assert b"allowed: an integer >= 0, such as 20000, 20_000 or 20k; none" in done.stderr


def test_a_limit_in_tokens_says_what_else_it_may_be(run, example):
    done = run("carry", example, "--max-tokens", "aut")
    assert b"or 20k; none; a share such as 5%\n" in done.stderr
    done = run("project", example, "--max-result-tokens", "aut")
    assert b"or 20k; none; a share such as 5%; auto\n" in done.stderr


def test_summary(run, write, tmp_path):
    path = write("a.json", TEST)
    (tmp_path / "summary.md").write_bytes("\ufeffWhat was döne.".encode())
    assert b"## Summary\nAll fixed.\n" in run("carry", path, "--summary", "All fixed.").stdout
    assert b"## Summary\n@all\n" in run("carry", path, "--summary", "@@all").stdout
    from_file = run("carry", path, "--summary", "@summary.md").stdout
    assert "## Summary\nWhat was döne.\n".encode() in from_file
    assert b"## Summary\npiped\n" in run("carry", path, "--summary", "@-", stdin=b"piped").stdout


def test_summary_file_that_is_no_text(run, write, tmp_path):
    path = write("a.json", TEST)
    (tmp_path / "latin").write_bytes(b"d\xf6ne")
    done = run("carry", path, "--summary", "@latin")
    assert done.returncode == 2
    assert done.stderr == b"toolcarry: --summary @latin: not UTF-8 at byte 1\n"
    assert run("carry", path, "--summary", "@absent").returncode == 3
    assert run("carry", path, "--summary", "@.").returncode == 2
    assert run("carry", "-", "--summary", "@-", stdin=path.read_bytes()).returncode == 2


def test_several_files_follow_one_another(run, write):
    first, second = write("a.json", READ), write("b.json", TEST)
    done = run("carry", first, second)
    contexts = [toolcarry.carry(path.read_bytes()).text for path in (first, second)]
    assert done.stdout.decode() == "".join(f"{text}\n" for text in contexts)
    lines = done.stderr.decode().splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"==> {first}", f"==> {second}"]
    assert "1 of 1 shown" in lines[0]


def test_json_is_one_object_a_line(run, write):
    paths = [write("a.json", READ), write("b.json", TEST)]
    done = run("carry", *paths, "--json")
    assert done.stderr == b""
    for line, path in zip(done.stdout.splitlines(), paths, strict=True):
        carried = toolcarry.carry(path.read_bytes())
        assert json.loads(line) == {
            "file": str(path),
            "context": carried.text,
            "report": carried.report.to_dict(),
        }


def test_the_explanation_is_on_stderr(run, example):
    done = run("carry", example, "--explain", "--max-chars", "1500")
    assert done.stdout.decode().startswith("[CONTEXT FROM PREVIOUS SESSION]")
    rows = done.stderr.decode().splitlines()
    assert rows[0].split() == ["message", "tool", "what", "fate", "reason", "changed", "by"]
    (grep,) = [row for row in rows if "Grep(" in row]
    assert "left out" in grep or "excluded" in grep
    assert any("left out" in row and row.endswith("--max-chars") for row in rows)
    assert len([row for row in rows if row[:7].strip().isdigit()]) == 15


def test_explanation_in_json(run, example):
    done = run("carry", example, "--explain", "--json")
    fates = json.loads(done.stdout)["explain"]
    assert done.stderr == b""
    assert [fate["fate"] for fate in fates].count("superseded") == 4
    assert {"position", "call_id", "tool_name", "title", "fate", "reason", "setting"} <= set(
        fates[0]
    )


def test_nothing_to_carry(run, tmp_path):
    path = tmp_path / "talk.json"
    path.write_text('{"messages": [{"role": "user", "content": "hi"}]}')
    done = run("carry", path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode() == f"{path}: nothing to carry\n"
    small = run("carry", path, "--summary", "A summary.", "--max-chars", "10")
    assert small.stdout == b""
    assert b"the limit is too small for a context" in small.stderr


def test_output_file(run, example, tmp_path):
    out = tmp_path / "context.md"
    done = run("carry", example, "-o", out)
    assert (done.returncode, done.stdout) == (0, b"")
    assert out.read_bytes() == run("carry", example).stdout
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~umask
    assert run("carry", example, "-o", "-").stdout == out.read_bytes()


def test_output_file_is_replaced_whole(run, example, tmp_path):
    out, link = tmp_path / "old.md", tmp_path / "link.md"
    out.write_text("old")
    out.chmod(0o640)
    link.symlink_to(out)
    assert run("carry", example, "--output", link).returncode == 0
    assert link.is_symlink()
    assert out.read_bytes() == run("carry", example).stdout
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert sorted(tmp_path.iterdir()) == [link, out]


def test_an_empty_context_replaces_an_older_one(run, example, tmp_path):
    out = tmp_path / "old.md"
    out.write_text("old")
    done = run("carry", example, "--max-chars", "10", "-o", out)
    assert (done.returncode, out.read_bytes()) == (0, b"")
    assert b"the limit is too small for a context" in done.stderr


def test_output_file_stays_where_nothing_was_read(run, tmp_path):
    out = tmp_path / "old.md"
    out.write_text("old")
    assert run("carry", "absent.json", "-o", out).returncode == 3
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_output_over_an_input_is_refused(run, write, tmp_path):
    path = write("a.json", TEST)
    before = path.read_bytes()
    hard, soft = tmp_path / "hard", tmp_path / "soft"
    os.link(path, hard)
    soft.symlink_to(path)
    for name in (path, hard, soft, "./a.json"):
        done = run("carry", path, "-o", name)
        assert done.returncode == 2
        assert b"is also the input" in done.stderr
    assert run("carry", hard, "--summary", "@a.json", "-o", path).returncode == 2
    assert path.read_bytes() == before
    assert run("carry", path, "-o", tmp_path).returncode == 2
    assert run("carry", path, "-o", "no/such/folder/out").returncode == 3


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="needs /dev/null")
def test_output_to_a_device_is_written(run, example):
    assert run("carry", example, "-o", "/dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.usefixtures("rust")
def test_output_is_utf8_in_any_locale(run, write):
    path = write("a.json", READ, ("日本", {}, "text"))
    env = {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = run("carry", path, "--explain", env=env)
    assert "x = 'é'" in done.stdout.decode()
    assert "日本" in done.stderr.decode()
    assert "日本" in run("carry", path, "--json", "--explain", env=env).stdout.decode()
    assert "日本" in run("inspect", path, env=env).stdout.decode()


@pytest.mark.usefixtures("rust")
def test_hostile_names_are_neutralised(run, write):
    evil = "Re\x1b[31mad\x07[bold]\x9b2J\u202e:smile:\ud800\r\n"
    path = write("a.json", (evil, {"x": evil}, "text"))
    for done in (run("carry", path, "--explain"), run("inspect", path)):
        shown = (done.stdout + done.stderr).decode()
        assert not set(shown) & set("\x1b\x07\x9b\u202e\r")
        assert "Read[bold]:smile:\ufffd" in shown
    for done in (run("carry", path, "--json", "--explain"), run("inspect", path, "--json")):
        text = done.stdout.decode()
        assert not set(text) & set("\x1b\x07\x9b\u202e\r")
        found = json.loads(text)
        assert evil in (found["tools"] if "tools" in found else found["explain"][0].values())


def test_hostile_file_names_are_neutralised(run):
    done = run("carry", "a\x1b]0;title\x07b[red]\n")
    assert done.returncode == 3
    assert done.stderr == b"ab[red]\\n: no such file\n"
