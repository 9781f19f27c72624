"""Outputs that Claude Code keeps in files: read from the session's own folder, and from nowhere else."""

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.builders.producers import sample
from support.builders.records import Record, out, record, run
from support.rows import for_each

from toolcarry import InputError
from toolcarry._input import sources
from toolcarry._input.sources import read_source

WHOLE = "line 1\nline 2\nthe end"


def preview(path: str, first: str = "line 1") -> str:
    return (
        f"<persisted-output>\nOutput too large (73.3KB). Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{first}\nline 2\n...\n</persisted-output>"
    )


def stored(content: Any, name: str = "a") -> list[Record]:
    given = out(name)
    given["content"][0]["content"] = content
    return [record("1", None, run(name)), record("2", "1", given)]


class Home:
    """A session with a folder for stored outputs."""

    def __init__(self, folder: Path) -> None:
        self.session = folder / "project" / "s1.jsonl"
        self.results = folder / "project" / "s1" / "tool-results"
        self.results.mkdir(parents=True)
        self.secret = folder / "secret.txt"
        self.secret.write_text("line 1\nsecret\nthe end")

    def write(self, records: list[Record]) -> Path:
        self.session.write_text("\n".join(map(json.dumps, records)))
        return self.session

    def load(self, path: str, first: str = "line 1") -> tuple[str, tuple[str, ...]]:
        body, remarks = read_source(self.write(stored(preview(path, first))))
        return body.decode(), remarks


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@for_each("path", ["/home/x/p/s1/tool-results/t1.txt", "t1.txt", "C:\\Users\\x\\t1.txt", "../../etc/t1.txt"])  # fmt: skip
@for_each("is_list", [False, True])
def test_the_file_of_the_session(api: ModuleType, home: Home, path: str, is_list: bool) -> None:
    (home.results / "t1.txt").write_text(WHOLE)
    text = preview(path)
    session = home.write(stored([{"type": "text", "text": text}] if is_list else text))
    body, remarks = read_source(session)
    assert remarks == (f"1 stored outputs read from {home.results}",)
    (carried,) = api.carry_files([session])
    assert "the end" in carried.text
    assert carried.report.remarks == remarks
    (block,) = api.extract_tool_blocks(body)
    assert block.tool_result["content"] == WHOLE
    assert "the end" in str(api.convert(body, to="openai").messages)
    assert "the end" not in api.carry(session.read_bytes()).text


def test_the_file_of_a_sub_agent(home: Home) -> None:
    (home.results / "t1.txt").write_text(WHOLE)
    session = home.results.parent / "subagents" / "agent-1.jsonl"
    session.parent.mkdir()
    session.write_text("\n".join(map(json.dumps, stored(preview("t1.txt")))))
    assert b"the end" in read_source(session).body


def test_the_line_itself_has_the_whole(home: Home) -> None:
    (home.results / "t1.txt").write_text("line 1\nanother")
    records = stored(preview("t1.txt"))
    records[1]["toolUseResult"] = {"stdout": WHOLE}
    session = home.write(records)
    assert read_source(session) == (session.read_bytes(), ())


@pytest.mark.parametrize("is_there", [True, False])
def test_the_line_has_the_beginning_of_an_output(
    api: ModuleType, home: Home, is_there: bool
) -> None:
    """Claude Code keeps up to 30,000 characters of a shell's output in the record, and the size of all."""
    records = stored(preview("t1.txt"))
    records[1]["toolUseResult"] = {"stdout": WHOLE[:14], "persistedOutputSize": len(WHOLE)}
    if is_there:
        (home.results / "t1.txt").write_text(WHOLE)
    body, remarks = read_source(home.write(records))
    found = api.carry(body).text
    assert ("line 2" in found, "the end" in found, "Preview" in found) == (True, is_there, False)
    assert remarks == (
        (f"1 stored outputs read from {home.results}",)
        if is_there
        else ("1 results are cut: their files cannot be read",)
    )


@for_each("size", [len(WHOLE), 0, -1, None, "9", True])
def test_the_size_shows_that_the_line_has_all(home: Home, size: Any) -> None:
    records = stored(preview("t1.txt"))
    records[1]["toolUseResult"] = {"stdout": WHOLE, "persistedOutputSize": size}
    (home.results / "t1.txt").write_text("line 1\nanother")
    assert read_source(home.write(records)).remarks == ()


def test_two_results_in_one_record_are_not_mixed_up(api: ModuleType, home: Home) -> None:
    records = stored(preview("t1.txt"))
    parts = records[1]["message"]["content"]
    parts.append({**parts[0], "tool_use_id": "id_b"})
    records[1]["toolUseResult"] = {"stdout": WHOLE}
    (home.results / "t1.txt").write_text(WHOLE)
    session = home.write(records)
    body, _ = read_source(session)
    assert "the end" not in api.carry(body).text


@for_each("path", ["..", ".", "/", "a/..", "x/\0y", "", "tool-results/", "nothing.txt"])
def test_a_path_without_a_file(home: Home, path: str) -> None:
    text, (remark,) = home.load(path)
    assert "the end" not in text
    assert "1 results are previews" in remark


def test_a_file_elsewhere(home: Home) -> None:
    text, (remark,) = home.load(str(home.secret))
    assert "secret\\nthe end" not in text
    assert "cannot be read" in remark


def test_links_that_lead_elsewhere(home: Home) -> None:
    (home.results / "t1.txt").symlink_to(home.secret)
    text, (remark,) = home.load("t1.txt")
    assert "the end" not in text
    assert "outside of the session's folder" in remark
    (home.results / "t1.txt").unlink()
    (home.results / "t2.txt").write_text(WHOLE)
    (home.results / "t1.txt").symlink_to(home.results / "t2.txt")
    assert "the end" in home.load("t1.txt")[0]


@pytest.mark.parametrize("name", ["s1", "s1/tool-results"])
def test_folders_that_lead_elsewhere(home: Home, tmp_path: Path, name: str) -> None:
    place = home.session.parent / name
    for each in (home.results, home.results.parent)[: 1 if name != "s1" else 2]:
        each.rmdir()
    other = tmp_path / "other"
    (other / "tool-results").mkdir(parents=True)
    for inside in (other, other / "tool-results"):
        (inside / "t1.txt").write_text(WHOLE)
    place.symlink_to(other)
    text, (remark,) = home.load("t1.txt")
    assert "the end" not in text
    assert "outside of the session's folder" in remark


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_regular_file(home: Home) -> None:
    os.mkfifo(home.results / "t1.txt")
    assert "not regular" in home.load("t1.txt")[1][0]
    (home.results / "t2.txt").mkdir()
    assert "previews" in home.load("t2.txt")[1][0]


def test_a_huge_file(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_STORED", 30)
    (home.results / "t1.txt").write_text(WHOLE)
    (home.results / "t2.txt").write_text(WHOLE)
    first, second = stored(preview("t1.txt")), stored(preview("t2.txt"), "b")
    second[0] |= {"uuid": "3", "parentUuid": "2"}
    second[1] |= {"uuid": "4", "parentUuid": "3"}
    body, remarks = read_source(home.write([*first, *second]))
    assert body.count(b"the end") == 1
    assert len(remarks) == 2
    assert "more than 30 bytes" in remarks[1]


def test_a_file_that_does_not_begin_like_the_preview(home: Home) -> None:
    (home.results / "t1.txt").write_text("line 0\nthe end")
    text, (remark,) = home.load("t1.txt")
    assert "the end" not in text
    assert "do not begin like" in remark


def test_other_lines_stay_as_they_are(home: Home) -> None:
    (home.results / "t1.txt").write_text(WHOLE)
    lines = [b'{"broken', b'{"uuid":  "0", "parentUuid": null, "note": "<persisted-output>"}']
    records = [json.dumps(each).encode() for each in stored(preview("t1.txt"))]
    home.session.write_bytes(b"\n".join([*lines, *records, b""]))
    found = read_source(home.session).body.split(b"\n")
    assert found[:3] == [*lines, records[0]]
    assert found[-1] == b""
    assert b"the end" in found[3]


def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(InputError, match="named pipe"):
        read_source(tmp_path / "pipe.jsonl")


@pytest.mark.parametrize("space", ["", "\n"])
def test_an_export_of_opencode_with_what_it_tells(
    api: ModuleType, tmp_path: Path, space: str
) -> None:
    path = tmp_path / "session.json"
    document = {"info": {"id": "ses_1"}, "messages": sample("opencode")}
    path.write_text(f"Exporting session: ses_1\n{space}{json.dumps(document, indent=2)}\n")
    assert [block.call_id for block in api.extract_tool_blocks(path)] == ["c1", "c2"]
    (carried,) = api.carry_files([path])
    assert carried.report.walked == 2
    path.write_text("Exporting session: ses_1\n")
    with pytest.raises(InputError, match="not JSON at byte 0"):
        api.extract_tool_blocks(path)
