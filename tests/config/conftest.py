"""An environment without settings and without a configuration file of the user."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str], Path]


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("TOOLCARRY_") and name != "TOOLCARRY_REQUIRE_RUST":
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the settings are written; its folder is there."""
    folder = tmp_path / "settings"
    folder.mkdir()
    return folder / "toolcarry.toml"
