"""The price table of ``report --prices``: TOML, with the cost of a million input tokens of each model.

.. code-block:: toml

    currency = "USD"
    date = 2026-11-01           # of the prices; shown on the page

    [models."claude-sonnet-*"]  # a name, or a pattern; the longest that matches counts
    input = 3.00
    cache_read = 0.30           # default: input
    cache_write = 3.75          # default: input
    cache_write_1h = 6.00       # default: cache_write
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from toolcarry._input.archive import read_file
from toolcarry._input.objects import as_object
from toolcarry.cli.exit_codes import FileError
from toolcarry.cli.io import reading
from toolcarry.cli.terminal import label, one_line
from toolcarry.errors import ConfigError, InputError

MILLION: Final = 1_000_000
MOST: Final = 1e12
KEYS: Final = ("currency", "date", "models")
PRICES: Final = ("input", "cache_read", "cache_write", "cache_write_1h")


@dataclass(frozen=True, slots=True)
class Price:
    """The cost of a million input tokens: not cached, read from the cache, and written into it for minutes or an hour."""

    input: float
    cache_read: float
    cache_write: float
    cache_write_1h: float


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The prices of models, by patterns of their names."""

    currency: str
    date: str
    models: Mapping[str, Price]

    def price_of(self, model: str) -> Price | None:
        """Return the price of a model; ``None`` if the table has none.

        >>> cheap, dear = Price(1, 1, 1, 1), Price(9, 9, 9, 9)
        >>> PriceTable("USD", "", {"*": cheap, "gpt-*": dear}).price_of("gpt-4o").input
        9
        """
        names = [name for name in self.models if name == model or fnmatchcase(model, name)]
        return self.models[max(names, key=lambda name: (name == model, len(name)))] if names else None  # fmt: skip


def read_prices(name: str) -> PriceTable:
    """Return the price table of a file. Raises ``ConfigError`` with the place of what is wrong, and ``FileError`` if
    the file can't be read."""
    try:
        with reading():
            data = read_file(Path(name))
        return parse_prices(data)
    except FileError as error:
        raise FileError(f"{label(name)}: {error}", error.code) from None
    except (ConfigError, InputError) as error:
        raise ConfigError(f"{label(name)}: {error}") from None


def parse_prices(data: bytes) -> PriceTable:
    """Return a price table. Raises ``ConfigError`` with the line, or the key, of what is wrong.

    >>> parse_prices(b'models."gpt-*".input = 2').price_of("gpt-4o").cache_read
    2
    >>> parse_prices(b'models."gpt-*".input = -2')
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: models."gpt-*".input: -2 is not allowed; allowed: a number >= 0
    """
    try:
        found = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 at byte {error.start}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"is not TOML: {one_line(str(error))}") from None
    check_keys("", found, KEYS)
    currency, day = found.get("currency", ""), found.get("date", "")
    if not isinstance(currency, str):
        raise refused("currency", currency, "a string")
    if day != "" and type(day) is not date:
        raise refused("date", day, "a date, such as 2026-11-01")
    models = as_object(found.get("models"))
    if not models:
        raise refused("models", found.get("models"), "tables with the prices of models")
    return PriceTable(currency, str(day), {name: price(name, given) for name, given in models.items()})  # fmt: skip


def price(name: str, given: object) -> Price:
    """Return the price of a model as its table has it."""
    key = f'models."{one_line(name)}"'
    table = as_object(given)
    if table is None:
        raise refused(key, given, "a table")
    check_keys(f"{key}.", table, PRICES)
    if "input" not in table:
        raise ConfigError(f"{key}.input: is missing")
    for each, value in table.items():
        is_number = type(value) in (int, float) and 0 <= value < MOST
        if not is_number:
            raise refused(f"{key}.{each}", value, "a number >= 0")
    plain = table["input"]
    write = table.get("cache_write", plain)
    return Price(plain, table.get("cache_read", plain), write, table.get("cache_write_1h", write))


def check_keys(prefix: str, table: Mapping[str, object], allowed: tuple[str, ...]) -> None:
    """Raise ``ConfigError`` for a key that is not allowed."""
    for key in table:
        if key not in allowed:
            raise ConfigError(f"{prefix}{one_line(key)}: is not allowed; allowed: {', '.join(allowed)}")  # fmt: skip


def refused(key: str, value: object, allowed: str) -> ConfigError:
    """Return the error for a value that is not allowed."""
    return ConfigError(f"{key}: {one_line(repr(value))} is not allowed; allowed: {allowed}")
