"""Jobs that exist in Rust alone: on the Python fallback each of their entries raises an error that names the job."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.builders import wire

import toolcarry
from toolcarry import AgentConfig, BackendError, _backend
from toolcarry.cli import main
from toolcarry.integrations.recorder import Recorder
from toolcarry.tract import Tract

TALK = [{"role": "user", "content": "Go."}, *wire.bash("ls", "a.py"), {"odd": 1}]
BODY = json.dumps(TALK).encode()
LINES = b"\n".join(json.dumps(message).encode() for message in TALK)
FOREIGN = [{"step_id": 1, "source": "user", "message": "Hi."}]
CONFIG = AgentConfig("none.json")
ENTRIES: dict[str, tuple[str, Callable[[], object]]] = {
    "inspect": ("inspect", lambda: toolcarry.inspect(TALK)),
    "inspect of nothing": ("inspect", lambda: toolcarry.inspect([])),
    "inspect of bytes": ("inspect", lambda: toolcarry.inspect(LINES)),
    "inspect of another producer": ("inspect", lambda: toolcarry.inspect(FOREIGN)),
    "project": ("project", lambda: toolcarry.project(TALK)),
    "project_body": ("project", lambda: toolcarry.project_body(BODY)),
    "check": ("check", lambda: toolcarry.check(BODY)),
    "recount": ("recount", lambda: toolcarry.recount(TALK)),
    "recount of bytes": ("recount", lambda: toolcarry.recount(BODY)),
    "recount with calls": ("recount", lambda: toolcarry.recount(BODY, tool_calls=[{"name": "f"}])),
    "a page": ("recount", lambda: toolcarry.read_conversation_data(TALK, {}, config=CONFIG)),
}
COMMANDS = {
    "check": ("check", "check", "TALK"),
    "project": ("project", "project", "TALK"),
    "inspect": ("inspect", "inspect", "TALK"),
    "inspect of several": ("inspect", "inspect", "TALK", "TALK"),
    "recount": ("recount", "recount", "TALK"),
    "batch": ("inspect", "batch", "TALK", "--job", "inspect", "--out", "rows.jsonl"),
    "batch recount": ("recount", "batch", "TALK", "--job", "recount", "--out", "rows.jsonl"),
}


@pytest.fixture(autouse=True)
def fallback(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The Python fallback, also in the processes of ``batch``."""
    monkeypatch.setenv("TOOLCARRY_BACKEND", "python")
    with _backend.using("python"):
        yield


@pytest.mark.parametrize("name", ENTRIES)
def test_a_function_names_the_job(name: str) -> None:
    job, call = ENTRIES[name]
    with pytest.raises(BackendError, match=f"^{job} needs the Rust extension") as caught:
        call()
    assert caught.value.job == job
    assert pickle.loads(pickle.dumps(caught.value)).job == job


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_names_the_job(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("TALK").write_bytes(BODY)
    job, *words = COMMANDS[name]
    assert main(words) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert f"toolcarry: {job} needs the Rust extension" in found.err


def test_shadow_mode_raises_when_it_is_built(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="inspect"):
        Recorder(tmp_path / "history.db", mode="shadow")
    assert not (tmp_path / "history.db").exists()
    Recorder(tmp_path / "history.db", mode="on").close()


# Jobs next to them that work on both


def test_explain_reports_unread_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(BODY)
    assert main(["carry", "--explain", str(path)]) == 0
    assert "1 of 4 messages" in capsys.readouterr().err


def test_an_import_into_the_history_reports_unread_messages(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(BODY)
    with Tract.open(tmp_path / "history.db", conversation="c") as tract:
        found = tract.import_transcript(path).unread_messages
    assert (found.count, found.total, found.first[0].position) == (1, 4, 3)
