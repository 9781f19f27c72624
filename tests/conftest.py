"""Both backends in one process: every kernel and every public function is tested on each.

``backend`` is the kernel module, ``api`` the public package running on it. Where the extension is not built, the
Rust half is skipped, unless ``TOOLCARRY_REQUIRE_RUST=1`` says that it must be there.
"""

import importlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from postgres_server import PostgresServer, find_binaries
from real import TRANSCRIPTS
from redis_server import RedisServer, find_redis

from toolcarry.importing.kernels import ImportingKernels

USERS_OF_KERNELS = (
    "_backend",
    "carry",
    "read",
    "pair",
    "dedupe",
    "render",
    "truncate",
    "tokens",
    "explain",
    "inspect",
    "project",
    "recount",
    "resolve",
)

IS_LONG = os.environ.get("TOOLCARRY_LONG") == "1"

# A shell lets what it starts in the background ignore interrupts, and so do the processes that this one starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "toolcarry",
    deadline=None,
    max_examples=300 if IS_LONG else 100,
    derandomize=not IS_LONG,  # a check of a change says something of the change; the long runs look further
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("toolcarry")


def load_kernels(name: str) -> Any:
    """Import a backend's kernels, behind the importers; skip where the extension is not built and need not be."""
    if name == "python":
        return ImportingKernels(importlib.import_module("toolcarry._pure.kernels"))
    try:
        return ImportingKernels(importlib.import_module("toolcarry._core"))
    except ModuleNotFoundError as error:
        if error.name != "toolcarry._core" or os.environ.get("TOOLCARRY_REQUIRE_RUST") == "1":
            raise
        pytest.skip("the extension toolcarry._core is not built")


@pytest.fixture(scope="session", params=["python", "rust"])
def backend(request: pytest.FixtureRequest) -> ModuleType:
    """The kernels of one backend."""
    return load_kernels(request.param)


@pytest.fixture(scope="session")
def api(backend: ModuleType) -> Iterator[ModuleType]:
    """The public package, running on one backend."""
    with pytest.MonkeyPatch.context() as patch:
        for name in USERS_OF_KERNELS:
            patch.setattr(importlib.import_module(f"toolcarry.{name}"), "kernels", backend)
        yield importlib.import_module("toolcarry")


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
    """A PostgreSQL server for all tests; skipped where it is not installed, unless it must be."""
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
    """Start a Redis server, which ends with the test; skipped where it is not installed, unless it must be."""
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
    """A Redis server of the test's own, which is empty."""
    return start_redis()
