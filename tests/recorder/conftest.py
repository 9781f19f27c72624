"""A recorder on each kind of store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.builders.recorded_talks import Talk
from support.servers.stores import make_target


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.services)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind that lasts."""
    return make_target(request, tmp_path, request.param)


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Callable[..., Talk]]:
    made: list[Talk] = []

    def make(target: str = "", **settings: Any) -> Talk:
        made.append(Talk(target or str(tmp_path / "history.db"), **settings))
        return made[-1]

    yield make
    for each in made:
        each.recorder.close()
