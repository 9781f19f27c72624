"""The tables that both backends read. Each is here once.

``read_table`` reads a JSON file for the reference; ``rust/core/build.rs`` makes Rust constants of the same file.
Tables of modules that Rust has no part in are read by Python alone.
The scripts in ``rust/tools`` write ``graphemes.txt`` and ``vocabularies/``; the JSON files are written by hand.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Final

import orjson

FOLDER: Final = os.path.dirname(__file__)  # noqa: PTH120 - pathlib is slow to import
"""The folder of the tables."""
VOCABULARIES: Final = os.path.join(FOLDER, "vocabularies")  # noqa: PTH118 - as above
"""The folder of the packed vocabularies."""


@cache
def read_table(name: str) -> dict[str, Any]:
    """Return the table of this name. All callers share it, and none may change it."""
    with open(os.path.join(FOLDER, f"{name}.json"), "rb") as file:  # noqa: PTH118, PTH123 - as above
        table: dict[str, Any] = orjson.loads(file.read())
    return table
