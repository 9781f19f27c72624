"""``toolcarry history import``: files into a store, which may be on PostgreSQL."""

from __future__ import annotations

import gzip
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.builders.histories import lines

from toolcarry.tract import Tract


def test_import(history, example, db):
    code, out, err = history("import", example)
    count = len(example.read_bytes().splitlines())
    assert (code, out) == (0, "")
    assert err == (
        f"{example}: {count} records, {count} new commits, 1 of them without a JSON object, 0 skipped; "
        "conversation 'session'\n"
    )
    assert f"{count} records, 0 new commits, {count} skipped;" in history("import", example)[2]
    with Tract.open(db, conversation="session") as tract:
        assert b"".join(tract.export()) == example.read_bytes()
        assert tract.conversations() == ["session"]


def test_import_of_several_files(history, example, tmp_path, write):
    packed = tmp_path / "session.v2.jsonl.gz"
    packed.write_bytes(gzip.compress(example.read_bytes()))
    bad = tmp_path / "bad.txt"
    bad.write_text("no conversation")
    body = write("body.json", ("Read", {"file_path": "/a.py"}, "x = 1"))
    code, out, err = history("import", bad, packed, "absent", tmp_path, body, "--json")
    assert code == 3
    found = lines(out)
    assert [line["conversation"] for line in found] == ["session.v2", "body"]
    assert found[0] == {
        "file": str(packed), "conversation": "session.v2", "lines": 38, "skipped": 0, "commits": 38, "unread": 1,
        "truncated": 0, "unread_messages": {"count": 0, "total": 37, "first": [], "texts": 0},
    }  # fmt: skip
    assert err.splitlines() == [
        f"{bad}: not JSON at byte 0: expecting value",
        "absent: no such file",
        f"{tmp_path}: is a directory without events",
    ]


def test_import_into_one_conversation(history, example, db, write):
    body = write("body.json", ("Read", {"file_path": "/a.py"}, "x = 1"))
    code, _, err = history("import", example, body, "--conversation", "all", "--tenant", "me")
    assert code == 0
    assert err.count("conversation 'all'") == 2
    with Tract.open(db, tenant="me") as tract:
        assert tract.conversations() == ["all"]


def test_two_files_of_one_name_are_two_conversations(history, example, tmp_path):
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "session.jsonl"
    other.write_text('{"role": "user", "content": "Hello."}\n' * 2)
    code, _, err = history("import", example, other, example)
    assert code == 2
    assert f"{other}: the conversation 'session' already belongs to {example}" in err
    assert err.count(f"{example}: ") == 2
    assert history("import", other)[0] == 1
    assert "line 1 is not what was imported" in history("import", other)[2]
    assert history("import", other)[2].count(str(other)) == 1
    assert history("import", other, "--conversation", "other")[0] == 0


def test_a_name_that_no_conversation_has(history, db, tmp_path, example):
    strange = tmp_path / "strange\udcff.jsonl"
    try:
        strange.write_bytes(example.read_bytes())
    except (OSError, UnicodeEncodeError):
        pytest.skip("file names are texts here")
    code, _, err = history("import", strange, example)
    assert code == 2
    assert "conversation: " in err
    assert "conversation 'session'" in err


def test_import_of_a_missing_file_creates_no_store(history, db):
    assert history("import", "absent")[0] == 3
    assert history("import", "-")[0] == 2
    assert not db.exists()


@pytest.mark.parametrize("content", ["", "\n", "no conversation", '{"role": "us'])
def test_import_of_no_conversation_makes_no_store(history, db, tmp_path, example, content):
    bad = tmp_path / "bad.jsonl"
    bad.write_text(content)
    code, out, err = history("import", bad)
    assert (code, out) == (1, "")
    reason = "" if content.strip() else "is empty\n"
    assert err.startswith(f"{bad}: {reason}")
    assert not db.exists()
    assert history("import", bad, example)[0] == 1
    with Tract.open(db) as tract:
        assert tract.conversations() == ["session"]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no names")
def test_import_from_a_pipe_into_a_new_store(history, db, example):
    reader, writer = os.pipe()
    with ThreadPoolExecutor(1) as pool, os.fdopen(writer, "wb") as pipe:
        writing = pool.submit(lambda: (pipe.write(example.read_bytes()), pipe.close()))
        code = history("import", f"/dev/fd/{reader}", "--conversation", "session")[0]
        writing.result()
    os.close(reader)
    assert code == 0
    with Tract.open(db, conversation="session") as tract:
        assert b"".join(tract.export()) == example.read_bytes()


def test_on_postgresql(history, example, postgres):
    url = postgres.url()
    code, _, err = history("log", target=url)
    assert code == 6  # there are no tables yet, and reading makes none
    assert "open it for writing once" in err
    assert "38 new commits, 1 of them" in history("import", example, target=url)[2]
    assert "0 new commits, 38 skipped" in history("import", example, target=url)[2]
    assert len(history("log", target=url)[1].splitlines()) == 36  # of the only one
    assert history("export", target=url)[1].encode() == example.read_bytes()
    assert history("verify", target=url) == (0, "38 commits checked; all intact\n", "")
    assert history("turns", target=url)[1].count("Bash")
    assert "conversation   session\n" in history("stats", target=url)[1]
    history("import", example, "--conversation", "other", target=url)
    code, _, err = history("log", target=url)
    assert code == 3
    assert "no conversation 'default'; the store has 'session', 'other'" in err
    assert len(history("log", "--conversation", "other", target=url)[1].splitlines()) == 36
