"""The README's example of a history does what it says."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from toolcarry.cli import main

README = Path(__file__).parents[2] / "README.md"
EXAMPLE = README.parent / "examples" / "session.jsonl"
SECTION = README.read_text("utf-8").split("\n## Keep the whole history\n")[1].split("\n## ")[0]


def test_the_example_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    tree = ast.parse(code)
    block = tree.body[-1]
    assert isinstance(block, ast.With)
    for statement in block.body[-2:]:  # the two that say what they give
        assert isinstance(statement, ast.Expr)
        call = ast.parse("shown.append(None)", mode="eval").body
        assert isinstance(call, ast.Call)
        call.args = [statement.value]
        statement.value = call
    shown: list[Any] = []
    monkeypatch.chdir(tmp_path)
    exec(compile(ast.fix_missing_locations(tree), str(README), "exec"), {"shown": shown})
    assert shown[0] is True
    assert [message["role"] for message in shown[1]] == ["user", "assistant", "user"]


def test_the_example_in_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = re.findall(r"^\$ toolcarry (.*)$", SECTION, re.MULTILINE)
    assert len(lines) == 2
    monkeypatch.chdir(tmp_path)
    (tmp_path / "session.jsonl").write_bytes(EXAMPLE.read_bytes())
    assert [main(line.split()) for line in lines] == [0, 0]
