"""Whole contexts to read: each ``cases/golden/*.json`` is a conversation, and the ``.md`` of the same name its context.

``just goldens`` writes the contexts again after an intended change. Read the difference before you commit it.
"""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

from support.goldens import files
from support.oracles import markdown
from support.rows import for_each

from toolcarry import CarryPolicy

CASES = sorted((Path(__file__).parents[1] / "cases").glob("golden/*.json"))


def load(path: Path) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(path.read_text("utf-8"))
    policy = CarryPolicy(**given.get("policy", {}))
    return {"messages": given["messages"], "summary": given.get("summary", ""), "policy": policy}


@for_each("path", CASES, ids=lambda path: path.stem)
def test_golden(backend: ModuleType, path: Path) -> None:
    text = backend.carry(*load(path).values()).context
    files.check(path.with_suffix(".md"), f"{text}\n")


@for_each("path", CASES, ids=lambda path: path.stem)
def test_golden_from_bytes(api: ModuleType, path: Path) -> None:
    case = load(path)
    messages = json.dumps(case.pop("messages")).encode()
    assert api.carry(messages, **case).text + "\n" == path.with_suffix(".md").read_bytes().decode()


@for_each("path", CASES, ids=lambda path: path.stem)
def test_golden_is_markdown(path: Path) -> None:
    text = path.with_suffix(".md").read_text("utf-8")
    assert text.count(markdown.OPEN) == text.count(markdown.CLOSE) == 1
    assert markdown.sections(text) == [
        name for name in markdown.SECTIONS if name in markdown.sections(text)
    ]


def test_there_are_cases() -> None:
    assert len(CASES) == 9
