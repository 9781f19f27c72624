"""Where the settings are found. Never in the working directory, unless that is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolcarry.types import checked_path

__all__ = ["Place", "find_file", "user_folder"]

NAME: Final = "toolcarry.toml"
VARIABLE: Final = "TOOLCARRY_CONFIG"


@dataclass(frozen=True, slots=True)
class Place:
    """A file of settings, and whether it was asked for, so that it must be there."""

    path: Path
    is_asked: bool


def find_file(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> Place | None:
    """``path``, else ``$TOOLCARRY_CONFIG``, else ``toolcarry.toml`` in the user's configuration folder.

    ``None`` where nothing is asked for and the user has no such folder. Nothing is looked at.
    Raises ``ConfigError`` for a path that can't be one.

    >>> find_file("a.toml", {}).path.name
    'a.toml'
    """
    asked = path if path is not None else environment.get(VARIABLE) or None
    if asked is not None:
        key = "path" if path is not None else VARIABLE
        return Place(Path(checked_path(key, asked, "the path of a file")), is_asked=True)
    folder = user_folder(environment)
    return Place(folder / NAME, is_asked=False) if folder else None


def user_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """The user's configuration folder; ``None`` where the environment names none by an absolute path.

    >>> user_folder({"HOME": "/home/me"}, "linux").as_posix()
    '/home/me/.config/toolcarry'
    """
    if platform == "win32":
        return absolute(environment.get("APPDATA"))
    home = environment.get("HOME")
    if not home:
        with suppress(RuntimeError):  # the system knows of no such user
            home = str(Path.home())
    if platform == "darwin":
        return absolute(home, "Library", "Application Support")
    return absolute(environment.get("XDG_CONFIG_HOME")) or absolute(home, ".config")


def absolute(base: str | None, *parts: str) -> Path | None:
    """The folder of ours below ``base``. A relative one would be in the working directory."""
    if not base or "\0" in base or not Path(base).is_absolute():
        return None
    return Path(base, *parts, "toolcarry")
