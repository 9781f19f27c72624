"""Texts, numbers, files, clocks and names that others get wrong: kept byte for byte, and never a way to other files."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcarry.errors import ConfigError
from toolcarry.tract import Tract

LINES = [
    b'{"role":"user","content":"NUL \\u0000 and a lone \\ud800 surrogate"}',
    b'{"role":"user","content":"a raw \x00 NUL"}',
    b'{"role":"user","content":"no UTF-8: \xff\xfe\xed\xa0\x80"}',
    b'\xff\xfe\x00',
    b'{"role":"user","content":"hi","n":NaN,"i":-Infinity}',
    b'{"role":"user","content":"hi","n":1e400}',
    b'{"role":"user","content":"hi","n":12345678901234567890123456}',
    b'{"role":"user","content":"hi","n":1.00,"m":1E+2,"z":-0.0}',
    b'{"role":"user","content":"first","content":"second","role":"user"}',
    b'  { "role" :\t"user", "content" : "white \xc2\xa0 space" }  \r',
    b'{"role":"assistant","content":"","tool_calls":[{"id":"t","function":{"name":"f","arguments":"{\\"n\\":1e999,\\"n\\":NaN}"}}]}',
    b'{"role":"tool","tool_call_id":"t","content":"\\ud83d"}',
    b'{"role":"user","content":"' + b"[" * 20_000 + b'"}',
    b"[" * 20_000,
    b'{"role":"user","content":' + b'[{"a":' * 5_000 + b"1" + b"}]" * 5_000 + b"}",
    b'{"role":"user","content":"torn',
    b"",
    b"null",
    b'"text"',
    b"1",
]  # fmt: skip
FIRST = b'{"role":"user","content":"hello"}\n'


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
@pytest.mark.parametrize("end", [b"\n", b""])
def test_each_line_comes_out_as_it_went_in(tmp_path: Path, line: bytes, end: bytes) -> None:
    check(tmp_path, FIRST * 2 + line + end)


def test_all_lines_come_out_as_they_went_in(tmp_path: Path) -> None:
    check(tmp_path, FIRST * 2 + b"\n".join(LINES) + b"\n" + FIRST)


def check(folder: Path, data: bytes) -> None:
    file = folder / "session.jsonl"
    file.write_bytes(data)
    with Tract.open(folder / "history.db") as tract:
        tract.import_transcript(file)
        assert b"".join(tract.export()) == data
        for commit in tract.log():
            tract.get_content(commit)
        tract.compile()
        assert tract.verify().is_whole
        assert tract.import_transcript(file).commits == 0


def test_a_clock_that_jumps_back(
    memory: Callable[..., Tract], monkeypatch: pytest.MonkeyPatch
) -> None:
    tract = memory()
    now = time.time_ns()
    for number, jump in enumerate((0, -86_400, 3_600, -(now // 10**9), 10)):
        moment = now + jump * 10**9
        monkeypatch.setattr(time, "time_ns", lambda moment=moment: moment)
        tract.user(str(number))
    log = tract.log()[::-1]
    assert [tract.get_content(commit) for commit in log] == list("01234")
    assert [commit.sequence for commit in log] == [1, 2, 3, 4, 5]
    assert [message["content"] for message in tract.compile()] == list("01234")
    assert log[1].created_at < log[0].created_at
    assert tract.verify().is_whole


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "..", "a/../../b", "file:x?mode=memory", "'; --", "x" * 5_000, ""],
)
def test_a_name_is_no_path(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with Tract.open(folder / "history.db", conversation=name, tenant=name) as tract:
        commit = tract.user("hi")
        assert tract.conversations() == [name]
        assert {file.name for file in folder.iterdir()} <= {
            "history.db", "history.db-wal", "history.db-shm", "history.db-head",
        }  # fmt: skip
        assert list(tmp_path.iterdir()) == [folder]
        assert tract.get_content(commit.commit_hash) == "hi"
        assert tract.verify().is_whole
        assert tract.forget(name)


@pytest.mark.parametrize("target", ["", "a\0b"])
def test_a_target_that_is_no_path(target: str) -> None:
    with pytest.raises(ConfigError, match="target"):
        Tract.open(target)


def test_a_file_name_with_special_characters_of_sqlite(tmp_path: Path) -> None:
    names = {"a?mode=memory", "100%41", "a#b", "ü \udcff"}
    for name in names:
        with Tract.open(tmp_path / name) as tract:
            tract.user("hi")
        with Tract.open(tmp_path / name, read_only=True) as tract:
            assert len(tract.log()) == 1
    found = {file.name for file in tmp_path.iterdir()}
    assert {name.removesuffix("-wal").removesuffix("-shm") for name in found} == names <= found


def test_links(tmp_path: Path) -> None:
    """A link to a session file is read; a link to a store opens that store, with its log next to the real file."""
    (tmp_path / "session.jsonl").write_bytes(FIRST * 2)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.jsonl").symlink_to("session.jsonl")
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere" / "history.db")
    with Tract.open(tmp_path / "link.db") as tract:
        assert tract.import_transcript(tmp_path / "link.jsonl").lines == 2
        assert not (tmp_path / "link.db-wal").exists()
        with Tract.open(tmp_path / "elsewhere" / "history.db") as same:
            assert same.log() == tract.log()
        with pytest.raises(ConfigError, match="a new file"):
            tract.repair(tmp_path / "link.db")
