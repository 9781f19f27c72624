"""``toolcarry history``: what the commands write of a store."""

from __future__ import annotations

import json
from datetime import datetime

from support.builders.histories import CALLS, HOSTILE, lines

from toolcarry.cli import main
from toolcarry.tract import Tract


def test_log(history, talk):
    code, out, err = history("log")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert [row[0] for row in rows] == [
        talk[key][:12] for key in ("edit", "hostile", "bash", "call", "user")
    ]
    assert datetime.fromisoformat(rows[0][1]).tzinfo is not None
    assert rows[2][2:] == ["tool", "Bash", "2", "1", "failed"]
    assert rows[3][2:] == ["assistant", "Bash,", "Read", "3", "I", "will."]
    assert rows[4][-3:] == ["Run", "the", "tests."]
    assert rows[1][2:] == ["user", rows[1][3], "first", "line"]
    assert len(history("log", "-n", "2")[1].splitlines()) == 2
    assert history("log", "-n", "0") == (0, "", "")


def test_log_as_json(history, talk, db):
    found = lines(history("log", "--json")[1])
    with Tract.open(db) as tract:
        commits = tract.log()
    assert [line["commit_hash"] for line in found] == [each.commit_hash for each in commits]
    bash = found[2]
    assert bash["kind"] == "result"
    assert bash["metadata"] == {"tool_call_id": "t1", "name": "Bash", "is_error": True}
    assert datetime.fromisoformat(str(bash["created_at"])) == commits[2].created_at
    assert set(bash) == {
        "commit_hash", "parent_hash", "conversation", "sequence", "role", "kind", "content_hash", "metadata",
        "token_count", "created_at", "time",
    }  # fmt: skip


def test_nothing_that_a_terminal_would_obey_is_shown(history, talk):
    for args in (
        ("log",),
        ("log", "--json"),
        ("show", talk["hostile"]),
        ("show", talk["hostile"], "--json"),
        ("stats", "--all"),
    ):
        code, out, _ = history(*args)
        assert code == 0
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(out)


# show


def test_show(history, talk):
    code, out, err = history("show", talk["call"][:8])
    assert (code, err) == (0, "")
    head, _, text = out.partition("\n\n")
    facts = dict(line.split(maxsplit=1) for line in head.splitlines())
    assert text == "I will.\n"
    assert facts["commit"] == talk["call"]
    assert facts["parent"] == talk["user"]
    assert (facts["role"], facts["kind"], facts["sequence"]) == ("assistant", "call", "2")
    assert head.count("\ntool_calls ") == 2
    assert "version" not in facts
    assert "\nparent        none (first commit)\n" in history("show", talk["user"])[1]


def test_show_of_hostile_text(history, talk):
    out = history("show", talk["hostile"])[1]
    assert out.endswith("\n\nfirst line\nsecond\nthird \ufffd \n")
    assert "\nnote          ab\n" in out
    assert json.loads(history("show", talk["hostile"], "--json")[1])["content"] == HOSTILE


def test_show_lists_versions(history, talk):
    for shown in ("bash", "edit"):
        out = history("show", talk[shown])[1]
        rows = [line.split() for line in out.splitlines() if line.startswith("version ")]
        assert [row[1] for row in rows] == [talk["bash"][:12], talk["edit"][:12]]
        assert [row[-1] for row in rows].index("one)") == ("bash", "edit").index(shown)
    found = json.loads(history("show", talk["edit"], "--json")[1])
    assert found["versions"] == [talk["bash"], talk["edit"]]
    assert (found["kind"], found["content"]) == ("edit", "1")


def test_show_raw(history, example, talk):
    assert history("show", talk["bash"], "--raw")[1] == "1 failed"
    history("import", example)
    name = ("--conversation", "session")
    last = lines(history("log", "-n", "1", "--json", *name)[1])[0]
    raw = history("show", last["commit_hash"], "--raw", *name)[1]
    assert raw.encode() == example.read_bytes().splitlines(keepends=True)[-1]


# turns


def test_turns(history, talk):
    code, out, err = history("turns")
    assert (code, err) == (0, "")
    assert out == (
        f"{talk['call'][:12]}  Bash, Read  4 tokens\n"
        f"  {talk['edit'][:12]}  Bash  1 token  failed\n"
        "  1 without a result\n"
    )
    assert history("turns", "--name", "Read")[1] == out
    assert history("turns", "--name", "Write") == (0, "", "")
    (turn,) = lines(history("turns", "--json")[1])
    assert turn["tool_names"] == ["Bash", "Read"]
    assert turn["total_tokens"] == 4
    assert turn["call"]["commit_hash"] == talk["call"]
    (result,) = turn["results"]
    assert (result["is_error"], result["name"]) == (True, "Bash")


def test_a_turn_with_two_results_of_one_call(history, db):
    with Tract.open(db) as tract:
        tract.assistant("", tool_calls=CALLS)
        tract.tool_result("t1", "Bash", "one")
        tract.tool_result("t1", "Bash", "two")
    assert history("turns")[1].endswith("  1 without a result\n")


# verify, export, stats


def test_verify(history, talk):
    assert history("verify") == (0, "5 commits checked; all intact\n", "")
    found = json.loads(history("verify", "--json")[1])
    assert found == {"checked": 5, "damaged": [], "lost": [], "is_whole": True}


def test_export(history, example, tmp_path, talk):
    history("import", example)
    name = ("--conversation", "session")
    assert history("export", *name)[1].encode() == example.read_bytes()
    out = tmp_path / "out.jsonl"
    assert history("export", *name, "-o", out) == (0, "", "")
    assert out.read_bytes() == example.read_bytes()
    found = lines(history("export")[1])
    assert found[0] == {"role": "user", "content": "Run the tests.\nAll of them."}


def test_export_never_goes_over_the_store(history, talk, db):
    before = db.read_bytes()
    code, _, err = history("export", "-o", db)
    assert code == 2
    assert "is also the input" in err
    assert db.read_bytes() == before


def test_stats(history, talk, example):
    history("import", example)
    code, out, err = history("stats")
    assert (code, err) == (0, "")
    facts = dict(line.split(maxsplit=1) for line in out.splitlines() if "bytes" not in line)
    assert facts == {
        "conversation": "default", "commits": "5", "message": "2", "call": "1", "result": "1", "edit": "1",
        "tokens": facts["tokens"],
    }  # fmt: skip
    (one,) = lines(history("stats", "--json")[1])
    assert one["kinds"] == {"message": 2, "call": 1, "result": 1, "edit": 1}
    table = history("stats", "--all")[1].splitlines()
    assert [row.split()[:2] for row in table if row.startswith(("default", "session", "total"))] == [
        ["default", "5"], ["session", "38"], ["total", "43"],
    ]  # fmt: skip
    both = lines(history("stats", "--all", "--json")[1])
    assert [line["conversation"] for line in both] == ["default", "session"]
    assert both[0] == one


def test_tenants_do_not_see_each_other(history, talk, example):
    history("import", example, "--tenant", "me")
    assert len(history("log", "--tenant", "me")[1].splitlines()) == 36  # of its only one
    assert history("log", "--tenant", "me", "--conversation", "default")[0] == 3
    assert history("log", "--conversation", "session")[0] == 3
    assert "session" not in history("stats", "--all")[1]
    assert history("verify")[1].startswith("43 commits")


def test_the_store_from_the_environment(db, talk, capfdbinary, monkeypatch):
    monkeypatch.setenv("TOOLCARRY_DB", str(db))
    assert main(["history", "verify"]) == 0
    assert capfdbinary.readouterr().out == b"5 commits checked; all intact\n"
