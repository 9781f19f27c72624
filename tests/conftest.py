"""Both backends in one process: every kernel and every public function that exists twice is tested on each.

``backend`` is the kernel module, ``api`` the public package running on it. ``rust`` is the public package for the jobs
that exist in Rust alone. The Rust half, and every other test with the marker ``rust``, needs the extension. Where that
is not installed, they are skipped, unless ``TOOLCARRY_REQUIRE_RUST=1`` says that it must be there.
"""

import functools
import importlib
import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from support.examples import load_profile
from support.servers.postgres import PostgresServer, find_binaries
from support.servers.redis import RedisServer, find_redis
from support.transcripts import TRANSCRIPTS

import toolcarry
from toolcarry import _backend

DEFAULT = toolcarry.backend()
HAS_RUST = importlib.util.find_spec("toolcarry._backend._core") is not None

# A shell lets what it starts in the background ignore interrupts, and so do the processes that this one starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

load_profile()

MARKED_BY_FIXTURE = {
    "kernels": frozenset({"backend_name", "both", "rust"}),
    "rust": frozenset({"both", "rust"}),
    "services": frozenset({"postgres", "start_redis", "strace"}),
    "slow": frozenset({"run", "command"}),
}
"""The markers that a test gets for the fixtures that it takes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set the markers that follow from fixtures, and skip what needs the extension where that is not installed."""
    is_without_rust = not HAS_RUST and os.environ.get("TOOLCARRY_REQUIRE_RUST") != "1"
    for item in items:
        taken = {*getattr(item, "fixturenames", ())} - parameters_of(item)
        for marker, fixtures in MARKED_BY_FIXTURE.items():
            if not fixtures.isdisjoint(taken):
                item.add_marker(marker)
        if is_without_rust and item.get_closest_marker("rust") is not None:
            item.add_marker(pytest.mark.skip(reason="the extension is not installed"))


def parameters_of(item: pytest.Item) -> set[str]:
    """Return the names that a test's own ``parametrize`` gives, which are no fixtures."""
    given = [mark.args[0] for mark in item.iter_markers("parametrize")]
    return {
        name.strip()
        for names in given
        for name in (names.split(",") if isinstance(names, str) else names)
    }


def load_kernels(name: str) -> Any:
    """Import a backend's kernels, as the package does."""
    return _backend.load(name)


@pytest.fixture(scope="session", params=["python", pytest.param("rust", marks=pytest.mark.rust)])
def backend_name(request: pytest.FixtureRequest) -> _backend.Name:
    """The name of one backend."""
    name: _backend.Name = request.param
    return name


@pytest.fixture(scope="session")
def backend(backend_name: _backend.Name) -> ModuleType:
    """The kernels of one backend."""
    return load_kernels(backend_name)


@pytest.fixture(scope="session")
def api(backend: ModuleType, backend_name: _backend.Name) -> Iterator[ModuleType]:
    """The public package, running on one backend, also while fixtures of a wider scope are set up."""
    with _backend.using(backend_name):
        yield toolcarry


class OnRust:
    """The public package, whose functions run on Rust, also in a test that takes ``api``."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(toolcarry, name)
        if not isinstance(found, FunctionType):
            return found

        @functools.wraps(found)
        def call(*given: Any, **options: Any) -> Any:
            with _backend.using("rust"):
                return found(*given, **options)

        return call


@pytest.fixture(scope="session")
def rust() -> Any:
    """The public package on Rust, for the jobs that exist there alone."""
    load_kernels("rust")
    return OnRust()


@pytest.fixture(autouse=True)
def _chosen_backend(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let each test see the backend that it asks for: ``api`` is still set up when the next tests run without it."""
    takes_one = (
        "backend_name" in request.fixturenames
    )  # tests/serve has parameters that are called ``api``
    name = request.getfixturevalue("backend_name") if takes_one else DEFAULT
    with _backend.using(name):
        yield


@pytest.fixture(scope="session")
def both() -> tuple[ModuleType, ModuleType]:
    """The kernels of Python and of Rust."""
    return load_kernels("python"), load_kernels("rust")


@pytest.fixture(scope="session")
def real_transcripts() -> Path:
    """The folder of real transcripts."""
    if not TRANSCRIPTS.is_dir():
        pytest.skip(f"no real transcripts at {TRANSCRIPTS}")
    return TRANSCRIPTS


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Start one PostgreSQL server for all tests; skip if it is not installed, unless it is required."""
    binaries = find_binaries()
    if binaries is None:
        if os.environ.get("TOOLCARRY_REQUIRE_SERVICES") == "1":
            pytest.fail("PostgreSQL is not installed")
        pytest.skip("PostgreSQL is not installed")
    server = PostgresServer(binaries)
    yield server
    server.close()


@pytest.fixture
def start_redis() -> Iterator[Callable[..., RedisServer]]:
    """Start a Redis server that ends with the test; skip if it is not installed, unless it is required."""
    program = find_redis()
    if program is None:
        if os.environ.get("TOOLCARRY_REQUIRE_SERVICES") == "1":
            pytest.fail("Redis is not installed")
        pytest.skip("Redis is not installed")
    with ExitStack() as stack:

        def start(**options: Any) -> RedisServer:
            server = RedisServer(program, **options)
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture
def redis_server(start_redis: Callable[..., RedisServer]) -> RedisServer:
    """Start an empty Redis server for a single test."""
    return start_redis()


@pytest.fixture(scope="session")
def strace() -> str:
    """The path of ``strace``, which makes system calls fail and records them."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed")
    trial = [found, "-o", os.devnull, "-f", "--seccomp-bpf", "-e", "inject=fsync:error=EIO", "true"]
    if subprocess.run(trial, capture_output=True, check=False).returncode != 0:
        pytest.skip("tracing is not allowed here")
    return found
