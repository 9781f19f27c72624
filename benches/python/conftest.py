"""The fixtures of the benchmarks: both backends, and the chosen workloads."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from toolcarry.fallback import kernels as reference

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import SIZES, generate


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--workloads",
        default=",".join(map(str, SIZES)),
        help="numbers of messages, parted by commas (%(default)s)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "size" in metafunc.fixturenames:
        sizes = [int(size) for size in metafunc.config.getoption("--workloads").split(",")]
        metafunc.parametrize("size", sizes, ids=[f"W{size}" for size in sizes])


workload = cache(generate)


@pytest.fixture
def messages(size: int) -> list[dict[str, Any]]:
    """The workload of this many messages."""
    return workload(size)


@cache
def rust() -> Any:
    """The extension's kernels; None where it is not installed and not required."""
    try:
        return importlib.import_module("toolcarry._backend._core")
    except ModuleNotFoundError as error:
        if (
            error.name != "toolcarry._backend._core"
            or os.environ.get("TOOLCARRY_REQUIRE_RUST") == "1"
        ):
            raise
        return None


@pytest.fixture(params=["python", "rust"])
def kernels(request: pytest.FixtureRequest) -> Any:
    """The kernels of one backend."""
    found = reference if request.param == "python" else rust()
    if found is None:
        pytest.skip("the extension is not installed")
    return found


@pytest.fixture
def assert_same() -> Callable[[Callable[[Any], object]], None]:
    """A check that a job gives the same on both backends, before it is timed."""

    def check(job: Callable[[Any], object]) -> None:
        if rust() is not None:
            assert job(rust()) == job(reference)

    return check
