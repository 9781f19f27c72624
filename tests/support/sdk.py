"""SDK packages of providers, which only the extra ``test-sdk`` installs."""

from __future__ import annotations

from typing import Any

import pytest


def sdk(name: str) -> Any:
    """Import a module of a provider's SDK; skip the test, or the test module, without it."""
    __tracebackhide__ = True  # pytest reports the place of the caller
    package = name.partition(".")[0]
    return pytest.importorskip(
        name, reason=f"{package} is not installed; it is part of the extra test-sdk"
    )
