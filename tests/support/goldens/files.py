"""Golden files: compared with what is found, or written if ``TOOLCARRY_WRITE_GOLDEN=1``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import pytest

import toolcarry

FOLDER = Path(__file__).parents[2] / "golden"
WRITES = os.environ.get("TOOLCARRY_WRITE_GOLDEN") == "1"
SHOWN = 60
"""The number of lines of a difference that a failing test shows."""


def check(path: Path, found: str) -> None:
    """Fail, with the difference, unless a golden file holds this text."""
    if WRITES:
        write(path, found)
    expected = path.read_bytes().decode() if path.exists() else ""
    assert found == expected, difference(expected, found, "golden", "found", SHOWN)


def write(path: Path, text: str) -> None:
    """Write a golden file. Only Rust writes, since files of the path of ``carry`` are compared with both backends."""
    if toolcarry.backend() == "python":
        pytest.skip("Rust writes the golden files")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def difference(before: str, after: str, before_name: str, after_name: str, most: int) -> str:
    """Return the lines that differ between two texts, at most this number."""
    lines = unified_diff(
        before.splitlines(), after.splitlines(), before_name, after_name, n=1, lineterm=""
    )
    return "\n" + "\n".join(islice(lines, most))


def check_names(folder: Path, expected: Iterable[str]) -> None:
    """Fail if there is a golden file that no test reads; remove it instead when golden files are written."""
    names = set(expected)
    for path in sorted(folder.rglob("*.txt")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name not in names and WRITES:
            path.unlink()
        else:
            assert name in names, f"{path} belongs to no input"
