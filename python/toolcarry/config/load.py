"""Load the settings from a file, from environment variables that override it, and from the defaults.

The file is never looked for in the working directory, unless its path says so. A variable is ``TOOLCARRY_``, the table
and the key, as in ``TOOLCARRY_SERVE_PORT=9000``. Its text is read as a number, a boolean, or a comma-separated list if
the setting has that type; any other text stays a string, which is checked like a string in the file. Errors name the
place and the allowed values.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import ValidationError, convert, inspect

from toolcarry.config.mask import shown
from toolcarry.config.renamed import RENAMED, new_value, rename
from toolcarry.config.schema import (
    KeyPath,
    allowed,
    alternatives,
    dotted,
    has_mark,
    item_of,
    keys,
    struct_of,
    type_at,
)
from toolcarry.config.tables import Config
from toolcarry.errors import ConfigError
from toolcarry.model.text.sanitize import clean_line
from toolcarry.redact.logs import get_logger
from toolcarry.types.values import checked_path

__all__ = [
    "Loaded",
    "SettingsFile",
    "find_file",
    "load",
    "load_config",
    "parse_config",
    "read_file",
]

FILE_NAME: Final = "toolcarry.toml"
PATH_VARIABLE: Final = "TOOLCARRY_CONFIG"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file. It must exist if the caller named it."""

    path: Path
    is_asked: bool


def find_file(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> SettingsFile | None:
    """Return ``path``, else ``$TOOLCARRY_CONFIG``, else ``toolcarry.toml`` in the user's configuration folder.

    Return ``None`` if neither is given and the user has no such folder. The file system is not accessed.
    Raises ``ConfigError`` for an invalid path.

    >>> find_file("a.toml", {}).path.name
    'a.toml'
    """
    asked = path if path is not None else environment.get(PATH_VARIABLE) or None
    if asked is not None:
        key = "path" if path is not None else PATH_VARIABLE
        return SettingsFile(Path(checked_path(key, asked, "the path of a file")), is_asked=True)
    folder = user_folder(environment)
    return SettingsFile(folder / FILE_NAME, is_asked=False) if folder else None


def user_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Return the user's configuration folder; ``None`` if the environment names no absolute path.

    >>> user_folder({"HOME": "/home/me"}, "linux").as_posix()
    '/home/me/.config/toolcarry'
    """
    if platform == "win32":
        return absolute_folder(environment.get("APPDATA"))
    home = environment.get("HOME")
    if not home:
        with suppress(RuntimeError):  # the system knows of no such user
            home = str(Path.home())
    if platform == "darwin":
        return absolute_folder(home, "Library", "Application Support")
    return absolute_folder(environment.get("XDG_CONFIG_HOME")) or absolute_folder(home, ".config")


def absolute_folder(base: str | None, *parts: str) -> Path | None:
    """Return toolcarry's folder below ``base``. A relative ``base`` is ignored, since it would be in the working directory."""
    if not base or "\0" in base or not Path(base).is_absolute():
        return None
    return Path(base, *parts, "toolcarry")


PREFIX: Final = "TOOLCARRY_"
OTHER_VARIABLES: Final = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "BACKEND",
        "CHECKOUT",
        "CONFIG",
        "DB",
        "LONG",
        "REQUIRE_RUST",
        "REQUIRE_SERVICES",
        "WRITE_GOLDEN",
    )
)
"""The other variables that the library, its command line and its tests read."""

BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
INTEGER: Final = re.compile(r"[+-]?[0-9]{1,400}", re.ASCII)


def variable_of(path: KeyPath) -> str:
    """Return the variable that sets the value at a path.

    >>> variable_of(("thinking", "summarize", "model"))
    'TOOLCARRY_THINKING_SUMMARIZE_MODEL'
    """
    return PREFIX + "_".join(map(str, path)).upper()


class Variable(NamedTuple):
    """A setting, and the old name of its key if the variable uses that; otherwise empty."""

    path: KeyPath
    old: str = ""


@cache
def variables() -> Mapping[str, Variable]:
    """Return every variable with the setting that it sets, those with old names first. Arrays of tables can be set only
    in files."""
    old = {
        variable_of((*table, name)): Variable((*table, new), name)
        for table, names in RENAMED.items()
        for name, new in names.items()
    }
    return {**old, **{variable_of(path): Variable(path) for path in keys()}}


def read_environment(environment: Mapping[str, str]) -> dict[KeyPath, Any]:
    """Return the settings from the environment, by path.

    >>> read_environment({"TOOLCARRY_SERVE_PORT": "9000", "HOME": "/home/me"})
    {('serve', 'port'): 9000}
    """
    found: dict[KeyPath, Any] = {}
    for name, (path, old) in variables().items():
        text = environment.get(name)
        if text is None:
            continue
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ConfigError(f"{name}: the value is not allowed; allowed: UTF-8") from None
        found[path] = parse_variable(new_value(old, text.strip()) if old else text, type_at(path))
    return found


def unknown_variables(environment: Mapping[str, str], named: Collection[str] = ()) -> list[str]:
    """Return the names of the variables that look like settings but are not, except those that a setting names
    (``named``).

    >>> unknown_variables({"TOOLCARRY_SERVE_PROT": "9000", "TOOLCARRY_BACKEND": "rust"})
    ['TOOLCARRY_SERVE_PROT']
    """
    known = {*variables(), *OTHER_VARIABLES, *named}
    return sorted(
        clean_line(name, 80)
        for name in environment
        if name.startswith(PREFIX) and name not in known
    )


def parse_variable(text: str, kind: inspect.Type | None) -> object:
    """Return ``text`` as a value of the kind, or unchanged. A word that the kind allows is not read as a list.

    >>> parse_variable("auto", type_at(("projection", "content")))
    'auto'
    >>> parse_variable("logs, tests", type_at(("projection", "content")))
    ['logs', 'tests']
    """
    found = list(alternatives(kind)) if kind else []
    kinds = set(map(type, found))
    plain = text.strip()
    if any(plain in each.values for each in found if isinstance(each, inspect.LiteralType)):
        return plain
    if inspect.BoolType in kinds and (
        plain.lower() in BOOLEANS or inspect.VarTupleType not in kinds
    ):
        return BOOLEANS.get(plain.lower(), text)
    if inspect.IntType in kinds and INTEGER.fullmatch(plain):
        return int(plain)
    if inspect.FloatType in kinds:
        try:
            return float(plain)
        except ValueError:
            return text
    if inspect.VarTupleType in kinds:
        return [item.strip() for item in text.split(",") if item.strip()]
    return text if inspect.StrType in kinds else plain


MSGSPEC_PATH: Final = re.compile(r" - at `\$([^`]*)`\Z")
"""The path in msgspec's message, after any text that the message quotes. The path has only keys of the schema."""
STEP: Final = re.compile(r"\.([\w-]+)|\[(\d+)\]")
MISSING: Final = re.compile(r"Object missing required field `(\w+)`")
LONGEST_KEY: Final = 80


def unknown_key(data: Any, path: KeyPath = ()) -> tuple[KeyPath, str] | None:
    """Return the first unknown key, with the reason; ``None`` if all are known.

    >>> unknown_key({"serve": {"prot": 1}})[1].partition("allowed")[0]
    "unknown key; did you mean 'port'? "
    """
    kind = type_at(path)
    struct = struct_of(kind) if kind else None
    if struct and isinstance(data, Mapping):
        names = [field.name for field in struct.fields]
        for key, value in data.items():
            here = (*path, key)
            if key not in names:
                return here, f"unknown key; {suggestion(key, names)}allowed: {', '.join(names)}"
            if found := unknown_key(value, here):
                return found
    elif kind and item_of(kind) and isinstance(data, list):
        for index, value in enumerate(data):
            if found := unknown_key(value, (*path, index)):
                return found
    return None


def suggestion(key: str, names: list[str]) -> str:
    """Return a question that suggests the name that ``key`` probably stands for."""
    close = get_close_matches(key[:LONGEST_KEY], names, n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def place_of(path: KeyPath) -> str:
    """Return a path in the form that errors show; its last key may be any text."""
    last = path[-1]
    if isinstance(last, int) or last.isidentifier():
        return clean_line(dotted(path), 4 * LONGEST_KEY)
    before = dotted(path[:-1])
    return f"{before}{'.' if before else ''}{clean_line(repr(last), LONGEST_KEY)}"


def reason_of(error: ValidationError, data: Mapping[str, Any]) -> tuple[KeyPath, str]:
    """Return the path that msgspec refused in ``data``, and the reason in toolcarry's words."""
    text = str(error)
    place = MSGSPEC_PATH.search(text)
    path: KeyPath = tuple(
        name or int(index) for name, index in STEP.findall(place[1] if place else "")
    )
    if error.__cause__ is not None:  # a table's own check, which begins with the key
        key, _, reason = str(error.__cause__).partition(": ")
        inner = tuple(name or int(index) for name, index in STEP.findall(f".{key}"))
        return (*path, *inner), reason
    if missing := MISSING.match(text):
        path = (*path, missing[1])
        return path, f"is missing; allowed: {allowed(type_at(path))}"
    value = "the value" if has_mark(path, "is_secret") else shown(value_at(data, path))
    return path, f"{value} is not allowed; allowed: {allowed(type_at(path))}"


def value_at(data: Any, path: KeyPath) -> Any:
    """Return the value at a path."""
    for key in path:
        data = data[key]
    return data


TOML_POSITION: Final = re.compile(r" \(at (line \d+, column \d+|end of document)\)\Z")


logger = get_logger("toolcarry.config")


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, with the source of each.

    ``file`` is the file that was read, ``None`` if there was none. ``variables`` are the environment variables that
    were used, and ``unknown`` those that look like settings but are not. ``sources`` has, for the path of every key
    that is set, the name of the file or the variable. ``renamed`` has a line for each key that still has its name from
    version 0.1.
    """

    config: Config
    file: Path | None
    sources: Mapping[KeyPath, str]
    variables: tuple[str, ...]
    unknown: tuple[str, ...]
    renamed: tuple[str, ...]

    def warn(self) -> None:
        """Log the keys with old names, and the variables that name no setting."""
        for line in self.renamed:
            logger.warning("%s", line)
        for name in self.unknown:
            logger.warning("%s: unknown setting, ignored", name)


def load_config(path: str | os.PathLike[str] | None = None) -> Config:
    """Load the settings from ``path``, else from ``$TOOLCARRY_CONFIG``, else from the user's configuration folder.

    The user's file is ``$XDG_CONFIG_HOME/toolcarry/toolcarry.toml`` or ``~/.config/toolcarry/toolcarry.toml`` (macOS:
    ``~/Library/Application Support/toolcarry/toolcarry.toml``, Windows: ``%APPDATA%\\toolcarry\\toolcarry.toml``), never
    a file in the working directory. Variables such as ``TOOLCARRY_SERVE_PORT`` override the file.
    Raises ``ConfigError`` for a setting that is not allowed, with its place and the allowed values, and for a named
    file that does not exist. Without any file, the defaults are used.

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
    """Return the settings in a TOML text; errors refer to it by ``name``. Only the given environment is read.

    >>> parse_config("[serve]\\nport = 9000").serve.port
    9000
    >>> parse_config("[thinking.summarise]")
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: toolcarry.toml: thinking.summarise: unknown key; did you mean 'summarize'? allowed: summarize
    """
    data = parse_toml(text, name)
    for line in rename(data, name):
        logger.warning("%s", line)
    return build(data, name, read_environment(environment or {}))


def load(place: SettingsFile | None, environment: Mapping[str, str] = os.environ) -> Loaded:
    """Return the settings of the file at a place, if it exists, overridden by those of the environment."""
    data = read_file(place) if place else None
    return load_bytes(data, place, environment)


def load_bytes(
    data: bytes | None, place: SettingsFile | None, environment: Mapping[str, str] = os.environ
) -> Loaded:
    """Return the settings of a file's bytes (``None``: no file), overridden by those of the environment."""
    given = read_environment(environment)
    name = label(place.path) if place and data is not None else ""
    settings = parse_toml(decode(data, name), name) if data is not None else {}
    renamed = tuple(rename(settings, name))
    config = build(settings, name, given)
    sources = dict.fromkeys(leaves(settings), name)
    sources |= {path: variable_of(path) for path in given}
    return Loaded(
        config,
        place.path if place and data is not None else None,
        sources,
        tuple(map(variable_of, given)),
        tuple(unknown_variables(environment, config.serve.variable_names())),
        renamed,
    )


def read_file(place: SettingsFile) -> bytes | None:
    """Return the bytes of a settings file; ``None`` if it does not exist and the caller did not name it."""
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
    """Return a file's name in the form that errors show."""
    return clean_line(str(path), 400)


def decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}: line {line}: not UTF-8") from None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Parse TOML into dicts and lists; a ``ConfigError`` names the line that is not TOML."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{name}: nested too deeply") from None
    except ValueError as error:
        message = str(error)
        place = TOML_POSITION.search(message)
        reason = clean_line(TOML_POSITION.sub("", message), 200)
        where = f"{place[1]}: " if place else ""
        if where.startswith("end"):  # name a line in this case, too
            last = text.rstrip().count("\n") + 1
            where = f"line {last}, at the end: "
        raise ConfigError(f"{name}: {where}{reason[:1].lower()}{reason[1:]}") from None


def build(data: dict[str, Any], name: str, given: Mapping[KeyPath, Any]) -> Config:
    """Return the settings with a file's values, overridden by those of the environment."""
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
    """Set the value at a path. If another value is in the way, the error names that value."""
    *tables, last = map(str, path)
    table: object = data
    for key in tables:
        if isinstance(table, dict):
            table = table.setdefault(key, {})
    if isinstance(table, dict):
        table[last] = value


def leaves(data: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Return the paths of all values that are not tables."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list) and data and all(isinstance(item, dict) for item in data):
        for index, item in enumerate(data):
            yield from leaves(item, (*path, index))
    else:
        yield path
