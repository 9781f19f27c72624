"""What can be no path, no text and no list is refused with a word on what is allowed, and nothing is written."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from toolcarry.errors import ConfigError
from toolcarry.switch import HistorySessions
from toolcarry.tract import Tract

NOW = dt.datetime.now(dt.UTC)


@pytest.mark.parametrize("path", [None, 3, b"history.db", ["history.db"], "", "a\0b"])
def test_paths_that_are_none(memory: Callable[..., Tract], path: Any) -> None:
    tract = memory()
    for key, use in (
        ("target", Tract.open),
        ("target", HistorySessions),
        ("path", tract.import_transcript),
        ("path", tract.repair),
        ("target", lambda target: tract.archive(target, before=NOW)),
    ):
        with pytest.raises(ConfigError, match=f"^{key}: .* is not allowed; allowed: a "):
            use(path)
