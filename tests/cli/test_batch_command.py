"""``toolcarry batch``: one row for each file, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.clocks import wait_until

import toolcarry
from toolcarry.api.survey import survey_context
from toolcarry.cli import main

pytestmark = pytest.mark.usefixtures("rust")

READ = ("Read", {"file_path": "/a.py"}, "x = 1")


@pytest.fixture
def folder(write, tmp_path, example):
    """A folder with a request, a session, and a file that is no conversation."""
    (tmp_path / "in" / "deep").mkdir(parents=True)
    write("in/a.json", READ)
    (tmp_path / "in" / "deep" / "s.jsonl").write_bytes(example.read_bytes())
    (tmp_path / "in" / "bad.json").write_text("{")
    return tmp_path / "in"


@pytest.fixture
def batch(tmp_path, folder, capfdbinary):
    """Run the command on the folder; its exit code, the rows, and what it said."""

    def batch(job: str, *args: object, out: str = "out.jsonl", source: Path = folder):
        code = main(
            ["batch", str(source), "--job", job, "--out", str(tmp_path / out), *map(str, args)]
        )
        rows = tmp_path / out if "." in out else tmp_path / out / "rows.jsonl"
        said = capfdbinary.readouterr().err.decode()
        if rows.suffix == ".parquet":
            return code, pytest.importorskip("pyarrow.parquet").read_table(rows).to_pylist(), said
        return code, [json.loads(line) for line in rows.read_text().splitlines()], said

    return batch


def test_a_bad_file_is_a_row(batch, folder):
    code, rows, said = batch("inspect")
    assert code == 1
    assert [Path(row["file"]).name for row in rows] == ["a.json", "bad.json", "s.jsonl"]
    assert [row["error"] is None for row in rows] == [True, False, True]
    assert "3 files done, 1 with an error" in said
    survey = toolcarry.inspect((folder / "deep" / "s.jsonl").read_bytes())
    assert (rows[2]["calls"], rows[2]["bytes"]) == (survey.calls, survey.bytes)
    assert rows[2]["model"] == "claude-sonnet-4-5-20250929"
    assert rows[1]["calls"] is None


def test_tokens_before_a_compaction_are_a_column_of_their_own(batch, tmp_path):
    def record(number, role, text, **more):
        above = f"u{number - 1}" if number else None
        return {"type": role, "uuid": f"u{number}", "parentUuid": above, "message": {"role": role, "content": text}, **more}  # fmt: skip

    lines = [record(0, "user", "What is this? " * 40), record(1, "assistant", "A barn."), record(2, "user", "So far: a barn.", isCompactSummary=True)]  # fmt: skip
    folder = tmp_path / "compacted"
    folder.mkdir()
    path = folder / "s.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    _, (row,), _ = batch("inspect", source=folder)
    survey = survey_context(path.read_bytes())
    assert (row["tokens"], row["compacted"]) == (survey.tokens, survey.compacted)
    assert row["compacted"] > row["tokens"] > 0


@pytest.mark.slow
def test_parquet_has_the_same_rows(batch):
    for job in ("inspect", "carry"):
        _, expected, _ = batch(job)
        code, rows, _ = batch(job, out="out.parquet")
        assert (code, rows) == (1, expected)
    _, rows, said = batch("carry", "--resume", out="out.parquet")
    assert rows == [expected[0], expected[2], expected[1]]
    assert "2 unchanged" in said


@pytest.mark.parametrize(
    "out", ["out.jsonl", pytest.param("out.parquet", marks=pytest.mark.slow), "out"]
)
def test_a_name_that_is_not_unicode(batch, tmp_path, out):
    """It is an escape in Parquet, and what Python makes of it elsewhere."""
    source = tmp_path / "odd"
    source.mkdir()
    try:
        Path(os.fsdecode(bytes(source) + b"/\xff.json")).write_text("[]")
    except OSError:
        pytest.skip("the file system takes UTF-8 only")
    code, [row], _ = batch("recount", out=out, source=source)
    assert (code, row["error"]) == (0, None)
    assert row["file"].endswith(("/\udcff.json", "/\\udcff.json"))


@pytest.mark.parametrize("threads", [1, 3])
def test_outputs_are_those_of_the_functions(batch, folder, threads):
    data = (folder / "deep" / "s.jsonl").read_bytes()
    _, rows, _ = batch("carry", "--max-chars", "2k", "--jobs", threads)
    policy = toolcarry.CarryPolicy(max_chars=2_000)
    assert rows[2]["text"] == toolcarry.carry(data, policy=policy).text
    _, rows, _ = batch("recount", "--jobs", threads)
    assert json.loads(rows[2]["messages"]) == toolcarry.recount(data).messages
    _, rows, _ = batch("project", "--jobs", threads)
    assert json.loads(rows[0]["body"]) == json.loads((folder / "a.json").read_bytes())
    assert "is not a request" in rows[2]["error"]
    _, rows, _ = batch("project", "--destination", "openai-chat", "--jobs", threads)
    assert "tool_calls" in rows[2]["body"]


def test_processes_convert(batch, folder):
    data = (folder / "a.json").read_bytes()
    code, rows, _ = batch("convert", "--destination", "openai-chat", "--jobs", "2")
    assert batch("convert", "--to", "openai-chat")[1] == rows
    assert code == 1
    assert json.loads(rows[0]["request"]) == toolcarry.convert(data, to="openai").to_dict()


def test_a_folder_gets_a_file_for_each(batch, tmp_path):
    _, rows, _ = batch("carry", out="contexts")
    path = tmp_path / "contexts" / "deep" / "s.jsonl.md"
    assert rows[2]["text"] == str(path)
    assert "CONTEXT FROM PREVIOUS SESSION" in path.read_text()
    assert sorted(each.name for each in (tmp_path / "contexts").iterdir()) == [
        "a.json.md", "deep", "rows.jsonl", "rows.jsonl.manifest.jsonl",
    ]  # fmt: skip


def test_resume_does_what_is_new(batch, folder, write):
    batch("inspect")
    (folder / "bad.json").write_text('{"messages": []}')
    write("in/new.json", READ, READ)
    code, rows, said = batch("inspect", "--resume")
    assert code == 0
    assert "2 files done, 2 unchanged" in said
    assert sorted(Path(row["file"]).name for row in rows) == [
        "a.json",
        "bad.json",
        "new.json",
        "s.jsonl",
    ]
    write("in/a.json", READ, READ, READ)
    _, rows, said = batch("inspect", "--resume")
    assert "1 file done, 3 unchanged" in said
    assert {Path(row["file"]).name: row["calls"] for row in rows}["a.json"] == 3


def test_resume_with_other_settings_is_refused(batch, folder, tmp_path, capfdbinary):
    batch("carry")
    before = (tmp_path / "out.jsonl").read_bytes()
    args = [
        "batch",
        str(folder),
        "--job",
        "carry",
        "--out",
        str(tmp_path / "out.jsonl"),
        "--resume",
    ]
    assert main([*args, "--max-chars", "9"]) == 2
    assert b"other settings" in capfdbinary.readouterr().err
    assert (tmp_path / "out.jsonl").read_bytes() == before


def test_since(batch, folder):
    old = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    os.utime(folder / "a.json", (old, old))
    for since in ("2026-01-02", "7d", "12h"):
        _, rows, _ = batch("inspect", "--since", since)
        assert [Path(row["file"]).name for row in rows] == ["bad.json", "s.jsonl"]
    assert len(batch("inspect", "--since", "2025-12-31")[1]) == 3


def test_usage(folder, tmp_path):
    out = str(tmp_path / "o.jsonl")
    for args in (
        ["--job", "beauty", "--out", out],
        ["--job", "convert", "--out", out],
        ["--job", "inspect", "--out", out, "--since", "yesterday"],
        ["--job", "convert", "--destination", "nobody", "--out", out],
    ):
        assert main(["batch", str(folder), *args]) == 2
    for place, code in ((tmp_path / "no", 3), (folder / "bad.json", 1)):
        assert main(["batch", str(folder), "--job", "inspect", "--out", str(place / "o.jsonl")]) == code  # fmt: skip
    assert not list(tmp_path.glob(".*.tmp"))


def test_an_interrupt_leaves_whole_rows(command, environment, tmp_path, example):
    """The threads are in the middle of large files when it comes."""
    source, out = tmp_path / "in", tmp_path / "out.jsonl"
    source.mkdir()
    (source / "a.jsonl").write_bytes(example.read_bytes())
    record = example.read_bytes().splitlines()[5]
    large = b"\n".join(record.replace(b"toolu_", b"toolu_%d_" % n) for n in range(20_000))
    for name in "bc":
        (source / f"{name}.jsonl").write_bytes(large)
    args = [*command, "batch", str(source), "--job", "inspect", "--out", str(out), "--jobs", "1"]
    with subprocess.Popen(args, stderr=subprocess.PIPE, env=environment) as process:
        try:
            wait_until(lambda: any(tmp_path.glob(".out.jsonl.*.tmp")))
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=20)[1].decode()
        finally:
            process.kill()
    assert process.returncode == 130
    assert "left; --resume does them" in said
    rows = out.read_text() if out.exists() else ""  # it may come before the first row
    for line in rows.splitlines():
        assert json.loads(line)["error"] is None
    assert not list(tmp_path.glob(".*.tmp"))


PEAK = """
import re, sys
from pathlib import Path
from toolcarry.cli import main
main(sys.argv[1:])
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""
"""The peak of this program alone: ``ru_maxrss`` begins with that of the process that started it."""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_files(tmp_path, example, environment):
    """At most 200 MB, and the largest file for each thread."""
    import sys

    source = tmp_path / "in"
    source.mkdir()
    record = example.read_bytes().splitlines()[5]
    data = b"\n".join(record.replace(b"toolu_", b"toolu_%d_" % n) for n in range(10_000))
    for number in range(24):
        (source / f"{number}.jsonl").write_bytes(data)
    args = [
        "batch",
        str(source),
        "--job",
        "inspect",
        "--out",
        str(tmp_path / "o.jsonl"),
        "--jobs",
        "2",
    ]
    done = subprocess.run([sys.executable, "-c", PEAK, *args], capture_output=True, text=True, env=environment, check=True)  # fmt: skip
    assert int(done.stdout) < 200 + 2 * len(data) // 1_000_000
    assert len(data) * 24 > 250_000_000
