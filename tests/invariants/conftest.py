"""The histories that the invariants hold for: any backend of the history that is added must be added here."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.servers.stores import make_target

from toolcarry.tract import Tract

BACKENDS = ("memory", "file", pytest.param("postgres", marks=pytest.mark.services))

Opener = Callable[..., Tract]


@pytest.fixture(params=BACKENDS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind."""
    return make_target(request, tmp_path, request.param)


@pytest.fixture(params=BACKENDS[1:])
def durable_target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind that can be opened again."""
    return make_target(request, tmp_path, request.param)


@pytest.fixture
def history(target: str) -> Iterator[Opener]:
    """Open conversations of one store; the settings are those of ``Tract.open``."""
    opened: list[Tract] = []

    def open_one(**settings: object) -> Tract:
        opened.append(Tract.open(target, **settings))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for found in opened:
        found.close()
