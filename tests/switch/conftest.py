"""Where sessions may be kept: a file, and the PostgreSQL server of all tests."""

from pathlib import Path

import pytest
from support.servers.stores import make_target


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.services)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store may be made."""
    return make_target(request, tmp_path, request.param)
