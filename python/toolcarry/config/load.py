"""Settings, loaded: a file's, the environment's over them, and the defaults for the rest."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import ValidationError, convert

from toolcarry._pure.text.sanitize import clean_line
from toolcarry.config.environment import read_environment, unknown_variables, variable_of
from toolcarry.config.find import Place, find_file
from toolcarry.config.refusals import place_of, reason_of, unknown_key
from toolcarry.config.schema import KeyPath
from toolcarry.config.tables import Config
from toolcarry.errors import ConfigError
from toolcarry.redact.logs import get_logger

__all__ = ["Loaded", "load", "load_config", "parse_config", "read_file"]

POSITION: Final = re.compile(r" \(at (line \d+, column \d+|end of document)\)\Z")


logger = get_logger("toolcarry.config")


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where they come from.

    ``file`` is the file that was read, ``None`` where there was none; ``variables`` are those of the environment that
    took effect, and ``unknown`` those that look like settings and are none. ``sources`` has the file's name or the
    variable for every key that is set, by its path.
    """

    config: Config
    file: Path | None
    sources: Mapping[KeyPath, str]
    variables: tuple[str, ...]
    unknown: tuple[str, ...]

    def warn(self) -> None:
        """Log what sets nothing."""
        for name in self.unknown:
            logger.warning("%s: there is no such setting", name)


def load_config(path: str | os.PathLike[str] | None = None) -> Config:
    """Load the settings: of ``path``, else of ``$TOOLCARRY_CONFIG``, else of the user's configuration folder.

    That is ``$XDG_CONFIG_HOME/toolcarry/toolcarry.toml`` or ``~/.config/toolcarry/toolcarry.toml`` (macOS:
    ``~/Library/Application Support/toolcarry/toolcarry.toml``, Windows: ``%APPDATA%\\toolcarry\\toolcarry.toml``), never
    the working directory. Variables as ``TOOLCARRY_SERVE_PORT`` win over the file.
    Raises ``ConfigError``, with the place and what is allowed there, for a setting that is not allowed, and for a file
    that was asked for and isn't there; where the user has no file, the defaults hold.

    >>> load_config("nowhere.toml")
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: nowhere.toml: no such file
    """
    loaded = load(find_file(path))
    loaded.warn()
    return loaded.config


def parse_config(
    text: str, *, name: str = "toolcarry.toml", environment: Mapping[str, str] | None = None
) -> Config:
    """The settings of a TOML text; ``name`` is what errors call it. Of the environment only what is given counts.

    >>> parse_config("[serve]\\nport = 9000").serve.port
    9000
    >>> parse_config("[thinking.summarise]")
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: toolcarry.toml: thinking.summarise: unknown key; did you mean 'summarize'? allowed: summarize
    """
    return build(parse(text, name), name, read_environment(environment or {}))


def load(place: Place | None, environment: Mapping[str, str] = os.environ) -> Loaded:
    """The settings of the file at a place, where there is one, with those of the environment."""
    data = read_file(place) if place else None
    return load_bytes(data, place, environment)


def load_bytes(
    data: bytes | None, place: Place | None, environment: Mapping[str, str] = os.environ
) -> Loaded:
    """The settings of a file that was read, ``None`` where there was none, with those of the environment."""
    given = read_environment(environment)
    name = label(place.path) if place and data is not None else ""
    settings = parse(decode(data, name), name) if data is not None else {}
    sources = dict.fromkeys(leaves(settings), name)
    config = build(settings, name, given)
    sources |= {path: variable_of(path) for path in given}
    return Loaded(
        config,
        place.path if place and data is not None else None,
        sources,
        tuple(map(variable_of, given)),
        tuple(unknown_variables(environment, config.serve.variable_names())),
    )


def read_file(place: Place) -> bytes | None:
    """The bytes of a file of settings; ``None`` where there is none, and none was asked for."""
    try:
        return place.path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if place.is_asked:
            raise ConfigError(f"{label(place.path)}: no such file") from None
        return None
    except OSError as error:
        raise ConfigError(
            f"{label(place.path)}: cannot read: {error.strerror or type(error).__name__}"
        ) from None


def label(path: Path) -> str:
    """A file's name as errors have it."""
    return clean_line(str(path), 400)


def decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}: line {line}: not UTF-8") from None


def parse(text: str, name: str) -> dict[str, Any]:
    """A TOML text as dicts and lists; a ``ConfigError`` says on which line it is none."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{name}: nested too deep") from None
    except ValueError as error:
        message = str(error)
        place = POSITION.search(message)
        reason = clean_line(POSITION.sub("", message), 200)
        where = f"{place[1]}: " if place else ""
        if where.startswith("end"):  # all the same, on a line
            last = text.rstrip().count("\n") + 1
            where = f"line {last}, at the end: "
        raise ConfigError(f"{name}: {where}{reason[:1].lower()}{reason[1:]}") from None


def build(data: dict[str, Any], name: str, given: Mapping[KeyPath, Any]) -> Config:
    """Settings of a file's values with the environment's over them."""
    if found := unknown_key(data):
        raise ConfigError(f"{name}: {place_of(found[0])}: {found[1]}")
    for path, value in given.items():
        put(data, path, value)
    try:
        return convert(data, Config)
    except ValidationError as error:
        path, reason = reason_of(error, data)
        source = next((each for each in given if path[: len(each)] == each), None)
        if source is not None:
            raise ConfigError(f"{variable_of(source)}: {reason}") from None
        raise ConfigError(f"{name or 'environment'}: {place_of(path)}: {reason}") from None


def put(data: dict[str, Any], path: KeyPath, value: object) -> None:
    """Set what stands at a path; where something stands in the way, that is the error to be told."""
    *tables, last = map(str, path)
    table: object = data
    for key in tables:
        if isinstance(table, dict):
            table = table.setdefault(key, {})
    if isinstance(table, dict):
        table[last] = value


def leaves(data: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The paths of all values that are no tables."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list) and data and all(isinstance(item, dict) for item in data):
        for index, item in enumerate(data):
            yield from leaves(item, (*path, index))
    else:
        yield path
