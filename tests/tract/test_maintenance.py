"""Maintenance of a store: proofs, statistics, archives, and the only deletion."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support.builders.talks import work
from support.servers.postgres import PostgresServer

from toolcarry import ConfigError
from toolcarry.errors import StoreDamagedError, StoreError
from toolcarry.tract import Tract

SOON = datetime.now(UTC) + timedelta(days=1)


def test_statistics(tract: Tract) -> None:
    assert tract.stats().commits == 0
    commits = work(tract)
    tract.tool_result("t0", "Grep", "short", edit=commits[2].commit_hash)
    found = tract.stats()
    assert found.commits == 9
    assert found.kinds == {"message": 2, "call": 3, "result": 3, "edit": 1}
    assert found.tokens == sum(commit.token_count for commit in commits)
    texts = {tract.get_content(commit) for commit in tract.log()}
    assert found.content_bytes == sum(len(text.encode()) for text in texts)
    assert 0 < found.stored_bytes <= found.content_bytes


def test_long_contents_are_packed_and_stored_once(tract: Tract) -> None:
    text = "the same line\n" * 10_000
    for number in range(3):
        tract.tool_result(f"t{number}", "Bash", text)
    found = tract.stats()
    assert found.content_bytes == len(text)
    assert found.stored_bytes < len(text) / 50
    assert {tract.get_content(commit) for commit in tract.log()} == {text}


def test_forgetting_is_for_one_conversation(durable_target: str) -> None:
    with Tract.open(durable_target) as tract, Tract.open(durable_target, tenant="b") as other:
        kept, gone = tract.in_conversation("kept"), tract.in_conversation("gone")
        for each in (kept, gone, other):
            each.user("shared")
        gone.user("gone")
        assert gone.forget()
        assert not gone.forget()
        assert gone.log() == []
        assert tract.conversations() == ["kept"]
        for each in (kept, other):
            assert [each.get_content(commit) for commit in each.log()] == ["shared"]
        assert kept.forget("kept")
        assert other.get_content(other.log()[0]) == "shared"
        assert tract.verify().is_whole
        assert gone.user("new").sequence == 1
        assert [gone.get_content(commit) for commit in gone.log()] == ["new"]


def test_an_archive_has_the_old_conversations(durable_target: str, tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    with Tract.open(durable_target, tenant="a") as tract:
        work(tract.in_conversation("one"))
        work(tract.in_conversation("two"))
        Tract.in_conversation(tract, "three").user("hi")
        log = tract.in_conversation("one").log()
        assert tract.archive(path, before=datetime(2020, 1, 1, tzinfo=UTC)).conversations == ()
        done = tract.archive(path, before=SOON)
        assert done.conversations == ("one", "two", "three")
        assert done.commits == 17
        assert tract.conversations() == []
        assert tract.verify().checked == 0
    with Tract.open(path, tenant="a", conversation="one") as archived:
        assert archived.log() == log
        assert archived.verify().is_whole
        assert archived.user("It goes on.").sequence == 9


def test_a_store_is_no_archive_of_itself(
    durable_target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whatever name: what was copied to itself would be deleted as moved."""
    monkeypatch.chdir(tmp_path)
    names = [durable_target]
    if durable_target.startswith("postgresql://"):
        names.append(durable_target.replace("postgresql://", "postgres://"))
        names.append(f"{durable_target}&application_name=other")
    else:
        path = Path(durable_target)
        (tmp_path / "symbolic.db").symlink_to(path)
        names += [path.name, f"./{path.name}", "symbolic.db"]
    with Tract.open(durable_target) as tract:
        commits = work(tract)
        for name in names:
            with pytest.raises(ConfigError, match=r"target: .* is this store"):
                tract.archive(name, before=SOON)
        assert tract.log() == commits[::-1]
        assert tract.verify().is_whole


def test_another_schema_of_a_server_is_another_store(postgres: PostgresServer) -> None:
    url = postgres.url()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA old")
    archive = f"{url}&options=-csearch_path%3Dold"
    with Tract.open(url) as tract:
        log = work(tract)[::-1]
        assert tract.archive(archive, before=SOON).conversations == ("default",)
    with Tract.open(archive) as archived:
        assert archived.log() == log


def test_memory_keeps_nothing_for_others(tract: Tract) -> None:
    commits = work(tract)
    with pytest.raises(ConfigError, match="target: ':memory:' is not allowed"):
        tract.archive(":memory:", before=SOON)
    with pytest.raises(ConfigError, match="path: ':memory:' is not allowed"):
        tract.repair(":memory:")
    assert tract.log() == commits[::-1]


def test_an_archive_takes_no_other_conversation_for_this_one(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    with Tract.open(path) as archived:
        archived.user("another")
    with Tract.open(tmp_path / "history.db") as tract:
        commits = work(tract)
        with pytest.raises(StoreError, match="has another conversation 'default'"):
            tract.archive(path, before=SOON)
        assert len(tract.log()) == len(commits)
    with Tract.open(path) as archived:
        assert len(archived.log()) == 1


def test_a_conversation_that_goes_on_after_its_archive_is_archived_next_to_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "archive.db"
    logs = []
    with Tract.open(tmp_path / "history.db", conversation="one") as tract:
        for turn in range(3):
            work(tract, turn + 1)
            logs.append([commit.commit_hash for commit in tract.log()])
            if turn == 1:
                work(tract.in_conversation("two"))
            done = tract.archive(path, before=SOON)
            assert done.conversations == (("one", "two") if turn == 1 else ("one",))
        assert tract.conversations() == []
    with Tract.open(path) as archived:
        assert archived.conversations() == ["one", "one#2", "two", "one#3"]
        names = ("one", "one#2", "one#3")
        found = [
            [each.commit_hash for each in archived.in_conversation(name).log()] for name in names
        ]
        assert found == logs
        assert archived.verify().is_whole


def test_an_archive_asks_the_newest_time_and_not_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock went back: the last commit is older than one before it."""
    with Tract.open(tmp_path / "history.db") as tract:
        tract.user("today")
        monkeypatch.setattr("time.time_ns", lambda: 1_000_000_000_000)
        last = tract.user("with the wrong clock")
        assert last.created_at.year == 1970
        limit = last.created_at + timedelta(days=1)
        assert tract.archive(tmp_path / "archive.db", before=limit).conversations == ()
        assert len(tract.log()) == 2


def test_a_tenant_verifies_and_repairs_its_own_alone(durable_target: str, tmp_path: Path) -> None:
    with Tract.open(durable_target, tenant="a") as tract:
        tract.user("a's")
    with Tract.open(durable_target, tenant="b") as other:
        other.append_many([{"role": "user", "content": str(turn)} for turn in range(3)])
        assert (other.verify().checked, other.verify(all_tenants=True).checked) == (3, 4)
        assert other.repair(tmp_path / "b.db").saved == 3
        assert other.repair(tmp_path / "all.db", all_tenants=True).saved == 4
    for tenant, count in (("a", 0), ("b", 3)):
        with Tract.open(tmp_path / "b.db", tenant=tenant) as copy:
            assert len(copy.log()) == count
    assert b"a's" not in (tmp_path / "b.db").read_bytes()


def test_an_archive_that_broke_off_is_gone_on_with(tmp_path: Path) -> None:
    """Rows that were copied and not yet deleted exist twice; the next run continues with them."""
    path = tmp_path / "archive.db"
    with Tract.open(tmp_path / "history.db") as tract:
        work(tract)
        tract.repair(path)  # the same rows
        log = tract.log()
        done = tract.archive(path, before=SOON)
        assert (done.conversations, done.commits) == (("default",), 0)
    with Tract.open(path) as archived:
        assert archived.log() == log


def test_a_repair_of_an_undamaged_store(durable_target: str, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with Tract.open(durable_target) as tract:
        work(tract)
        tract.in_conversation("other").user("hi")
        tract.in_conversation("gone").user("hi")
        tract.forget("gone")
        done = tract.repair(path)
        assert (done.saved, done.lost) == (9, ())
        with Tract.open(path) as new:
            assert new.log() == tract.log()
            assert new.compile() == tract.compile()
            assert new.verify().checked == 9
            assert new.verify().is_whole
        with pytest.raises(ConfigError, match="allowed: a new file"):
            tract.repair(path)


def test_refused_arguments(tract: Tract, tmp_path: Path) -> None:
    for before in (datetime(2026, 1, 1), "yesterday"):  # noqa: DTZ001 - without a time zone
        with pytest.raises(ConfigError, match="before"):
            tract.archive(tmp_path / "a.db", before=before)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="limit"):
        tract.log(-1)
    for target in ("", "a\0b"):
        with pytest.raises(ConfigError, match="target"):
            Tract.open(target)
    with pytest.raises(StoreError, match="can't be created"):
        Tract.open(tmp_path / "none" / "history.db")
    with pytest.raises(StoreError):
        Tract.open(tmp_path)


@pytest.mark.parametrize("missing", [1, 4, 7])
def test_a_commit_that_is_gone_is_missed(durable_target: str, tmp_path: Path, missing: int) -> None:
    """Each commit names the one before it, so that none can leave unnoticed."""
    with Tract.open(durable_target) as tract:
        work(tract)
        statement = "DELETE FROM tract_commits WHERE sequence = ?"
        tract._log.database.write(lambda run: run.run(statement, (missing,)))
        for read in (tract.log, tract.compile, tract.stats, lambda: list(tract.export())):
            with pytest.raises(StoreDamagedError, match=f"number {missing} of the conversation"):
                read()  # type: ignore[operator]
        assert [damage.sequence for damage in tract.verify().damaged] == [missing]
        assert len(tract.log(1)) == 1
        done = tract.repair(tmp_path / "new.db")
        assert [damage.sequence for damage in done.lost] == [missing]
    with Tract.open(tmp_path / "new.db") as tract:
        assert len(tract.log()) == 7
        assert len(list(tract.export())) == 7
        assert tract.verify().damaged == ()
        assert [damage.sequence for damage in tract.verify().lost] == [missing]
        assert tract.user("It goes on.").sequence == 9
        assert tract.archive(tmp_path / "archive.db", before=SOON).conversations == ("default",)
    with Tract.open(tmp_path / "archive.db") as tract:
        assert [damage.sequence for damage in tract.verify().lost] == [missing]
        assert len(tract.log()) == 8


def test_what_a_killed_repair_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    """A process that is killed can't remove its files; those of a repair that still runs are left alone."""
    new = tmp_path / "new.db"
    store = tmp_path / "history.db"
    with Tract.open(store) as tract:
        tract.user("kept")
    code = "\n".join(
        [
            "import sys",
            "from toolcarry.tract import Tract, maintenance",
            "maintenance.salvage = lambda *_: (print('runs', flush=True), sys.stdin.read())",
            f"Tract.open({str(store)!r}).repair({str(new)!r})",
        ]
    )
    command = [sys.executable, "-c", code]
    options: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        subprocess.Popen(command, **options) as killed,
        subprocess.Popen(command, **options) as runs,
    ):
        for process in (killed, runs):
            assert process.stdout is not None
            assert process.stdout.readline() == b"runs\n"
        left = {file.name.split(".")[2] for file in tmp_path.glob("new.db.*")}
        assert len(left) == 2
        killed.kill()
        killed.wait()
        with Tract.open(store) as tract:
            assert tract.repair(new).saved == 1
        assert len({file.name.split(".")[2] for file in tmp_path.glob("new.db.*")}) == 1
        runs.kill()
    new.unlink()
    with Tract.open(store) as tract:
        assert tract.repair(new).saved == 1
    assert [file.name for file in tmp_path.glob("new.db*")] == ["new.db"]


def test_processes_archive_into_one_store(tmp_path: Path) -> None:
    """Each conversation is there once and whole, whichever process has moved it."""
    store, target = tmp_path / "history.db", tmp_path / "archive.db"
    with Tract.open(store) as tract:
        for name in range(30):
            said = [{"role": "user", "content": f"{name} {turn}" + "x" * 200} for turn in range(40)]
            tract.in_conversation(f"c{name}").append_many(said)
    code = (
        "import sys; from datetime import datetime, UTC; from toolcarry.tract import Tract; "
        f"t = Tract.open({str(store)!r}, busy_timeout=30); print('runs', flush=True); sys.stdin.readline(); "
        f"print(len(t.archive({str(target)!r}, before=datetime.now(UTC)).conversations))"
    )
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    options: Any = {**pipes, "text": True}
    running = [subprocess.Popen([sys.executable, "-c", code], **options) for _ in range(3)]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "runs\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=60)[1].strip() for process in running]
    # A reader may keep deleted rows in the log for longer than a slow machine waits, as with any deletion.
    assert all("StoreBusyError" in error.rpartition("\n")[2] for error in errors if error)
    with Tract.open(store) as tract:
        tract.archive(target, before=SOON)
    with Tract.open(store) as tract, Tract.open(target) as kept:
        assert tract.conversations() == []
        assert sorted(kept.conversations()) == sorted(f"c{name}" for name in range(30))
        assert kept.verify().is_whole
        assert all(len(kept.in_conversation(f"c{name}").log()) == 40 for name in range(30))
