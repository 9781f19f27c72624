"""The benchmarks that read sessions of the reader's own begin: what they import is there."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["economy", "fidelity", "handover"])
def test_a_benchmark_begins(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benches" / name), "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
