"""The outputs for real transcripts, which are not part of the project, as hashes in a file that git ignores.

``TOOLCARRY_WRITE_GOLDEN=1 pytest tests/golden/test_transcripts.py`` writes the file; do that before a change, and run
the test after it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.goldens import files
from support.goldens.values import digest, outcome, written
from support.transcripts import FILES, TRANSCRIPTS

import toolcarry
from toolcarry import CarryPolicy, ProjectPolicy

HASHES = files.FOLDER / "transcripts.local.txt"
LARGEST = {"rust": 1_000_000, "python": 60_000}
"""The largest file in bytes that is tested, so that the test takes seconds."""

SHORT = CarryPolicy(max_tokens=3_000, max_result_chars=2_000)
REPAIRED = ProjectPolicy(repair=True, max_request_tokens=5_000)


def carry(body: bytes) -> Any:
    found = [toolcarry.carry(body, policy=policy) for policy in (CarryPolicy(), SHORT)]
    return [(carried.text, carried.report) for carried in found]


def project(body: bytes) -> Any:
    messages = messages_of(body)
    return [
        [toolcarry.project(messages, policy=policy), toolcarry.project_body(body, policy=policy)]
        for policy in (ProjectPolicy(), REPAIRED)
    ]


def messages_of(body: bytes) -> list[Any]:
    """Return the objects of a file: the messages of a request, a list, or lines."""
    found = outcome(lambda: json.loads(body))
    if isinstance(found, Exception):
        lines = [outcome(lambda line=line: json.loads(line)) for line in body.splitlines()]
        return [line for line in lines if isinstance(line, dict)]
    messages = found.get("messages", [found]) if isinstance(found, dict) else found
    return [message for message in messages if isinstance(message, dict)]


JOBS: dict[str, Callable[[bytes], Any]] = {
    "carry": carry,
    "dialogue": toolcarry.dialogue,
    "inspect": toolcarry.inspect,
    "recount": toolcarry.recount,
    "project": project,
}
IN_BOTH = ("carry", "dialogue")


def name_of(path: Path) -> str:
    return path.relative_to(TRANSCRIPTS).as_posix()


def hashes_of(path: Path, jobs: tuple[str, ...]) -> dict[str, str]:
    body = path.read_bytes()
    return {job: digest(written(outcome(lambda job=job: JOBS[job](body)))) for job in jobs}


def frozen() -> dict[str, dict[str, str]]:
    """Return the hashes by file and job; skip if there are none."""
    if not HASHES.exists():
        pytest.skip("no real transcripts were frozen: TOOLCARRY_WRITE_GOLDEN=1 freezes them")
    found: dict[str, dict[str, str]] = json.loads(HASHES.read_text("utf-8"))
    return found


def check(jobs: tuple[str, ...]) -> None:
    known = frozen()
    largest = LARGEST[toolcarry.backend()]
    paths = [path for path in FILES if name_of(path) in known and path.stat().st_size <= largest]
    changed = {
        name_of(path): [job for job in found if found[job] != known[name_of(path)][job]]
        for path in paths
        if (found := hashes_of(path, jobs)) != {job: known[name_of(path)][job] for job in jobs}
    }
    assert not changed
    assert paths


def test_carry(api: ModuleType, real_transcripts: Path) -> None:
    if files.WRITES:
        pytest.skip("test_project writes the hashes")
    check(IN_BOTH)


def test_project(rust: None, real_transcripts: Path) -> None:
    if files.WRITES:
        paths = [path for path in FILES if path.stat().st_size <= LARGEST["rust"]]
        found = {name_of(path): hashes_of(path, tuple(JOBS)) for path in paths}
        files.write(HASHES, json.dumps(found, indent=1))
    check(tuple(job for job in JOBS if job not in IN_BOTH))
