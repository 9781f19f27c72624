"""Passages of the current text of files: which files, and which lines of each.

A file in work comes first: one that was changed, or read just before the hand-over. Of a file that does not fit, one run
of lines is shown, around what was edited last; never single lines. One that was only read is shown as it was read, or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from toolcarry.fallback.context.block import language_of
from toolcarry.fallback.context.fence import fence_mark
from toolcarry.fallback.context.handover.files import File, Passage, Text, replay
from toolcarry.fallback.context.handover.outcomes import Lines
from toolcarry.fallback.context.handover.pieces import Paper, Piece, inert_line
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.fallback.context.limits import Limits
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.text.sanitize import clean
from toolcarry.types.policy import NO_LIMIT

_MOST_FILES: Final = 8
_READ_IN_WORK: Final = 12
"""The steps before the hand-over whose files may be in work if they were only read."""
_LEAST: Final = 8
"""The fewest lines that are worth a passage, if the file has more."""
_TRIES: Final = 4
_LONGEST_LINE: Final = 2_000


class Shown(NamedTuple):
    """The part of a file that is shown, and the section."""

    file: File
    piece: Piece
    is_changed: bool


def files_in_work(
    files: Mapping[str, File], steps: Sequence[Step], words: str, most_steps: int
) -> list[tuple[File, bool]]:
    """Return the files that may be shown, the most important first, each with true if it is the file in work.

    ``words`` are those of the plan and of the last request, which may name a file; a file is in work if it was changed in
    the last ``most_steps``.
    """
    since = steps[-1].number - most_steps if steps else 0
    ranked = []
    for file in files.values():
        edits = file.edits
        last_edit = edits[-1].number if edits else 0
        is_named = file.path.rpartition("/")[2] in words
        newest = max(last_edit, file.last.number - most_steps + _READ_IN_WORK)
        if newest <= since and not is_named:
            continue
        # A change is worth a lead of some steps over a read.
        age = steps[-1].number - max(file.last.number - 4, last_edit) - 4 * is_named
        ranked.append((age, -file.last.number, file.key, file))
    ranked.sort(key=_rank)
    return [(file, place == 0) for place, (*_, file) in enumerate(ranked[:_MOST_FILES])]


def _rank(item: tuple[int, int, str, File]) -> tuple[int, int, str]:
    return item[:3]


def show_file(file: File, room: int, paper: Paper, lines: Lines) -> Shown | None:
    """Return the current text of a file, or the passage of it that fits; ``None`` if it is not known, or has no room."""
    text = replay(file)
    if not text.passages or text.is_gone:
        return None
    passage = _passage_in_work(text)
    region = _region(text, passage)
    all_lines = passage.text.split("\n")
    language = language_of(file.path)
    sizes = [
        min(len(line), _LONGEST_LINE) // (1 if paper.token > 1 else 3) + 1 for line in all_lines
    ]
    most = room - 16 * paper.token
    for _ in range(_TRIES):
        if most <= 0:
            return None
        first, last = _window(sizes, region, most)
        if last - first < min(_LEAST, len(all_lines)):
            return None
        if not text.regions and last - first < len(all_lines):
            return None
        head = _heading(file, text, passage, (first, last), lines)
        body = clean("\n".join(all_lines[first:last]))
        mark = fence_mark(body)
        found = paper.piece(f"{head}{mark}{language}\n{body}\n{mark}\n\n")
        measured = [(found.size, room), *_limits_on(body, paper.limits)]
        over = next(((size, limit) for size, limit in measured if size > limit), None)
        if over is None:
            is_cut = last - first < len(all_lines) or not text.is_whole
            return Shown(file, found._replace(is_cut=is_cut), bool(file.edits))
        most = most * over[1] // over[0] - 4 * paper.token
    return None


def _limits_on(body: str, limits: Limits) -> list[tuple[int, int]]:
    """Return the size of a text in the unit of each limit on one result, with the limit."""
    found = [(len(body), limits.chars)]
    if limits.tokens != NO_LIMIT:
        found.append((count_tokens(body, limits.encoding), limits.tokens))
    return found


def _passage_in_work(text: Text) -> Passage:
    """Return the passage with the newest edit, or the longest one."""
    if text.regions:
        line = text.regions[-1][0]
        for each in text.passages:
            if each.first <= line <= each.last:
                return each
    return max(text.passages, key=_by_count)


def _by_count(passage: Passage) -> int:
    return passage.count


def _region(text: Text, passage: Passage) -> tuple[int, int]:
    """Return the lines of the passage, from 0, around which it is shown: the newest edits that are near each other."""
    inside = [
        (first - passage.first, last + 1 - passage.first)
        for first, last in text.regions
        if passage.first <= first and last <= passage.last
    ]
    if not inside:
        return 0, 0
    return inside[-1]


def _window(sizes: list[int], region: tuple[int, int], most: int) -> tuple[int, int]:
    """Return the run of lines around a region that takes at most a size: first its own lines, then lines on both sides."""
    first = last = region[0]
    used = 0
    while last < region[1] and used + sizes[last] <= most:
        used += sizes[last]
        last += 1
    if last < region[1]:
        return first, last
    is_open = [True, True]
    while any(is_open):
        for side in (0, 1):
            at = first - 1 if side == 0 else last
            if is_open[side] and 0 <= at < len(sizes) and used + sizes[at] <= most:
                used += sizes[at]
                first, last = (at, last) if side == 0 else (first, at + 1)
            else:
                is_open[side] = False
    return first, last


def _heading(
    file: File, text: Text, passage: Passage, window: tuple[int, int], lines: Lines
) -> str:
    """Return the heading: the path, which lines are shown of how many, and who changed it."""
    first, last = passage.first + window[0], passage.first + window[1] - 1
    if text.is_whole and (first, last) == (1, text.total):
        notes = [f"whole, {text.total:,} line{'s' * (text.total > 1)}"]
    elif text.is_whole:
        notes = [f"lines {first}-{last} of {text.total:,}"]
    else:
        notes = [f"lines {first}-{last}; the rest is not known"]
        if (first, last) != (passage.first, passage.last):
            notes = [f"lines {first}-{last}; known are {passage.first}-{passage.last}"]
    edits = [f"#{step.number}" for step in dict.fromkeys(file.edits)]
    if edits:
        more = f" and {len(edits) - 3} more" if len(edits) > 3 else ""
        notes.append(f"changed by {', '.join(edits[-3:])}{more}")
    else:
        notes.append(f"read by #{file.last.number}")
    unseen = [f"#{step.number}" for step in file.unseen if step.number > file.last.number]
    if unseen:
        notes.append(f"may be changed by {unseen[-1]}, whose result was not seen")
    return f"### {inert_line(lines.path(file.path), 150)} ({'; '.join(notes)})\n"
