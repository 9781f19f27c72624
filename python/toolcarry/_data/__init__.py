"""The tables that both backends read. Each is here once.

``read_table`` reads a JSON file for Python, and ``read_destination`` a TOML file of ``destinations/``;
``rust/core/build`` makes Rust constants of the same files. ``read_prices`` reads ``prices.toml``, for Python alone.
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


@cache
def destination_names() -> tuple[str, ...]:
    """Return the names of the destinations, sorted."""
    files = os.listdir(os.path.join(FOLDER, "destinations"))  # noqa: PTH118, PTH208 - as above
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


@cache
def read_destination(name: str) -> dict[str, Any]:
    """Return the record of a destination, with the fields of its base, and with the name of its ``shape``."""
    import tomllib  # noqa: PLC0415 - slow to import, and seldom wanted

    path = os.path.join(FOLDER, "destinations", f"{name}.toml")  # noqa: PTH118 - as above
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        own = tomllib.load(file)
    base = read_destination(own["base"]) if "base" in own else {"shape": name}
    return {**base, **own, "name": name}


@cache
def read_prices() -> tuple[dict[str, Any], ...]:
    """Return the records of the price models, each with the fields of its base. All callers share them, and none may
    change them."""
    import tomllib  # noqa: PLC0415 - slow to import, and seldom wanted

    with open(os.path.join(FOLDER, "prices.toml"), "rb") as file:  # noqa: PTH118, PTH123 - as above
        own: list[dict[str, Any]] = tomllib.load(file)["prices"]
    by_name = {record["name"]: record for record in own}
    return tuple({**by_name.get(record.pop("base", ""), {}), **record} for record in own)
