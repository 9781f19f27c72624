"""Stores to test with: memory, a file, and the PostgreSQL server of all tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.servers.stores import make_target

from toolcarry.tract import Tract

STORES = ("memory", "file", pytest.param("postgres", marks=pytest.mark.services))


@pytest.fixture(params=STORES)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store may be made: each test runs on every kind."""
    return make_target(request, tmp_path, request.param)


@pytest.fixture(params=STORES[1:])
def durable_target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """As ``target``, of the kinds that can be opened twice."""
    return make_target(request, tmp_path, request.param)


@pytest.fixture
def tract(target: str) -> Iterator[Tract]:
    """A conversation in an empty store of each kind."""
    with Tract.open(target) as found:
        yield found


@pytest.fixture
def memory() -> Iterator[Callable[..., Tract]]:
    """Conversations in memory, for what does not depend on the kind of store; closed at the end."""
    opened: list[Tract] = []

    def open_one(**options: object) -> Tract:
        opened.append(Tract.open(**options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for found in opened:
        found.close()
