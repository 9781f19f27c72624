"""``toolcarry history import``: the conversations of files, written into a store."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolcarry._input.archive import check_end
from toolcarry._util.plural import counted
from toolcarry.cli.exit_codes import FAILED, USAGE, FileError
from toolcarry.cli.io import STDIN, Output, for_each_name, json_line, reading
from toolcarry.cli.store import Store
from toolcarry.cli.terminal import Screen, label, one_line, unread_code, unread_note
from toolcarry.errors import ConfigError, InputError

if TYPE_CHECKING:
    from toolcarry.tract import ImportResult, Tract

PACKED: Final = (".gz", ".zst", ".zstd")


def import_files(
    names: Sequence[str],
    store: Store,
    conversation: str | None,
    *,
    is_json: bool,
    is_strict: bool,
) -> int:
    """Import every file and return the exit code."""
    if STDIN in names:
        raise FileError("-: stdin can't be imported; name a file", USAGE)
    store.check(is_new_allowed=True)
    screen = Screen()
    out = Output() if is_json else None
    is_free = out is None or not out.is_terminal
    try:
        with ExitStack() as stack:
            work = Importer(screen, out, store, conversation, stack, is_strict=is_strict)
            return for_each_name(names, work.import_one, screen, is_free=is_free)
    except KeyboardInterrupt:
        screen.say("interrupted: the store is intact; run the same command again to continue")
        raise


class Importer:
    """Imports one file after another. The first file that is a conversation opens the store, or creates it."""

    def __init__(
        self,
        screen: Screen,
        out: Output | None,
        store: Store,
        conversation: str | None,
        stack: ExitStack,
        *,
        is_strict: bool,
    ) -> None:
        self._screen = screen
        self._out = out
        self._store = store
        self._conversation = conversation
        self._stack = stack
        self._is_strict = is_strict
        self._tract: Tract | None = None
        self._owners: dict[str, str] = {}

    def import_one(self, name: str) -> int:
        """Import one file."""
        from toolcarry.tract.importing import read_transcript  # noqa: PLC0415 - imports apsw

        with reading():
            if not name or "\0" in name:
                raise FileNotFoundError
            mode = Path(name).stat().st_mode
        try:
            check_end(Path(name))
            if self._tract is None and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                with reading():  # not for a pipe, which can be read only once
                    read_transcript(name)
            tract = self._open(self._name_of(name))
            with reading():
                result = tract.import_transcript(name, progress=self._screen.move)
        except InputError as error:
            reason = str(error).removeprefix(f"{name}: ")
            raise FileError(one_line(reason, 400), FAILED) from None
        if self._out is None:
            self._screen.say(f"{label(name)}: {import_line(result, tract.conversation)}")
        else:
            line = {"file": name, "conversation": tract.conversation, **result.to_dict()}
            self._out.write(json_line(line))
        note = unread_note(result.unread_messages, "stored unchanged, but not read")
        if note:
            self._screen.say(f"{label(name)}: {note}")
        return unread_code(result.unread_messages, is_strict=self._is_strict)

    def _open(self, conversation: str) -> Tract:
        if self._tract is None:
            self._tract = self._stack.enter_context(self._store.write())
        try:
            return self._tract.in_conversation(conversation)
        except (
            ConfigError
        ) as error:  # a file's name may have characters that a conversation's may not
            raise FileError(one_line(str(error), 400), USAGE) from None

    def _name_of(self, name: str) -> str:
        """Return the conversation for a file. Two files share a conversation only with ``--conversation``."""
        if self._conversation is not None:
            return self._conversation
        found = stem(name)
        owner = self._owners.setdefault(found, name)
        if os.path.realpath(owner) != os.path.realpath(name):
            raise FileError(
                f"the conversation {one_line(found)!r} already belongs to {label(owner)}; "
                "import this file separately, with --conversation",
                USAGE,
            )
        return found


def stem(name: str) -> str:
    """Return a file's name without folder, extension and compression suffix; a folder's name unchanged.

    >>> stem("sessions/fix-the-parser.jsonl.gz")
    'fix-the-parser'
    """
    path = Path(os.path.abspath(name))  # noqa: PTH100 - a link's own name counts, and "." has none
    if path.is_dir():
        return path.name
    return Path(path.stem).stem if path.suffix in PACKED else path.stem


def import_line(result: ImportResult, conversation: str) -> str:
    """Return the counts of an import on one line."""
    parts = [
        counted(result.lines, "record"),
        counted(result.commits, "new commit"),
    ]
    parts += [f"{result.unread:,} of them without a JSON object"] if result.unread else []
    parts += [f"{result.skipped:,} skipped"]
    return f"{', '.join(parts)}; conversation {one_line(conversation)!r}"
