"""Whole text histories: each ``cases/recount/*.json`` is a conversation, and the ``.md`` of the same name its text history.

To write them again after an intended change, run ``TOOLCARRY_WRITE_GOLDEN=1 pytest tests/text_history/test_golden.py``
and read the difference before you commit it.
"""

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.builders.text_histories import told

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
    found = rendered(rust.recount(**load(path)))
    expected = path.with_suffix(".md")
    if os.environ.get("TOOLCARRY_WRITE_GOLDEN") == "1":
        expected.write_bytes(found)
    assert found == expected.read_bytes()


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
