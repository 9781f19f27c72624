"""The stores of agents: found, added to, and what was added taken back."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.builders.opencode_store import opencode_store
from support.rows import for_each

from toolcarry import InputError
from toolcarry.sessions import WrittenSession, write_session
from toolcarry.sessions.agents import AGENTS, agent_named
from toolcarry.sessions.find import find_sessions
from toolcarry.sessions.heads import head_of
from toolcarry.sessions.undo import note_written, state_folder, take_back
from toolcarry.sessions.writers import WRITERS

pytestmark = pytest.mark.usefixtures("rust")

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Count the hens."},
    {"role": "assistant", "content": "Forty."},
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables that move the stores of all agents, and toolcarry's own list."""
    opencode_store(tmp_path / "opencode" / "opencode" / "opencode.db")
    moved = {each.variable: str(tmp_path / each.name) for each in AGENTS}
    return {**moved, "XDG_STATE_HOME": str(tmp_path / "state")}


def written(agent: str, environment: dict[str, str], directory: Path) -> WrittenSession:
    return write_session(TALK, agent, directory=directory, environment=environment)


def test_what_is_written_is_found(environment: dict[str, str], tmp_path: Path) -> None:
    farm = tmp_path / "a farm"
    farm.mkdir()
    ids = {agent: written(agent, environment, farm).session_id for agent in WRITERS}
    found = find_sessions(environment)
    assert {each.agent: each.session_id for each in found} == ids
    assert [each.changed for each in found] == sorted((each.changed for each in found), reverse=True)  # fmt: skip
    assert all(each.is_in(farm) for each in found)
    assert not any(each.is_in(tmp_path) for each in found)
    for agent, name in ids.items():
        [only] = find_sessions(environment, agent=agent)
        assert only.session_id == name


def test_a_directory_that_is_a_link(environment: dict[str, str], tmp_path: Path) -> None:
    farm = tmp_path / "farm"
    farm.mkdir()
    (tmp_path / "link").symlink_to(farm)
    written("claude", environment, tmp_path / "link")
    [found] = find_sessions(environment)
    assert found.is_in(farm)


def test_the_heads_of_files(tmp_path: Path) -> None:
    path = tmp_path / "rollout-s1.jsonl.gz"
    meta = {"type": "session_meta", "payload": {"id": "s1", "cwd": "/barn"}}
    path.write_bytes(gzip.compress(json.dumps(meta).encode()))
    assert head_of(path) == ("s1", "/barn", False)
    meta["payload"]["source"] = {"subagent": "review"}  # type: ignore[index]
    path.write_bytes(gzip.compress(json.dumps(meta).encode()))
    assert head_of(path).is_side
    chat = tmp_path / "barn" / "chats" / "session-1.json"
    chat.parent.mkdir(parents=True)
    chat.write_text(json.dumps({"sessionId": "s2", "projectHash": "ff", "messages": []}, indent=2))
    assert head_of(chat) == ("s2", "sha256:ff", False)
    (tmp_path / "barn" / ".project_root").write_text("/barn\n")
    assert head_of(chat) == ("s2", "/barn", False)
    odd = tmp_path / "odd.jsonl"
    odd.write_bytes(b'\xff\n[]\n{"cwd": 7}\n')
    assert head_of(odd) == ("odd", "", False)


def test_gemini_cli_keeps_its_own_name_of_a_directory(environment: dict[str, str], tmp_path: Path) -> None:  # fmt: skip
    root = tmp_path / "gemini" / ".gemini"
    root.mkdir(parents=True)
    place = os.path.realpath(tmp_path)
    for named, folder in ({place: "farm"}, "farm"), ({place: "../farm"}, None), ([], None):
        (root / "projects.json").write_text(json.dumps({"projects": named}))
        path = written("gemini", environment, tmp_path).path
        found = path.parent.parent
        assert found.parent == root / "tmp"
        assert (found.name == folder) if folder else (len(found.name) == 64)


@for_each("agent", WRITERS)
def test_a_session_is_taken_back(environment: dict[str, str], tmp_path: Path, agent: str) -> None:
    kept = written(agent, environment, tmp_path)
    first = written(agent, environment, tmp_path)
    note_written(environment, agent, first.session_id, first.path)
    assert take_back(environment).session_id == first.session_id
    left = [each.session_id for each in find_sessions(environment, agent=agent)]
    assert kept.session_id in left
    assert first.session_id not in left
    with pytest.raises(InputError, match="no session that toolcarry wrote is left"):
        take_back(environment)
    with pytest.raises(InputError, match="no session 'other'"):
        take_back(environment, "other")


def test_a_session_of_opencode_that_went_on_stays(environment: dict[str, str], tmp_path: Path) -> None:  # fmt: skip
    session = written("opencode", environment, tmp_path)
    note_written(environment, "opencode", session.session_id, session.path)
    with closing(sqlite3.connect(session.path)) as store:
        store.execute("INSERT INTO message VALUES ('m', ?, 1, 1, '{}')", (session.session_id,))
        store.commit()
    with pytest.raises(InputError, match="was changed after toolcarry wrote it"):
        take_back(environment, session.session_id)
    assert len(find_sessions(environment, agent="opencode")) == 1


def test_a_list_with_other_lines(environment: dict[str, str], tmp_path: Path) -> None:
    session = written("claude", environment, tmp_path)
    file = note_written(environment, "claude", session.session_id, session.path)
    with file.open("a") as opened:
        opened.write('no JSON\n{"agent": 1, "more": 2}\n[]\n')
    assert take_back(environment).path == str(session.path)


def test_the_state_folders() -> None:
    assert state_folder({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/toolcarry")
    assert state_folder({"HOME": "/ann"}, "darwin") == Path("/ann/Library/Application Support/toolcarry")  # fmt: skip
    assert state_folder({"HOME": "/ann", "XDG_STATE_HOME": "relative"}, "linux") == Path("/ann/.local/state/toolcarry")  # fmt: skip


def test_the_plan_and_the_model_of_opencode(environment: dict[str, str], tmp_path: Path) -> None:
    todos = [
        {"content": text, "status": "pending", "activeForm": text} for text in ("Count", "Feed")
    ]
    talk = [*TALK, {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "TodoWrite", "input": {"todos": todos}}]}]  # fmt: skip
    path = tmp_path / "opencode" / "opencode" / "opencode.db"
    model = {"providerID": "farm", "modelID": "hen-1"}
    with closing(sqlite3.connect(path)) as store:
        store.execute("INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES ('s', 'global', 's', '/', 's', '1.2.3', 1, 1)")  # fmt: skip
        for number, data in enumerate([{"model": model}, {"role": "assistant"}, {"model": 7}, []]):
            store.execute("INSERT INTO message VALUES (?, 's', ?, 1, ?)", (f"m{number}", number, json.dumps(data)))  # fmt: skip
        store.commit()
    session = write_session(talk, "opencode", directory=tmp_path, environment=environment)
    with closing(sqlite3.connect(path)) as store:
        rows = store.execute("SELECT content, status, priority FROM todo ORDER BY position").fetchall()  # fmt: skip
        asked = store.execute("SELECT data FROM message WHERE session_id = ? ORDER BY time_created", (session.session_id,)).fetchone()  # fmt: skip
        version = store.execute("SELECT version FROM session WHERE id = ?", (session.session_id,)).fetchone()  # fmt: skip
    assert rows == [("Count", "pending", "medium"), ("Feed", "pending", "medium")]
    assert json.loads(asked[0])["model"] == model
    assert version == ("1.2.3",)
    note_written(environment, "opencode", session.session_id, session.path)
    take_back(environment)
    with closing(sqlite3.connect(path)) as store:
        counts = [store.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("session", "message", "part", "todo")]  # fmt: skip
    assert counts == [1, 4, 0, 0]


def test_opencode_is_not_known_yet(environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="opencode has no store there; start it once"):
        written("opencode", {**environment, "XDG_DATA_HOME": str(tmp_path / "none")}, tmp_path)
    with closing(sqlite3.connect(tmp_path / "opencode" / "opencode" / "opencode.db")) as store:
        store.execute("DELETE FROM project")
        store.commit()
    with pytest.raises(InputError, match="yet; start it there once"):
        written("opencode", environment, tmp_path)


CHANGES = [
    ("ALTER TABLE session ADD COLUMN mood text NOT NULL DEFAULT 'calm'", None),
    ("ALTER TABLE message ADD COLUMN mood text", None),
    ("ALTER TABLE part DROP COLUMN time_updated", "table part has another structure"),
    ("DROP TABLE message", "another structure|can't be used"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "told"), CHANGES)
def test_another_structure_of_opencode(
    environment: dict[str, str], tmp_path: Path, change: str, told: str | None
) -> None:
    path = tmp_path / "opencode" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as store:
        store.execute(change)
        store.commit()
    if told is None:
        written("opencode", environment, tmp_path)
        return
    with pytest.raises(InputError, match=told):
        written("opencode", environment, tmp_path)
    with closing(sqlite3.connect(path)) as store:
        assert store.execute("SELECT count(*) FROM session").fetchone() == (0,)


def test_a_file_that_is_no_store(environment: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "opencode" / "opencode" / "opencode.db"
    path.write_bytes(b"no database, but long enough to be read as one" * 100)
    with pytest.raises(InputError, match="can't be used: file is not a database"):
        written("opencode", environment, tmp_path)
    assert find_sessions(environment) == []


def test_the_commands_of_agents() -> None:
    path = Path("barn.jsonl")
    assert [each.resume_command("s1", path) for each in AGENTS] == [
        ["claude", "--resume", "s1"],
        ["codex", "resume", "s1"],
        ["gemini", "--resume", "s1"],
        ["opencode", "--session", "s1"],
        ["pi", "--session", "barn.jsonl"],
    ]
    assert agent_named("gemini").start_command("Hi.") == ["gemini", "--prompt-interactive", "Hi."]
