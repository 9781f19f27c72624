"""The projection exists in Rust alone, so that the fixtures ``backend`` and ``api`` have only that half here."""

import pytest

from toolcarry import _backend


@pytest.fixture(scope="session")
def backend_name() -> _backend.Name:
    """The name of the backend that has the job."""
    return "rust"
