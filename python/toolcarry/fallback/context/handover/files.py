"""The current text of files, as far as it is known, by replaying what was read, written and edited.

A file is replayed only if it may be shown. The replay begins at the last call after which the whole text was known. An
edit changes the known text at the only place where its old text is; if that is not known, nor is what the lines below it
are called, and they are forgotten. A command that may have changed a file makes its text unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from toolcarry.fallback.context.handover.clean import clean_file
from toolcarry.fallback.context.handover.other_changes import (
    OtherChanges,
    note_command,
)
from toolcarry.fallback.context.handover.patches import FileChange, Replacement
from toolcarry.fallback.context.handover.reads import Read, may_be_message, read_lines
from toolcarry.fallback.context.handover.steps import Step

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
    ``unseen`` the changes whose result was not seen. ``written`` is the number of the last step that wrote it whole.
    """

    __slots__ = ("events", "key", "others", "path", "unseen", "written")

    def __init__(self, key: str, path: str, others: OtherChanges) -> None:
        self.key, self.path, self.others = key, path, others
        self.events: list[Event] = []
        self.unseen: list[Step] = []
        self.written = 0

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
        found = self.others.of(self.key, self.path)
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
                note_command(step, others)
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
                if change.action == "write":
                    file.written = step.number
                others.note_edit(key, path, step)
            if is_doubtful:
                others.note(key if key.startswith("/") else path, step)
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
