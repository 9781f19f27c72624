"""The current text of files, as far as it is known, by replaying what was read, written and edited.

A file is replayed only if it may be shown. The replay begins at the last call after which the whole text was known. An
edit changes the known text at the only place where its old text is; if that is not known, nor is what the lines below it
are called, and they are forgotten. A command that may have changed a file makes its text unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from toolcarry.fallback.context.handover.clean import clean_file
from toolcarry.fallback.context.handover.kinds import words
from toolcarry.fallback.context.handover.patches import FileChange, Replacement
from toolcarry.fallback.context.handover.reads import Read, may_be_message, read_lines
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.model.dedupe.shell import has_side_effects

_CHANGING: Final = frozenset(words("changing"))
_CHECKOUTS: Final = frozenset(words("checkouts"))
_VIEWS: Final = frozenset(words("views"))
_UNCHANGED: Final = words("unchanged")
_FORMATTERS: Final = frozenset(words("formatters"))
_REWRITTEN: Final = words("rewritten")
_GIT_VALUES: Final = words("git_values")
_BETWEEN: Final = "\t\n;&|()<>'\"`"
_DIVIDERS: Final = ";&|"
_MOVING: Final = frozenset(words("moving"))
_RESETS: Final = frozenset(words("resets"))
_RECORDS: Final = frozenset(words("records"))
_REMOTE: Final = frozenset(words("remote"))
_NEW_BRANCH: Final = frozenset(words("new_branch"))
_MOST_WORK: Final = 20_000_000
"""The most characters that are looked through for the edits of one file."""
_MOST_COMPARED: Final = 200
"""The number of edits after a read, and of lines in each, that are checked for overlap with the text that was read."""


class Passage:
    """Lines of a file that follow each other, without a newline at the end; ``first`` is the number of the first one."""

    __slots__ = ("first", "text")

    def __init__(self, first: int, text: str) -> None:
        self.first, self.text = first, text

    @property
    def count(self) -> int:
        return self.text.count("\n") + 1

    @property
    def last(self) -> int:
        return self.first + self.count - 1


Event = tuple[Step, FileChange | None]
"""A step that read a file, or changed it."""


class File:
    """A file that calls named, with its events. ``others`` are the changes without an event of their own, and
    ``unseen`` the changes whose result was not seen.
    """

    __slots__ = ("events", "key", "others", "path", "unseen")

    def __init__(self, key: str, path: str, others: OtherChanges) -> None:
        self.key, self.path, self.others = key, path, others
        self.events: list[Event] = []
        self.unseen: list[Step] = []

    @property
    def edits(self) -> list[Step]:
        """The steps that changed it."""
        return [step for step, change in self.events if change is not None]

    @property
    def last(self) -> Step:
        """The last step that read or changed it."""
        return self.events[-1][0]

    def was_written(self) -> bool:
        """Return true if its last event is that a step wrote it as a whole."""
        change = self.events[-1][1]
        return change is not None and change.action == "write"

    def unknown(self) -> list[Step]:
        """Return the steps after which its text is unknown, oldest first."""
        found = self.others.of(self)
        found.sort(key=_by_number)
        return found

    def later(self, step: Step) -> list[Event]:
        """Return what changed the file after a step, or may have: oldest first, without a change if it may only have."""
        found: list[Event] = [(each, None) for each in self.unknown() if each.number > step.number]
        found += [
            event for event in self.events if event[1] is not None and event[0].number > step.number
        ]
        found.sort(key=_by_step)
        return found


class OtherChanges:
    """Steps that may have changed files in a way that can't be replayed: by commands, or under another path.

    They are kept by the name of a file, and looked up for the few files that may be shown, so that many commands and many
    files take time for each command and each file, and not for each pair.
    """

    def __init__(self) -> None:
        self.everywhere: list[Step] = []
        self.by_name: dict[str, list[Step]] = {}
        self.by_folder: list[tuple[str, Step]] = []
        self.edits: dict[str, list[tuple[str, str, Step]]] = {}
        """The path and the key of each file that was changed, by its name."""

    def of(self, file: File) -> list[Step]:
        """Return the steps that may have changed a file."""
        name = name_of(file.path)
        found = [*self.everywhere, *self.by_name.get(name, ())]
        if " " in name:  # words of a command end at a blank, also in quotes
            found += self.by_name.get(name.rpartition(" ")[2], ())
        found += [step for folder, step in self.by_folder if f"/{folder}/" in f"/{file.path}"]
        for path, key, step in self.edits.get(name, ()):
            if key != file.key and _may_be_same(path, file.path):
                found.append(step)
        return found


def _may_be_same(one: str, other: str) -> bool:
    """Return true if two paths may be of one file: one is the end of the other, as where no directory is known."""
    return f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one}")


def _by_number(step: Step) -> int:
    return step.number


def _by_step(event: Event) -> int:
    return event[0].number


class Text:
    """The current text of a file, as far as it is known."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.is_whole = False
        self.regions: list[tuple[int, int]] = []
        """The first and the last line of each edit, where they are now; the newest last."""
        self.is_gone = False

    @property
    def total(self) -> int:
        """The number of lines of the file; 0 if it is not known."""
        return self.passages[0].count if self.is_whole and self.passages else 0

    def forget(self) -> None:
        self.passages, self.regions, self.is_whole = [], [], False

    def read(self, first: int, lines: list[str], is_whole: bool) -> None:
        if is_whole:
            if not self.passages or self.passages[0].text != "\n".join(lines):
                self.regions = []
            self.passages, self.is_whole = [Passage(1, "\n".join(lines))], True
            return
        if not lines or not first:
            return
        text = "\n".join(lines)
        last = first + len(lines) - 1
        if self.is_whole and last <= self.total:
            own = self.passages[0].text.split("\n")[first - 1 : last]
            if own == lines:
                return
            self.forget()
        self._put(first, last, text)

    def _put(self, first: int, last: int, text: str) -> None:
        """Put lines in the place of those that were known with these numbers."""
        kept: list[Passage] = []
        for each in self.passages:
            if each.last < first or each.first > last:
                kept.append(each)
                continue
            lines = each.text.split("\n")
            if each.first < first:
                kept.append(Passage(each.first, "\n".join(lines[: first - each.first])))
            if each.last > last:
                kept.append(Passage(last + 1, "\n".join(lines[last + 1 - each.first :])))
        kept.append(Passage(first, text))
        kept.sort(key=_by_first)
        joined: list[Passage] = []
        for each in kept:
            if joined and joined[-1].last + 1 == each.first:
                joined[-1].text += f"\n{each.text}"
            else:
                joined.append(each)
        self.passages, self.is_whole = joined, False

    def write(self, text: str) -> None:
        text = text.removesuffix("\n")
        self.passages, self.is_whole = [Passage(1, text)], True
        self.regions = [(1, text.count("\n") + 1)]

    def replace(self, change: Replacement) -> None:
        """Change the known text as an edit did."""
        if not change.old:
            self._insert(change)
            return
        found = [each for each in self.passages if change.old in each.text]
        if change.is_everywhere and self.is_whole and found:
            self._replace_all(found[0], change)
            return
        at = found[0].text.index(change.old) if len(found) == 1 else -1
        if at < 0 or change.is_everywhere or found[0].text.find(change.old, at + 1) >= 0:
            self.forget()
            return
        passage = found[0]
        first = passage.first + passage.text.count("\n", 0, at)
        grown = change.new.count("\n") - change.old.count("\n")
        end = at + len(change.old)
        passage.text = f"{passage.text[:at]}{change.new}{passage.text[end:]}"
        self._shift(first, first + change.old.count("\n"), grown, passage)
        self.regions.append((first, first + change.new.removesuffix("\n").count("\n")))

    def _replace_all(self, passage: Passage, change: Replacement) -> None:
        at = passage.text.index(change.old)
        first = passage.first + passage.text.count("\n", 0, at)
        passage.text = passage.text.replace(change.old, change.new)
        self.regions = [(first, first + change.new.removesuffix("\n").count("\n"))]

    def _insert(self, change: Replacement) -> None:
        if not self.is_whole or change.after < 0 or change.after > self.total:
            self.forget()
            return
        lines = self.passages[0].text.split("\n")
        new = change.new.removesuffix("\n").split("\n")
        lines[change.after : change.after] = new
        self._shift(change.after + 1, change.after, len(new), self.passages[0])
        self.passages[0].text = "\n".join(lines)
        self.regions.append((change.after + 1, change.after + len(new)))

    def _shift(self, first: int, last: int, grown: int, passage: Passage) -> None:
        """Move what is below an edit of the lines from ``first`` to ``last``."""
        for each in self.passages:
            if each is not passage and each.first > last:
                each.first += grown
        self.regions = [
            (start + grown, end + grown) if start > last else (start, max(end + grown, start))
            if end >= first else (start, end)
            for start, end in self.regions
        ]  # fmt: skip


def _by_first(passage: Passage) -> int:
    return passage.first


def find_files(steps: Sequence[Step]) -> dict[str, File]:
    """Return the files that calls read or changed, by their keys, with the events of each."""
    files: dict[str, File] = {}
    others = OtherChanges()
    for step in steps:
        if step.kind == "command" and not step.is_read:
            if step.state not in ("rejected", "interrupted"):
                _note_command(step, others)
            continue
        if step.is_change and step.state in ("pending", "missing", "interrupted"):
            for key in step.keys:
                if key in files:
                    files[key].unseen.append(step)
        if not step.has_succeeded or step.has_media or not step.keys:
            continue
        if step.is_read and may_be_message(step):
            continue
        is_doubtful = step.is_change and step.says_failure()
        changes: Sequence[FileChange | None] = step.changes or (None,)
        for key, path, change in zip(step.keys, step.paths, changes, strict=False):
            file = files.get(key)
            if file is None:
                file = files[key] = File(key, path, others)
            file.events.append((step, change))
            if change is not None:
                others.edits.setdefault(name_of(path), []).append((path, key, step))
            if is_doubtful:
                others.by_name.setdefault(name_of(path), []).append(step)
    return files


def changed_since(step: Step, files: Mapping[str, File]) -> str:
    """Return a note about the step that changed, or may have changed, what a step read of a file; empty if none did."""
    if step.since is None:
        file = files.get(step.keys[0]) if step.is_read and step.keys else None
        step.since = "" if file is None else _since(step, file.later(step))
    return step.since


def is_current(step: Step, files: Mapping[str, File]) -> bool:
    """Return true if nothing may have changed what a step read. The numbers of its lines may be other ones now."""
    return "changed" not in changed_since(step, files)


def _since(step: Step, later: Sequence[Event]) -> str:
    read, renumbered = None, ""
    for changed, change in later[:_MOST_COMPARED]:
        if change is None:
            return f"maybe changed since, by #{changed.number}"
        if read is None:
            read = read_lines(step)
        if read.is_whole or _touches(change, read):
            return f"changed since, by #{changed.number}"
        if not renumbered and any(
            each.old.count("\n") != each.new.count("\n") for each in change.replacements
        ):
            renumbered = f"numbered as before #{changed.number}"
    return (
        f"changed since, by #{later[-1][0].number}" if len(later) > _MOST_COMPARED else renumbered
    )


def _touches(change: FileChange, read: Read) -> bool:
    """Return true unless a change left the lines that were read as they are: an edit of other lines."""
    if change.action != "edit" or change.moved_to or not change.replacements:
        return True
    text = "\n".join(read.lines)
    return any(_overlaps(each.old, text) for each in change.replacements)


def _overlaps(old: str, text: str) -> bool:
    """Return true if an old text is among lines, or its lines begin or end among them; also if that is not known.

    >>> _overlaps("two", "one\\ntwo"), _overlaps("two\\nsix", "one\\ntwo"), _overlaps("six", "one\\ntwo")
    (True, True, False)
    """
    if not old or old.count("\n") > _MOST_COMPARED or old in f"\n{text}\n":
        return True
    at = old.find("\n")
    while at >= 0:
        before, after = old[:at], old[at + 1 :]
        if (before and text.endswith(before)) or (after and text.startswith(after)):
            return True
        at = old.find("\n", at + 1)
    return False


def name_of(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _note_command(step: Step, others: OtherChanges) -> None:
    """Note a command that may have changed files: those that it names, or all if it changes the work tree."""
    command = _without_bodies(step.command)
    found = _words(command)
    if not _FORMATTERS.isdisjoint(found) and _has_line(step, _REWRITTEN):
        others.everywhere.append(step)
        return
    programs = _CHANGING.intersection(found)
    if not programs and ">" not in command and "git" not in found:
        return
    if not has_side_effects(command):
        return
    parts = [_words(part) for part in _parts(command)]
    is_tree = [_changes_tree(own) for own in parts]
    if any(is_tree) and _unchanged_lines(step) < sum(is_tree):
        named = [_checked_out(own) for own, is_one in zip(parts, is_tree, strict=True) if is_one]
        if not all(named):
            others.everywhere.append(step)
            return
        for path in [path for paths in named for path in paths]:
            others.by_name.setdefault(name_of(path), []).append(step)
            others.by_folder.append((path.strip("./"), step))
    names: list[str] = []
    for own, is_one in zip(parts, is_tree, strict=True):
        if own[:1] == ["cp"] and len(own) > 2:
            *sources, target = [word for word in own[1:] if not word.startswith("-")] or [""]
            names.append(name_of(target))
            for name in map(name_of, sources):  # the target may be a folder
                path = f"{target.rstrip('/')}/{name}".removeprefix("./")
                others.edits.setdefault(name, []).append((path, "", step))
        elif not is_one and _git_command(own) not in _RECORDS:
            names += map(name_of, own)
    for name in dict.fromkeys(names):
        others.by_name.setdefault(name, []).append(step)
    if not programs.isdisjoint(_MOVING):
        folders = dict.fromkeys([word.removeprefix("~/").strip("./") for word in found])
        others.by_folder += [(folder, step) for folder in folders if folder]


def _without_bodies(command: str) -> str:
    """Return a command without the lines after ``<<`` if they go to a program on another host, or to git as a
    message."""
    head, found, _ = command.partition("<<")
    start = head.rstrip().rpartition("\n")[2].split()[:2]
    return head if found and start and (start[0] in _REMOTE or start[-1] == "commit") else command


def _has_line(step: Step, parts: tuple[str, ...]) -> bool:
    """Return true if a line of the result has one of these parts, and does not speak of what would be."""
    lines = step.ends().text.split("\n")
    return any("would" not in line and any(part in line for part in parts) for line in lines)


def _unchanged_lines(step: Step) -> int:
    """Return the number of lines of the result which say that nothing changed."""
    lines = step.ends().text.split("\n")
    return sum([any(part in line for part in _UNCHANGED) for line in lines])


def _checked_out(own: list[str]) -> list[str]:
    """Return the words that are paths which a command of git restores; none if it may change every file."""
    mark = next((mark for mark in ("--", "restore") if mark in own), None)
    rest = [] if mark is None else own[own.index(mark) + 1 :]
    paths = [path for path in rest if not path.startswith("-")]
    is_all = any("*" in path or not path.strip("./:") for path in paths)
    return [] if is_all else paths


def _parts(command: str) -> list[str]:
    """Return the simple commands in a compound command, approximately."""
    for sign in _DIVIDERS:
        command = command.replace(sign, "\n")
    return command.split("\n")


def _changes_tree(own: list[str]) -> bool:
    """Return true if a command of git may change files of the work tree, and not only its index or its branches."""
    name = _git_command(own)
    if name not in _CHECKOUTS or not _VIEWS.isdisjoint(own):
        return False
    if name == "reset":
        return not _RESETS.isdisjoint(own)
    return _NEW_BRANCH.isdisjoint(own) and "--staged" not in own


def _git_command(own: list[str]) -> str:
    """Return the git subcommand among words; empty if there is none."""
    if "git" not in own:
        return ""
    words = iter(own[own.index("git") + 1 :])
    for word in words:
        if word in _GIT_VALUES:
            next(words, "")
        elif not word.startswith("-"):
            return word
    return ""


def _words(command: str) -> list[str]:
    """Return the words of a command. A blank after a backslash is a part of a word."""
    for sign in _BETWEEN:
        if sign in command:
            command = command.replace(sign, " ")
    if "\\ " not in command:
        return command.split()
    return [word.replace("\0", " ") for word in command.replace("\\ ", "\0").split()]


def replay(file: File) -> Text:
    """Return what is known of the current text of a file."""
    text = Text()
    events = file.events
    unknown = file.unknown()
    since = unknown[-1].number if unknown else 0
    start = len(events)
    while start and events[start - 1][0].number > since:
        start -= 1
        if _sets_whole(events[start]):
            break
    work = 0
    for step, change in events[start:]:
        if change is None:
            text.read(*read_lines(step))
        elif change.action == "remove":
            text.forget()
            text.is_gone = True
        elif change.action == "write":
            text.write(clean_file(change.text))
            text.is_gone = False
        else:
            for each in change.replacements:
                work += sum([len(passage.text) for passage in text.passages])
                if work > _MOST_WORK:
                    text.forget()
                else:
                    text.replace(each)
            text.is_gone = text.is_gone or change.moved_to != ""
    return text


def _sets_whole(event: Event) -> bool:
    step, change = event
    if change is None:
        return read_lines(step).is_whole
    return change.action == "write"
