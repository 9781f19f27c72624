"""``toolcarry history import``: files in, each into a conversation, and what of them is new told on stderr."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolcarry._util.plural import counted
from toolcarry.cli.codes import FAILED, USAGE, FileError
from toolcarry.cli.files import STDIN, for_each_name, reading
from toolcarry.cli.history_store import Store
from toolcarry.cli.output import Output, json_line
from toolcarry.cli.screen import Screen, label, one_line
from toolcarry.errors import ConfigError, InputError

if TYPE_CHECKING:
    from toolcarry.tract import ImportResult, Tract

__all__ = ["import_files"]

PACKED: Final = (".gz", ".zst", ".zstd")


def import_files(
    names: Sequence[str], store: Store, conversation: str | None, *, is_json: bool
) -> int:
    """Take in every file; the exit code."""
    if STDIN in names:
        raise FileError("-: stdin can't be imported; name a file", USAGE)
    store.check(is_new_allowed=True)
    screen = Screen()
    out = Output() if is_json else None
    is_free = out is None or not out.is_terminal
    try:
        with ExitStack() as stack:
            work = Work(screen, out, store, conversation, stack)
            return for_each_name(names, work.import_one, screen, is_free=is_free)
    except KeyboardInterrupt:
        screen.say(
            "interrupted: what is in the store is whole; the same command goes on from there"
        )
        raise


class Work:
    """What is done with each file. The store is opened, and made, for the first one that is a conversation."""

    def __init__(
        self,
        screen: Screen,
        out: Output | None,
        store: Store,
        conversation: str | None,
        stack: ExitStack,
    ) -> None:
        self._screen = screen
        self._out = out
        self._store = store
        self._conversation = conversation
        self._stack = stack
        self._tract: Tract | None = None
        self._owners: dict[str, str] = {}

    def import_one(self, name: str) -> int:
        """Take in one file."""
        from toolcarry.tract.imports import read_transcript  # noqa: PLC0415 - slow

        with reading():
            if not name or "\0" in name:
                raise FileNotFoundError
            mode = Path(name).stat().st_mode
        try:
            if self._tract is None and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                with reading():  # what is a pipe could not be read again
                    read_transcript(name)
            tract = self._open(self._name_of(name))
            with reading():
                result = tract.import_transcript(name, progress=self._screen.move)
        except InputError as error:
            reason = str(error).removeprefix(f"{name}: ")
            raise FileError(one_line(reason, 400), FAILED) from None
        if self._out is None:
            self._screen.say(f"{label(name)}: {told(result, tract.conversation)}")
        else:
            line = {"file": name, "conversation": tract.conversation, **asdict(result)}
            self._out.write(json_line(line))
        return 0

    def _open(self, conversation: str) -> Tract:
        if self._tract is None:
            self._tract = self._stack.enter_context(self._store.write())
        try:
            return self._tract.in_conversation(conversation)
        except ConfigError as error:  # a file's name may hold what a conversation's may not
            raise FileError(one_line(str(error), 400), USAGE) from None

    def _name_of(self, name: str) -> str:
        """The conversation that a file goes into; two files don't share one unless that was asked for."""
        if self._conversation is not None:
            return self._conversation
        found = stem(name)
        owner = self._owners.setdefault(found, name)
        if os.path.realpath(owner) != os.path.realpath(name):
            raise FileError(
                f"the conversation {one_line(found)!r} is that of {label(owner)} already; "
                "import this file by itself, with --conversation",
                USAGE,
            )
        return found


def stem(name: str) -> str:
    """A file's name without folder and extension, and as if it were not packed; a folder's as it stands.

    >>> stem("sessions/fix-the-parser.jsonl.gz")
    'fix-the-parser'
    """
    path = Path(os.path.abspath(name))  # noqa: PTH100 - a link's own name counts, and "." has none
    if path.is_dir():
        return path.name
    return Path(path.stem).stem if path.suffix in PACKED else path.stem


def told(result: ImportResult, conversation: str) -> str:
    """What an import did, on one line."""
    parts = [
        counted(result.lines, "record"),
        counted(result.commits, "new commit"),
    ]
    parts += [f"{result.unread:,} of them no JSON object"] if result.unread else []
    parts += [f"{result.skipped:,} skipped"]
    return f"{', '.join(parts)}; conversation {one_line(conversation)!r}"
