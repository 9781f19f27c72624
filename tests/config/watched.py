"""Files that change while they are watched."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcarry.config import ReloadingConfig

PORT = "serve.port = {}\n"
LONGEST_WAIT = 30


def wait_for(condition: Callable[[], object], again: Callable[[], object] = lambda: None) -> None:
    """Wait until it holds; ``again`` is done now and then."""
    for turn in range(LONGEST_WAIT * 50):
        if condition():
            return
        if turn % 25 == 24:
            again()
        time.sleep(0.02)
    pytest.fail("it never came")


def wait_until_watched(settings: ReloadingConfig, path: Path) -> None:
    """Change the file until that is seen: nothing else says that its folder is being watched."""
    replace(path, PORT.format(2))
    wait_for(
        lambda: settings.current.serve.port == 2,
        lambda: replace(path, PORT.format(2) + "#" * (time.monotonic_ns() % 99)),
    )


def replace(path: Path, text: str) -> None:
    """As careful programs write."""
    draft = path.with_name("draft")
    draft.write_text(text)
    draft.replace(path)
