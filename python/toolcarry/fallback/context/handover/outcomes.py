"""One line about a step: what it was about, and what its result says. A line never says more than the result does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from toolcarry._input.objects import as_list, as_object
from toolcarry.fallback.context.block import replaced
from toolcarry.fallback.context.handover.clean import clean_file, short_line, without_keys
from toolcarry.fallback.context.handover.diff import counts, diff_lines, without_long_removals
from toolcarry.fallback.context.handover.kinds import (
    FILTER_KEYS,
    ITEM_STATES,
    ITEM_TEXTS,
    PARTS_OF_PLAN,
    QUERY_KEYS,
    first_text,
    path_of,
    words,
)
from toolcarry.fallback.context.handover.other_changes import name_of
from toolcarry.fallback.context.handover.patches import FILE_LINES, MOVE, FileChange
from toolcarry.fallback.context.handover.plan import item_name
from toolcarry.fallback.context.handover.reads import lines_shown, may_be_message, read_lines
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.model.content.media import is_media_line
from toolcarry.model.dedupe.rules import bare_name
from toolcarry.model.titles import call_title, lines_note

__all__ = ["Lines"]

_FAILURES: Final = words("failures")
_OUTLINE: Final = words("outline")
_ERRORS: Final = words("errors")
_ERROR_STARTS: Final = words("error_starts")
_ASIDES: Final = words("asides")
_PASSES: Final = words("passes")
_ASSERTED: Final = "E   "
_TRACEBACK: Final = "Traceback (most recent call last)"
_RULES: Final = words("rules")
"""The beginnings and ends of lines that are headings in an output."""
_MOST_OUTLINED: Final = 1_000
_LEAST_BESIDE_MEDIA: Final = 40
"""The characters that stay for the other lines of a result with media."""
_MOST_MEDIA: Final = 3
_MOST_CHANGES: Final = 4
"""The number of files of a step whose outcome gets a line."""
_FILE_LINES: Final = {action: line for line, action in FILE_LINES.items()}
_FOLDERS: Final = words("own_folders")
_TOTAL: Final = "total "
PENDING: Final = "issued just before the hand-over, result not seen: check before repeating"
MISSING: Final = "no result recorded"
UNRECORDED: Final = "its lines are not recorded"


class Lines:
    """Writes lines about steps, in which paths in a directory are relative."""

    def __init__(self, directory: str) -> None:
        self.directory = directory.rstrip("/")

    def short(self, text: str) -> str:
        """Return a text in which paths in the working directory are relative."""
        at = self.directory
        if not at or at not in text:
            return text
        return text.replace(f"{at}/", "")

    def without_folder(self, text: str) -> str:
        """Return what a command printed, in which lines that begin with a path in the working directory are relative."""
        start = f"{self.directory}/"
        if not self.directory or start not in text:
            return text
        text = text.replace(f"\n{start}", "\n")
        return text.removeprefix(start)

    def path(self, path: str) -> str:
        """Return a path for a reader: relative in the working directory."""
        at = self.directory
        if at and path.rstrip("/") == at:
            return "."
        return path[len(at) + 1 :] if at and path.startswith(f"{at}/") else path

    def command(self, step: Step) -> str:
        """Return a command, without the change to the working directory before it."""
        whole = step.whole_command().strip("\n")
        command = step.command if step.directory.rstrip("/") == self.directory else whole
        command = without_keys(command)
        is_here = step.start_directory.rstrip("/") in ("", self.directory)
        if step.has_succeeded:
            command = without_message(command)
        return self.short(command) if is_here else command

    def note_of_directory(self, step: Step) -> str:
        """Return the directory in which a command ran, if it is known, is another one, and the command does not say it."""
        at = step.directory.rstrip("/")
        if not at or at == self.directory or step.directory != step.start_directory:
            return ""
        return f"in {short_line(at, 100)}"

    def title(self, step: Step, longest: int) -> str:
        """Return what a call is about: its command, the path of its file, or the call with its arguments."""
        if step.entry.call is None:
            name = short_line(step.entry.tool_name, 40)
            return f"{name} (call not recorded)".strip()
        if step.kind == "command":
            lines = [line.strip() for line in self.command(step).split("\n")]
            return f"$ {short_line(' '.join(filter(None, lines)), longest)}"
        if any(step.paths):
            paths = ", ".join([self.path(path) for path in dict.fromkeys(step.paths)])
            return f"{step.kind} {short_line(paths, longest)}"
        if step.kind == "plan" and step.has_succeeded:
            return short_line(step.entry.name, 40)
        if step.kind == "question":
            return f"question {short_line(' / '.join(questions_of(step)), longest)}"
        if step.kind == "search":
            query, path = first_text(step.entry.given, QUERY_KEYS), path_of(step.entry.given)
            name = short_line(step.entry.name, 40)
            if query:
                at = f" in {self.path(path)}" if path else ""
                return f"{name} {short_line(query + at + filters_of(step, query), longest)}"
        return self.short(call_title(step.entry, longest))

    def notes(self, step: Step) -> list[str]:
        """Return what the result says about the call besides its text: its lines, its exit code, that it failed."""
        found = []
        if step.kind == "read" and step.entry.call is not None:
            lines = lines_shown(step)
            if lines is not None:
                found.append(lines_note(lines))
        found.append(self.note_of_directory(step))
        if step.kind == "edit" and any(
            each.is_everywhere for change in step.changes for each in change.replacements
        ):
            found.append("each occurrence")
        code = step.ends().code if step.state in ("failed", "said") and not step.is_read else ""
        if code.strip("0"):
            found.append(f"exit code {code}")
        elif step.state == "failed":
            found.append("failed")
        elif step.state == "rejected":
            found.append("rejected by the user")
        elif step.state == "interrupted":
            found.append("interrupted")
        return [note for note in found if note]

    def outcome(self, step: Step, longest: int) -> str:
        """Return what a result says in one line: the whole if it is short, else how long it is and its telling lines."""
        if step.state == "pending":
            return PENDING
        if step.state == "missing":
            return MISSING
        if step.state == "rejected":
            said = step.words_of_user()
            return f"the user said: {short_line(said, longest)}" if said else ""
        if step.state == "interrupted":
            return ""
        if step.state == "said":
            if step.is_read and not step.has_media and not may_be_message(step):
                return _about_read(step, longest)
            if step.is_change:
                return (
                    self._said(step, longest)
                    if step.says_failure()
                    else _about_change(step, longest)
                )
            if is_item(step):
                return short_line(_about_item(step), longest)
            if step.kind == "plan" and step.acknowledges():
                return ""
            if step.kind == "question":
                return short_line(self.short(step.output().text), 3 * longest)
        return self._said(step, longest)

    def _said(self, step: Step, longest: int) -> str:
        output = step.ends()
        lines = [line.strip() for line in output.text.split("\n") if line.strip()]
        if not lines:
            if output.left_out:
                return f"{output.left_out} and nothing else"
            if not step.text and step.kind != "command":
                return MISSING if step.kind == "read" else "an empty result"
            if not output.code or output.code.strip("0"):
                return "no output"
            is_printed = "echo" in step.command  # the line with the code is its output
            return f"exit code {output.code}{'' if is_printed else ', no output'}"
        if step.has_media:
            return _with_media(lines, longest)
        whole = self.short(" / ".join(lines[:12]))
        if len(lines) <= 12 and len(whole) <= longest:
            return short_line(whole, longest)
        if step.state == "failed" or step.is_change:
            return short_line(self.short(telling_line(output.text)), longest)
        first, last = self.short(lines[0]), self.short(lines[-1])
        size = step.lines_printed()
        if len(lines) == 1:
            return f"{short_line(first, longest)} ({len(step.text):,} characters)"
        if step.lists_files():
            return f"{_first_names(map(self.short, lines), longest)} … ({size:,} lines)"
        if step.kind in ("search", "listing"):
            return f"{size:,} lines, first: {short_line(first, longest // 2)}"
        half = longest // 2
        return f"{short_line(first, half)} … {short_line(last, half)} ({size:,} lines)"


def _first_names(lines: Iterator[str], longest: int) -> str:
    """Return the first entries of a listing, as many as fit in one line."""
    first = next(lines)
    others = (each for each in chain((first,), lines) if each not in _FOLDERS)
    names = (each for each in others if not each.startswith(_TOTAL))
    said = short_line(next(names, first), longest)
    for name in names:
        longer = f"{said} / {name}"
        if len(longer) > longest:
            break
        said = longer
    return short_line(said, longest)


def filters_of(step: Step, query: str) -> str:
    """Return which files a search looked at, in brackets; empty if it looked at all."""
    given = step.entry.given
    found = [(key, given.get(key)) for key in FILTER_KEYS]
    said = [
        f"{key} {value}"
        for key, value in found
        if isinstance(value, str) and value not in ("", query)
    ]
    return f" ({', '.join(said)})" if said else ""


def is_item(step: Step) -> bool:
    """Return true if a call wrote or changed one item of a plan."""
    is_part = step.kind == "plan" and bare_name(step.entry.tool_name) in PARTS_OF_PLAN
    return is_part and step.has_succeeded and step.entry.call is not None


def _about_item(step: Step) -> str:
    """Return the name, the text and the state of an item of a plan, as far as the call has them."""
    given = step.entry.given
    texts = (item_name(given), first_text(given, ITEM_TEXTS), first_text(given, ITEM_STATES))
    return " ".join([text for text in texts if text])


def questions_of(step: Step) -> list[str]:
    """Return the questions that a call asks the user."""
    given = step.entry.given
    found = []
    for item in as_list(given.get("questions")) or [given.get("question")]:
        asked = as_object(item)
        text = item if isinstance(item, str) else first_text(asked or {}, ("question", "text"))
        if text:
            found.append(text)
    return found


def _with_media(lines: list[str], longest: int) -> str:
    """Return the lines about media, whole or as a sign, and of other lines as much as there is room for."""
    media = [line for line in lines if is_media_line(line)]
    others = " / ".join([line for line in lines if not is_media_line(line)])
    shown = []
    room = longest - _LEAST_BESIDE_MEDIA
    for line in media[:_MOST_MEDIA]:
        shown.append(line if len(line) <= room else "[medium]")
        room -= len(shown[-1]) + 3
    if len(media) > _MOST_MEDIA:
        shown.append(f"and {len(media) - _MOST_MEDIA} more")
    said = short_line(others, max(room, 0) + _LEAST_BESIDE_MEDIA)
    return " / ".join([*([said] if said else []), *shown])


def telling_line(text: str) -> str:
    """Return the line of a failure that says most: what a test asserts, the exception of the last traceback, or the first
    line that names an error; else the first one with a word of failure, or the last one.

    A line that ends with a colon is one with the next.

    >>> telling_line("===== FAILURES =====\\na.py:3: AssertionError: 1 != 2\\n1 failed")
    'a.py:3: AssertionError: 1 != 2'
    >>> telling_line("Traceback (most recent call last):\\n  File \\"a.py\\", line 1\\nStop: done\\nbye")
    'Stop: done'
    """
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return ""
    label = lines[0].strip()
    if len(lines) > 1 and label.endswith(":") and " " not in label:
        lines[:2] = [f"{label} {lines[1].strip()}"]
    at = _telling_place(lines)
    line = lines[at].strip()
    is_begun = line.endswith(":") and at + 1 < len(lines)
    return f"{line} {lines[at + 1].strip()}" if is_begun else line


def _telling_place(lines: list[str]) -> int:
    asserted = next((at for at, line in enumerate(lines) if line.startswith(_ASSERTED)), -1)
    found = asserted if asserted >= 0 else _raised(lines)
    if found >= 0:
        return found
    aside = worded = -1
    for at, each in enumerate(lines):
        line = each.strip()
        if line.startswith(_ERROR_STARTS) or any(word in line for word in _ERRORS):
            if not line.startswith(_ASIDES):
                return at
            aside = at if aside < 0 else aside
        is_rule = line.startswith(_RULES) and line.endswith(_RULES)
        is_passed = line.endswith(_PASSES)
        if worded < 0 and not is_rule and not is_passed and any(word in line for word in _FAILURES):
            worded = at
    return next((at for at in (aside, worded) if at >= 0), len(lines) - 1)


def _raised(lines: list[str]) -> int:
    """Return the place of the exception after the last traceback; -1 without one."""
    place = -1
    indent: str | None = None
    for at, line in enumerate(lines):
        own = line[: len(line) - len(line.lstrip())]
        if line.strip().startswith(_TRACEBACK):
            indent = own
        elif indent is not None and len(own) <= len(indent):
            place, indent = at, None
    return place


def _about_read(step: Step, longest: int) -> str:
    read = read_lines(step)
    count = len(read.lines)
    outlined = outline(read.lines, longest)
    number = f"{count:,} line{'s' * (count != 1)}"
    return f"{number}: {outlined}" if outlined else number


def _about_change(step: Step, longest: int) -> str:
    """Return what a step did to its files: to each of the first ones, if there are several."""
    said = [_about_file(change, longest) for change in step.changes[:_MOST_CHANGES]]
    if len(step.changes) > 1:
        said = [
            f"{name_of(change.path)}: {each}"
            for change, each in zip(step.changes, said, strict=False)
        ]
    if len(step.changes) > _MOST_CHANGES:
        said.append(f"and {len(step.changes) - _MOST_CHANGES} more")
    return short_line("; ".join(said), 2 * longest)


def _about_file(change: FileChange, longest: int) -> str:
    """Return what a change did to its file."""
    if change.action == "remove":
        return "removed the file"
    if change.action == "write":
        lines = clean_file(change.text).removesuffix("\n").split("\n")
        outlined = outline(lines, longest)
        about = f": {outlined}" if outlined else ""
        return f"wrote {len(lines):,} line{'s' * (len(lines) != 1)}{about}"
    removed, added = lines_of_file(change)
    if not (removed or added):
        return f"moved to {change.moved_to}" if change.moved_to else UNRECORDED
    at = f"moved to {change.moved_to}, " if change.moved_to else ""
    places = " in each place" if any(each.is_everywhere for each in change.replacements) else ""
    return f"{at}-{removed} +{added} lines{places}"


def lines_of_change(step: Step) -> tuple[int, int]:
    """Return how many lines the edits of a step remove, and how many they add."""
    counted = [lines_of_file(change) for change in step.changes]
    return sum([removed for removed, _ in counted]), sum([added for _, added in counted])


def lines_of_file(change: FileChange) -> tuple[int, int]:
    """Return how many lines the edits of a file remove, and how many they add."""
    removed = added = 0
    for each in change.replacements:
        out, new = counts(diff_lines(each.old, each.new))
        removed, added = removed + out, added + new
    return removed, added


def diff_of(step: Step) -> str:
    """Return the changes of an edit or a patch as a difference. In a patch, each file that is not only edited has a line
    that says what becomes of it, and each of several files has one.
    """
    if not step.changes or step.kind == "write":
        return without_keys(replaced(step.entry.given))
    lines: list[str] = []
    for change in step.changes:
        is_edit = change.action == "edit"
        if step.kind == "patch" and (len(step.changes) > 1 or not is_edit or change.moved_to):
            lines.append(f"{_FILE_LINES[change.action]}{change.path}")
        if change.moved_to:
            lines.append(f"{MOVE}{change.moved_to}")
        if change.action == "write":
            lines += [f"+{line}" for line in change.text.removesuffix("\n").split("\n")]
        for number, each in enumerate(change.replacements):
            if number:
                lines.append("@@")
            lines += without_long_removals(diff_lines(each.old, each.new))
    return without_keys("".join([f"{line}\n" for line in lines]))


def outline(lines: list[str], longest: int) -> str:
    """Return the first line with words of a file, and what it defines."""
    names: list[str] = []
    size = 0
    for line in lines[:_MOST_OUTLINED]:
        if line.startswith(_OUTLINE):
            name = _name_in(line.strip().rstrip(" :{("))
            size += len(name) + 2
            if size > longest:
                break
            names.append(name)
    return short_line(", ".join(names), longest) if names else ""


def _name_in(line: str) -> str:
    """Return a line of a definition up to its parameters, without the receiver of a method in Go.

    >>> _name_in("func (a *Agent) Write(path string) error"), _name_in("def run(self)")
    ('func Write', 'def run')
    """
    name, _, rest = line.partition("(")
    method = rest.partition(")")[2].partition("(")[0].strip()
    return f"func {method}" if name == "func " and method else name


def without_message(command: str) -> str:
    """Return the command of a commit that was made, with the first line of its message alone.

    >>> without_message("git commit -m \\"$(cat <<'EOF'\\nFix it\\n\\nLong.\\nEOF\\n)\\"")
    'git commit -m "Fix it …"'
    """
    if "git commit" not in command or "<<" not in command:
        return command
    head, _, rest = command.partition("<<")
    mark, _, body = rest.partition("\n")
    mark = mark.lstrip("-").strip("'\" ")
    message, found, after = body.partition(f"\n{mark}\n")
    if not found or not mark or "\n" not in message:
        return command
    first = message.strip("\n").partition("\n")[0]
    head = head.rstrip()
    if head.endswith('"$(cat') and after.startswith(')"'):
        return f'{head.removesuffix("$(cat")}{first} …"{after[2:]}'
    return f"{head} <<{mark}\n{first} …\n{mark}\n{after}"
