"""The calls of a conversation as numbered steps, in time order, with what each is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.fallback.context.block import DIFF_KEYS
from toolcarry.fallback.context.handover.clean import Output, clean_output, without_echo
from toolcarry.fallback.context.handover.kinds import (
    CHANGE_KINDS,
    FILE_KINDS,
    OLD_KEYS,
    StepKind,
    command_of,
    first_text,
    has_text,
    is_insert,
    kind_of,
    patch_of,
    path_of,
    words,
)
from toolcarry.fallback.context.handover.patches import (
    FileChange,
    changes_in_patch,
    replacements_in_blocks,
    replacements_of,
    written_text,
)
from toolcarry.fallback.context.handover.shell_reads import ShellRead, read_in
from toolcarry.model.content import is_stand_in, result_text
from toolcarry.model.content.answer import held_object
from toolcarry.model.dedupe.failure import is_void
from toolcarry.model.dedupe.paths import Directory, resolve
from toolcarry.model.dedupe.place import enter, follow_all, key_of, locate
from toolcarry.model.message_pieces import count_media
from toolcarry.model.pairing.block import Entry
from toolcarry.types.values import Rule

State = Literal["pending", "missing", "rejected", "interrupted", "failed", "said"]
"""The state of a call: its result is not there yet, or is missing; the user rejected or interrupted it; it failed;
or its result is there, and says what it says."""

_REJECTIONS: Final = words("rejections")
_SAID_AFTER: Final = words("said_after")
_SAID_BEFORE: Final = words("said_before")
_ACKNOWLEDGED: Final = words("acknowledged")
_ABSOLUTE: Final = ("/", "~")
_LISTERS: Final = frozenset(words("listers"))
_FILE_LISTERS: Final = frozenset(words("file_listers"))
_FAILURES: Final = words("failures")
_INTERRUPTIONS: Final = words("interruptions")
_LONGEST_REJECTION: Final = 300
_FOLDER_MARKS: Final = words("folder_marks")
_HEAD: Final = 600
"""The characters of a result in which a tool says that it lists a folder."""
_LONGEST_ENVELOPE: Final = 200_000
_ENVELOPE_TEXTS: Final = words("envelope_texts")
_ENVELOPE_ASIDES: Final = words("envelope_asides")
_EXIT_KEYS: Final = words("exit_keys")
_PART_KEYS: Final = frozenset(words("part_keys"))
_VERDICTS: Final = words("verdicts")
_MOST_CODE: Final = 100_000
_END, _END_OF_FAILURE = 1_000, 4_000
"""The characters at each end of a long result that are read for a line about it."""


class Step:
    """A call with its result.

    ``turn`` counts the requests of the user before it. ``command`` is what runs after each ``cd X &&``, in
    ``directory``. ``changes`` are those of files, each with the key of its file in ``keys``; a read has a key, too.
    """

    __slots__ = (
        "_end_output", "_output", "changes", "command", "directory", "entry", "has_media", "keys", "kind", "number",
        "session_directory", "shell_read", "since", "start_directory", "state", "text", "turn",
    )  # fmt: skip

    number: int
    entry: Entry
    kind: StepKind
    turn: int
    state: State
    text: str
    command: str
    directory: str
    start_directory: str
    session_directory: str
    changes: list[FileChange]
    keys: list[str]
    has_media: bool
    shell_read: ShellRead | None
    """The file that a command prints."""
    since: str | None
    """A note about what changed the file that it read, once it was looked up."""

    def __init__(self, entry: Entry, number: int, turn: int, rule: Rule) -> None:
        self.entry, self.number, self.turn = entry, number, turn
        self.has_media = count_media(entry.content, 0) > 0
        self.kind = kind_of(entry)
        may_be_file = self.kind == "read" and "json" in (entry.value or "")
        inside = None if self.has_media or may_be_file else _inside(entry.content)
        self.text = "" if entry.result is None else inside or result_text(entry.content)
        if self.kind == "read" and self.text.startswith("<"):
            is_folder = any(mark in self.text[:_HEAD] for mark in _FOLDER_MARKS)
            self.kind = "listing" if is_folder else "read"
        self._output: Output | None = None
        self._end_output: Output | None = None
        self.command, self.changes, self.keys = "", [], []
        self.shell_read = self.since = None
        start = enter(entry.directory, ()) if entry.directory else ()
        command, directory = "", start
        self.session_directory = start[-1] if start else ""
        given = entry.given if entry.call is not None else {}
        if self.kind == "command" or (self.kind == "patch" and entry.kind == "command"):
            if entry.kind == "command":
                _, start = locate(rule, entry, given)
            whole = entry.value if entry.kind == "command" else None
            command, directory = follow_all((whole or command_of(given)).strip("\n"), start)
        if self.kind == "command":
            self.command = command
            self.shell_read = read_in(self.command)
            if self.shell_read is not None:
                self.keys = [file_key(self.shell_read.path, directory)]
        elif self.kind in FILE_KINDS:
            self._find_files(directory, directory[-1] if directory and directory != start else "")
        self.directory = directory[-1] if directory else ""
        self.start_directory = start[-1] if start else ""
        self.state = _state_of(entry, self.text)

    def _find_files(self, directory: Directory, folder: str) -> None:
        """Find the changes of files, and the keys of the files. ``folder`` is the one to which a command changed before."""
        entry, given = self.entry, self.entry.given
        path = path_of(given) or (entry.value or "" if entry.kind in ("read", "edit") else "")
        if self.kind == "patch":
            command = entry.value if entry.kind == "command" else command_of(given)
            self.changes = changes_in_patch(patch_of(given, command or ""))
            if path and len(self.changes) < 2:
                self.changes = [change._replace(path=path) for change in self.changes]
            if folder.startswith(_ABSOLUTE):
                self.changes = [change.within(folder) for change in self.changes]
        elif self.kind == "edit":
            self.changes = [_edit_of(path, given)]
        elif self.kind == "write":
            self.changes = [FileChange(path, "write", text=written_text(given))]
        elif len(as_list(given.get("paths")) or ()) > 1:
            return  # the result holds several files
        paths = [change.path for change in self.changes] or [path]
        own = entry.key if entry.kind in ("read", "edit") and len(paths) == 1 else None
        self.keys = [own or file_key(each, directory) for each in paths if each]

    @property
    def is_change(self) -> bool:
        return self.kind in CHANGE_KINDS

    @property
    def is_read(self) -> bool:
        """True if it reads one file, by a tool or by a command."""
        return self.kind == "read" or self.shell_read is not None

    @property
    def paths(self) -> list[str]:
        """The paths of its files, as the call has them."""
        if self.changes:
            return [change.path for change in self.changes]
        if self.shell_read is not None:
            return [self.shell_read.path]
        return [path_of(self.entry.given) or self.entry.value or ""] if self.kind == "read" else []

    @property
    def has_succeeded(self) -> bool:
        """True if there is a result, and it does not say that the call failed."""
        return self.state == "said"

    @property
    def _end(self) -> int:
        return _END if self.has_succeeded else _END_OF_FAILURE

    @property
    def is_long(self) -> bool:
        """True if a line about the result only looks at both ends of it."""
        return len(self.text) > 2 * self._end

    def folds(self) -> bool:
        """Return true if lines of the result that are alike say little: they are no hits, and no list of files."""
        return self.kind not in ("search", "listing") and self._last_program() not in _LISTERS

    def lists_files(self) -> bool:
        """Return true if the result is a list of files."""
        return self.kind == "listing" or self._last_program() in _FILE_LISTERS

    def _last_program(self) -> str:
        """Return the program that a command line runs last, by its words; empty if it is no command."""
        return next(iter(self.command.rpartition("&&")[2].split()), "")

    def output(self) -> Output:
        """Return the whole result, cleaned."""
        if self._output is None:
            text = without_echo(self.text, self.whole_command())
            self._output = self._cleaned(text, text)
        return self._output

    def _cleaned(self, text: str, shown: str) -> Output:
        """Return what is shown of a text, cleaned; the text may be without an echo."""
        output = clean_output(shown, folds=self.folds())
        echo = self.text.count("\n") - text.count("\n")
        return output._replace(frame=output.frame + echo)

    def lines_printed(self) -> int:
        """Return the number of lines of the result, without those of a harness or a client around it."""
        return self.text.count("\n") + 1 - self.ends().frame

    def whole_command(self) -> str:
        """Return the command as it was given; empty if it is none."""
        return (self.entry.value if self.entry.kind == "command" else "") or self.command

    def ends(self) -> Output:
        """Return both ends of the result, cleaned; the whole if it is short."""
        if not self.is_long:
            return self.output()
        if self._end_output is None:
            text, head = self.text, self.text[: self._end]
            if without_echo(head, self.whole_command()) != head:
                text = without_echo(text, self.whole_command())
            head, tail = text[: self._end], text[-self._end :]
            cut = head if "\n" not in head else head[: head.rfind("\n")]
            rest = tail if "\n" not in tail else tail[tail.find("\n") + 1 :]
            self._end_output = self._cleaned(text, f"{cut}\n{rest}")
        return self._end_output

    def acknowledges(self) -> bool:
        """Return true if the result says nothing but that the call worked."""
        return self.text.startswith(_ACKNOWLEDGED)

    def says_failure(self) -> bool:
        """Return true if the result may say that the call failed, though nothing is certain."""
        start = self.text[:_LONGEST_REJECTION]
        return not self.acknowledges() and any(word in start for word in _FAILURES)

    def words_of_user(self) -> str:
        """Return what the user said when rejecting the call; empty if nothing."""
        for start in _SAID_AFTER:
            _, found, said = self.text.partition(start)
            if found:
                for end in _SAID_BEFORE:
                    said = said.partition(end)[0]
                return said.strip()
        return ""


def _inside(content: object) -> str | None:
    """Return what a tool said, if the result is an object in JSON that has it beside little else; ``None`` if it is not.

    >>> _inside('{"output": "no rule", "metadata": {"exit_code": 2}}')
    'Exit code: 2\\nOutput:\\nno rule'
    >>> _inside('{"result": "a", "query": "b", "next": "c"}'), _inside('{"result": "a", "success": true}')
    (None, None)
    """
    parts = as_list(content) or ()
    only = as_object(parts[0]) if len(parts) == 1 else None
    is_own = only is not None and _PART_KEYS.isdisjoint(only)  # Cline lists the objects
    held = only if is_own else held_object(content, _LONGEST_ENVELOPE)
    if held is None:
        return None
    said = [key for key in _ENVELOPE_TEXTS if isinstance(held.get(key), str) and held[key]]
    metadata = as_object(held.get("metadata")) or {}
    others = {key for key, value in (*held.items(), *metadata.items()) if not is_void(value)}
    asides = {*_ENVELOPE_ASIDES, *_EXIT_KEYS}
    is_marked = not asides.difference(_VERDICTS).isdisjoint(held)  # else it is an answer in JSON
    if len(said) != 1 or not is_marked or not others <= {*said, *asides}:
        return None
    codes = [each.get(key) for each in (held, metadata) for key in _EXIT_KEYS]
    code = next((code for code in codes if type(code) is int and 0 < abs(code) < _MOST_CODE), 0)
    text: str = held[said[0]]
    return f"Exit code: {code}\nOutput:\n{text}" if code else text


def _edit_of(path: str, given: JsonObject) -> FileChange:
    """Return the change of an edit. One without an old text makes a new file."""
    blocks = replacements_in_blocks(first_text(given, DIFF_KEYS))
    found = blocks or replacements_of(given)
    first = found[0]
    is_new = len(found) == 1 and not first.old and has_text(given, OLD_KEYS)
    if is_new and first.new and first.after < 0 and not is_insert(given):
        return FileChange(path, "write", text=first.new)
    return FileChange(path, "edit", found)


def file_key(path: str, directory: Directory) -> str:
    """Return the key of a file: its full path in the normal form, else its path with the directory that is known."""
    found, rest = resolve(path, directory)
    return key_of(found, {}, rest)


def _state_of(entry: Entry, text: str) -> State:
    if entry.result is None:
        return "missing"
    start = text[:_LONGEST_REJECTION]
    is_short = len(text) <= _LONGEST_REJECTION
    if (entry.is_failure or is_short) and any(word in start for word in _REJECTIONS):
        return "rejected"
    if (entry.is_failure or is_short) and start.startswith(_INTERRUPTIONS):
        return "interrupted"
    if entry.is_error or (entry.is_failure and not is_stand_in(entry.content)):
        return "failed"
    return "said"


def mark_pending(steps: Sequence[Step], last_request: int) -> None:
    """Mark the calls without a result that were made last: after them came no other call and no request."""
    if not steps:
        return
    newest = steps[-1].entry.position
    before = -1
    for step in steps:
        answered = step.entry.result_position
        if step.entry.result is not None and answered < newest:
            before = max(before, answered)
    for step in reversed(steps):
        if step.entry.position <= max(before, last_request):
            return
        if step.state == "missing":
            step.state = "pending"
