"""Importing the library is cheap: it pulls in nothing that only the command line or the tests need."""

import os
import subprocess
import sys

import pytest

CODE = """
import sys
before = set(sys.modules)
import toolcarry
{more}
print("\\n".join(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""
UNWANTED = {
    "aiohttp", "asyncio", "click", "hypothesis", "httpx", "litellm", "msgspec", "multiprocessing", "numpy",
    "pydantic", "pytest", "requests", "rich", "sqlite3", "tiktoken", "typer", "unittest", "watchfiles",
}  # fmt: skip
MESSAGE = '[{"role": "tool", "content": "\\u0301 x"}]'


@pytest.mark.parametrize("backend", ["python", "auto"])
@pytest.mark.parametrize(
    "more",
    ["", f"toolcarry.carry({MESSAGE})", f"toolcarry.explain({MESSAGE})", "toolcarry.carry(b'[]')"],
)
def test_a_fresh_process(backend: str, more: str) -> None:
    environment = os.environ | {"TOOLCARRY_BACKEND": backend}
    command = [sys.executable, "-c", CODE.format(more=more)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "toolcarry" in done.stdout.split()
    assert not UNWANTED & set(done.stdout.split())


def test_the_reference_is_not_loaded_next_to_the_extension() -> None:
    pytest.importorskip("toolcarry._backend._core")
    code = "import sys, toolcarry; print([name for name in sys.modules if '_pure' in name])"
    environment = os.environ | {"TOOLCARRY_BACKEND": "rust"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
