"""The exit codes of ``toolcarry history``, and its behaviour with damage, other writers, signals and pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from support.builders.histories import many
from support.clocks import wait_until
from support.servers.stores import TELL_WHEN_WAITING, held

from toolcarry.cli import main
from toolcarry.tract import Tract

READERS = (["log"], ["show", "0" * 8], ["turns"], ["verify"], ["export"], ["stats"])

LOADED = """
import sys
from toolcarry.cli import main
sys.stdout.write(str(main(sys.argv[1:])))
found = {name.partition(".")[0] for name in sys.modules}
sys.stdout.write(" ".join(["", *sorted(found & {"apsw", "psycopg", "rich", "sqlite3"})]))
"""

WAITING = f"""
{TELL_WHEN_WAITING}
import sys
from toolcarry.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def db(db: Path) -> Path:
    """A store with a short conversation."""
    with Tract.open(db) as tract:
        tract.user("Run the tests.")
        tract.assistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": {}}])
        tract.tool_result("t1", "Bash", "3 passed")
    return db


def change(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ([], "Usage: toolcarry history"),
        (["log"], "Missing option '--db'"),
        (["log", "--db", ""], "target: '' is not allowed"),
        (["log", "--db", ":memory:"], "name a file or a URL"),
        (["import", "a", "--db", ":memory:"], "name a file or a URL"),
        (["log", "--db", "a.db", "--conversaton", "x"], "--conversation"),
        (["log", "--db", "a.db", "-n", "-1"], "'-n'"),
        (
            ["import", "pyproject.toml", "--db", "a.db", "--busy-timeout", "nan"],
            "busy_timeout: nan",
        ),
        (["log", "--db", "postgresql://[::1"], "the URL is not allowed"),
        (["lgo", "--db", "a.db"], "Did you mean 'log'?"),
        (["show", "--db", "a.db"], "Missing argument 'HASH|REFERENCE'"),
        (["show", "0" * 8, "--db", "a.db", "--raw", "--json"], "not allowed together with --raw"),
        (
            ["stats", "--db", "a.db", "--all", "--conversation", "x"],
            "not allowed together with --all",
        ),
        (["import", "--db", "a.db"], "Missing argument 'FILE"),
    ],
)
def test_usage(capfdbinary, monkeypatch, db, args, reason):
    monkeypatch.chdir(db.parent)
    (db.parent / "pyproject.toml").touch()
    assert main(["history", *args]) == 2
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert reason in err.decode()
    assert not (db.parent / "a.db").exists()


def test_help(run):
    assert run("history", "import", "--help").returncode == 0
    done = run("--help")
    assert done.returncode == 0
    assert "5 the store is damaged; 6 the store has another schema version" in " ".join(
        done.stdout.decode().split()
    )


@pytest.mark.parametrize("args", [["--help"], ["history", "log", "--help"]])
def test_a_start_imports_no_database(environment, args):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *args], capture_output=True, check=True, env=environment
    )
    assert done.stdout.split()[-1] == b"0"


def test_a_list_needs_no_rich(environment, db):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "history", "log", "--db", db],
        capture_output=True,
        check=True,
        env=environment,
    )
    assert done.stdout.split()[-2:] == [b"0", b"apsw"]


@pytest.mark.parametrize("args", READERS)
def test_reading_commands_create_no_store(history, tmp_path, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    before = list(tmp_path.iterdir())
    assert history(*args, target="absent.db") == (
        3,
        "",
        "toolcarry: --db absent.db: no such file\n",
    )
    assert list(tmp_path.iterdir()) == before


def test_not_found(history, db, example):
    code, _, err = history("import", example, example, target="no/such/folder.db")
    assert (code, err) == (3, "toolcarry: --db no/such/folder.db: no such directory\n")
    code, _, err = history("show", "0" * 12)
    assert code == 3
    assert "has no such commit" in err
    assert history("show", "7")[0] == 3
    for args in READERS:
        if args != ["verify"]:
            code, out, err = history(*args, "--conversation", "a\x1b[1mb")
            assert (code, out) == (3, "")
            assert err == "toolcarry: no conversation 'ab'; the store has 'default'\n"
    code, _, err = history("log", target=db.parent)
    assert (code, "is a directory" in err) == (1, True)


def test_a_file_that_is_no_store(history, tmp_path, example):
    path = tmp_path / "text.db"
    path.write_text("hello\n" * 1000)
    for args in (*READERS, ["import", example]):
        code, out, err = history(*args, target=path)
        assert (code, out) == (5, "")
        assert "is damaged: file is not a database" in err
        assert err.count("\n") == 1


def test_damage(run, db):
    """Damage is reported, and the commits before it stay readable."""
    change(
        db,
        "UPDATE tract_contents SET data = x'6869' WHERE id = (SELECT max(id) FROM tract_contents)",
    )
    done = run("history", "verify", "--db", db)
    assert (done.returncode, done.stderr) == (1, b"")
    rows = done.stdout.decode().splitlines()
    assert rows[0].startswith("damaged: conversation 'default', commit 3 (")
    assert rows[-1] == "3 commits checked; 1 damaged, 0 already lost"
    done = run("history", "verify", "--json", "--db", db)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["is_whole"], found["damaged"][0]["sequence"]) == (False, 3)
    done = run("history", "log", "--db", db)
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"toolcarry: commit " in done.stderr
    assert run("history", "log", "--json", "--db", db).returncode == 0
    done = run("history", "export", "--db", db, "-o", "out.jsonl")
    assert done.returncode == 5
    assert not (db.parent / "out.jsonl").exists()


def test_lost_commits_stay_reported(history, db, tmp_path):
    change(db, "UPDATE tract_contents SET data = x'6869' WHERE id = 1")
    mended = tmp_path / "mended.db"
    with Tract.open(db, read_only=True) as tract:
        tract.repair(mended)
    code, out, _ = history("verify", target=mended)
    assert code == 1
    assert out.startswith("lost: conversation 'default', commit 1: ")
    assert out.endswith(" commits checked; 0 damaged, 1 already lost\n")


def test_pages_that_are_overwritten(run, db):
    data = bytearray(db.read_bytes())
    data[4096 : 4096 * 8] = os.urandom(4096 * 7)
    db.write_bytes(data)
    done = run("history", "verify", "--db", db)
    assert done.returncode == 1
    assert done.stdout.startswith(b"damaged: ")
    assert run("history", "log", "--db", db).returncode == 5


def test_a_newer_store(history, db, example):
    change(db, "PRAGMA user_version = 9")
    for args in (*READERS, ["import", example]):
        code, out, err = history(*args)
        assert (code, out) == (6, "")
        assert "upgrade toolcarry" in err


def test_a_busy_store(run, db, example):
    with held(db):
        done = run("history", "import", example, "--db", db, "--busy-timeout", "0.2")
        assert (done.returncode, done.stdout) == (4, b"")
        assert done.stderr.startswith(b"toolcarry: ")
        assert b"is busy" in done.stderr
        assert run("history", "log", "--db", db).returncode == 0
    assert run("history", "import", example, "--db", db).returncode == 0


def test_broken_pipe(command, environment, db):
    for args in (["log"], ["log", "--json"], ["export"], ["verify"], ["stats", "--all"], ["turns"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [*command, "history", *args, "--db", db],
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            env=environment,
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (141, b""), args


def test_closed_stdout(command, environment, db, example):
    for args, code in ((["log"], 1), (["verify"], 1), (["import", example], 0)):
        done = subprocess.run(
            ["bash", "-c", '"$@" >&-', "-", *command, "history", *args, "--db", db],
            capture_output=True,
            check=False,
            env=environment,
        )
        assert done.returncode == code
        assert b"Traceback" not in done.stderr


def test_interrupt(command, environment, run, tmp_path):
    """An interrupted import keeps what it has written, and the same command resumes it."""
    long, db = many(tmp_path / "long.jsonl", 25_000, 20), tmp_path / "new.db"
    args = [*command, "history", "import", long, "--db", db]
    process = subprocess.Popen(args, stderr=subprocess.PIPE, env=environment)
    log = Path(f"{db}-wal")

    def is_under_way():
        assert process.poll() is None
        return log.exists() and log.stat().st_size > 500_000

    wait_until(is_under_way, what="the import to be under way")
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert errors.decode().splitlines() == [
        "interrupted: the store is intact; run the same command again to continue"
    ]
    done = run("history", "verify", "--db", db)
    assert done.returncode == 0
    checked = int(done.stdout.split()[0].replace(b",", b""))
    assert 0 < checked < 25_000
    done = run("history", "import", long, "--db", db)
    assert (
        f"25,000 records, {25_000 - checked:,} new commits, {checked:,} skipped"
        in done.stderr.decode()
    )
    assert run("history", "export", "--conversation", "long", "--db", db).stdout == (
        long.read_bytes()
    )


def test_interrupt_while_others_keep_the_store_busy(environment, db, example):
    args = ["history", "import", example, "--db", db, "--busy-timeout", "60"]
    with held(db):
        process = subprocess.Popen(
            [sys.executable, "-c", WAITING, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert errors.startswith(b"interrupted: ")
