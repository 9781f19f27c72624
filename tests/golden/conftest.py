"""Jobs that exist in Rust alone are compared there."""

import os
from collections.abc import Iterator

import pytest

from toolcarry import _backend


@pytest.fixture
def rust() -> Iterator[None]:
    """Run on Rust; skip where the extension is not built and is optional."""
    if os.environ.get("TOOLCARRY_REQUIRE_RUST") != "1":
        pytest.importorskip("toolcarry._backend._core", exc_type=ModuleNotFoundError)
    with _backend.using("rust"):
        yield
