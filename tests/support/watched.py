"""Files that change while they are watched."""

from __future__ import annotations

import itertools
from pathlib import Path

from support.clocks import wait_until

from toolcarry.config import ReloadingConfig

PORT = "serve.port = {}\n"


def wait_until_watched(settings: ReloadingConfig, path: Path) -> None:
    """Change the file until that is seen: nothing else says that its folder is being watched."""
    replace(path, PORT.format(2))
    lengths = itertools.count(1)
    wait_until(
        lambda: settings.current.serve.port == 2,
        again=lambda: replace(path, PORT.format(2) + "#" * next(lengths)),
    )


def replace(path: Path, text: str) -> None:
    """As careful programs write."""
    draft = path.with_name("draft")
    draft.write_text(text)
    draft.replace(path)
