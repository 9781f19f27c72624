"""Whole text histories: each ``cases/recount/*.json`` is a conversation, and the ``.md`` of the same name its text history.

``just goldens`` writes them again after an intended change. Read the difference before you commit it.
"""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.builders.text_histories import told
from support.goldens import files

CASES = sorted((Path(__file__).parents[1] / "cases").glob("recount/*.json"))


def load(path: Path) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return given


def rendered(recounted: Any) -> bytes:
    """Each message below a heading of its role."""
    parts = [f"## {role}\n\n{content}\n" for role, content in told(recounted)]
    return "\n".join(parts).encode()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_golden(rust: ModuleType, path: Path) -> None:
    files.check(path.with_suffix(".md"), rendered(rust.recount(**load(path))).decode())


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_golden_from_bytes(rust: ModuleType, path: Path) -> None:
    case = load(path)
    expected = rust.recount(**case)
    messages = case.pop("messages")
    session = b"\n".join(json.dumps(message).encode() for message in messages)
    for body in (json.dumps(messages).encode(), session):
        assert rust.recount(body, **case) == expected
    assert rendered(expected) == path.with_suffix(".md").read_bytes()


def test_there_are_cases() -> None:
    assert len(CASES) == 4
