"""Compare paths by their text alone: no file is looked at, and no symbolic link is followed.

A path loses ``.``, ``..`` and repeated slashes, a Windows path gets slashes and a small drive letter, and a relative
path is joined to its directory. A path that may mean another file in another program is compared unchanged: a URL,
``//host``, ``~``, ``$HOME``, a drive without a slash, and a backslash that may be part of a name.
"""

from __future__ import annotations

from typing import Final, Literal

Form = Literal["fixed", "absolute", "drive", "relative", "windows", "unclear"]
"""The form of a path. A ``windows`` path is relative, with backslashes that separate names only on Windows. A ``fixed``
path is never changed, and no directory matters to it. An ``unclear`` one is never changed, but its directory matters."""

_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SCHEME: Final = _LETTERS | frozenset("0123456789+.-")

Directory = tuple[str, ...]
"""A working directory: empty if it is unknown, else its path; each path that could not be joined to the one before it
follows as an item of its own."""


def resolve(path: str, directory: Directory) -> tuple[str, Directory]:
    """Return the path in its normal form, and the directory that it still depends on."""
    form = form_of(path)
    if form == "absolute":
        return _fold(path), ()
    if form == "drive":
        return path[0].lower() + ":" + _fold(path[2:].replace("\\", "/")), ()
    if form == "fixed":
        return path, ()
    base = directory[-1] if directory else ""
    base_form = form_of(base) if base else "relative"
    if base_form == "drive" and form in ("relative", "windows"):
        return _fold(f"{base}/{path}".replace("\\", "/")), ()
    if form != "relative":
        return path, directory
    if base_form == "absolute":
        return _fold(f"{base}/{path}"), ()
    if base_form == "relative" and base:
        return _fold_relative(f"{base}/{path}"), directory[:-1]
    return _fold_relative(path), directory


def form_of(path: str) -> Form:
    """Return the form of a path, which is not empty."""
    first = path[0]
    if first in "/\\":
        if path[1:2] in ("/", "\\"):
            return "fixed"
        if first == "\\":
            return "unclear"
        return "fixed" if "\\" in path else "absolute"
    if first in "~$%":
        return "unclear"
    slash, backslash, colon = path.find("/"), path.find("\\"), path.find(":")
    if colon >= 0 and not 0 <= slash < colon and not 0 <= backslash < colon:
        if colon == 1 and first in _LETTERS and path[2:3] in ("/", "\\"):
            return "drive"
        is_url = (
            first in _LETTERS
            and _SCHEME.issuperset(path[:colon])
            and path[colon : colon + 3] == "://"
        )
        return "fixed" if is_url else "unclear"
    return "windows" if backslash >= 0 else "relative"


def _fold(path: str) -> str:
    """Return an absolute path, which may begin with a drive, without ``.``, ``..`` and empty names."""
    start = path.index("/")
    names: list[str] = []
    for name in path[start:].split("/"):
        if name == "..":
            del names[-1:]
        elif name and name != ".":
            names.append(name)
    return f"{path[:start]}/{'/'.join(names)}"


def _fold_relative(path: str) -> str:
    """Return a relative path without ``.``, empty names, and ``..`` after a name."""
    names: list[str] = []
    for name in path.split("/"):
        if name == ".." and names and names[-1] != "..":
            del names[-1]
        elif name and name != ".":
            names.append(name)
    folded = "/".join(names) or "."
    # Without its "./", such a path could be taken for another one: "./~x" is not the home of x.
    return folded if form_of(folded) == "relative" else f"./{folded}"
