"""A line that holds no JSON object is named by every command that reads the file."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("rust")

Run = Callable[..., subprocess.CompletedProcess[bytes]]

SAID = [
    {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "Boil the egg."}},
    {"type": "assistant", "uuid": "b", "parentUuid": "a", "message": {"role": "assistant", "content": "It is boiled."}},
]  # fmt: skip
DESTINATION = ["--destination", "anthropic"]
COMMANDS = {
    "inspect": ["inspect"],
    "carry": ["carry"],
    "recount": ["recount"],
    "convert": ["convert", *DESTINATION],
    "project": ["project", *DESTINATION],
    "project --json": ["project", "--json", *DESTINATION],
    "check": ["check", *DESTINATION],
    "check --json": ["check", "--json", *DESTINATION],
    "count": ["count"],
}
STRICT = ("inspect", "carry", "recount", "convert", "project")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A session whose second line was cut."""
    first, last = map(json.dumps, SAID)
    path = tmp_path / "session.jsonl"
    path.write_text(f'{first}\n{{"type": "assis\n{last}\n')
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_is_named(run: Run, broken: Path, name: str) -> None:
    done = run(*COMMANDS[name], broken)
    said = (done.stdout + done.stderr).decode()
    if "--json" in name:
        losses = json.loads(done.stdout)["losses"]
        assert {"position": None, "kind": "skipped_lines", "detail": "2"} in losses
    else:
        [line] = [line for line in said.splitlines() if "skipped" in line or "bad lines" in line]
        assert "2" in line.partition(str(broken))[2] or "bad lines" in line


@pytest.mark.parametrize("name", STRICT)
def test_strict_fails(run: Run, broken: Path, name: str) -> None:
    assert run(*COMMANDS[name], broken).returncode == 0
    done = run(*COMMANDS[name], "--strict", broken)
    assert done.returncode == 1
    assert b"skipped" in done.stderr


def test_a_report_shows_them(run: Run, broken: Path, tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed; it is part of the extra report")
    page = tmp_path / "page.html"
    done = run("report", broken, "-o", page)
    assert done.returncode == 0
    assert done.stderr.decode().endswith(": 1 line without a JSON object skipped: 2\n")
    assert 'id="bad_lines" data-value="1"' in page.read_text("utf-8")


@pytest.mark.parametrize("job", ["inspect", "carry", "recount", "project"])
def test_a_batch_counts_them(run: Run, broken: Path, tmp_path: Path, job: str) -> None:
    rows = tmp_path / "rows.jsonl"
    to = DESTINATION if job == "project" else []
    done = run("batch", "--job", job, *to, "--out", rows, broken)
    assert done.returncode == 0
    assert done.stderr.endswith(b"1 file done, 1 with something unread\n")
    row = json.loads(rows.read_bytes())
    assert row["skipped_lines"] == 1
