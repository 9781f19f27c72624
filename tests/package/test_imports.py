"""Importing the library is cheap: it pulls in nothing that only the command line or the tests need."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolcarry

CODE = """
import sys
before = set(sys.modules)
import toolcarry
{more}
print("\\n".join(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""
UNWANTED = {
    "aiohttp", "asyncio", "click", "hypothesis", "httpx", "litellm", "multiprocessing", "numpy",
    "pydantic", "pytest", "requests", "rich", "sqlite3", "tiktoken", "typer", "unittest", "watchfiles",
}  # fmt: skip
MESSAGE = '[{"role": "tool", "content": "\\u0301 x"}]'


@pytest.mark.parametrize("backend", ["python", "auto"])
@pytest.mark.parametrize(
    "more",
    [
        "",
        f"toolcarry.carry({MESSAGE})",
        f"toolcarry.carry({MESSAGE}, explain=True).fates",
        "toolcarry.carry(b'[]')",
    ],
)
def test_a_fresh_process(backend: str, more: str) -> None:
    environment = os.environ | {"TOOLCARRY_BACKEND": backend}
    command = [sys.executable, "-c", CODE.format(more=more)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "toolcarry" in done.stdout.split()
    assert not UNWANTED & set(done.stdout.split())


def test_the_fallback_is_not_loaded_next_to_the_extension() -> None:
    pytest.importorskip("toolcarry._backend._core")
    code = "import sys, toolcarry; print([name for name in sys.modules if 'toolcarry.fallback' in name])"
    environment = os.environ | {"TOOLCARRY_BACKEND": "rust"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


REASON = re.compile(r"# noqa:.* PLC0415 - ....")
"""An import inside a function says after this why it is there, on its own line."""
INDENTED = re.compile(r"^[ \t].*\bimport\b", re.MULTILINE)
"""An indented import. Only files with one can have an import inside a function, so only they are parsed."""


def local_imports(tree: ast.AST) -> Iterator[int]:
    """Yield the last line of each import inside a function."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node.end_lineno or node.lineno


def test_each_import_inside_a_function_has_a_reason() -> None:
    files = sorted(Path(toolcarry.__file__).parent.rglob("*.py"))
    found, without = 0, []
    for file in files:
        source = file.read_text("utf-8")
        if not INDENTED.search(source):
            continue
        lines = source.splitlines()
        for number in local_imports(ast.parse(source)):
            found += 1
            if not REASON.search(lines[number - 1]):
                without.append(f"{file.name}:{number}: {lines[number - 1].strip()}")
    assert without == []
    assert found > 20
