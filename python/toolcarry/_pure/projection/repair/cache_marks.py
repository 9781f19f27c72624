"""Marks for the prompt cache: how many a destination takes, and where."""

from __future__ import annotations

from typing import Final

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.projection.edits import Changed, Draft, NewValue, Parts, Path, at
from toolcarry._pure.projection.repair.destinations import Destination
from toolcarry._pure.projection.repair.frame import Frame
from toolcarry._pure.projection.repair.message_parts import parts_of, source_of
from toolcarry._pure.projection.repair.report import Mends
from toolcarry._pure.projection.repair.state import Repair
from toolcarry._pure.projection.request import EditedMessages


def leave_out_marks(repair: Repair) -> None:
    """Remove the first marks for the prompt cache, if there are more than the destination takes.

    Their order is that of the prefix: the tools, the system prompt, and the messages, with the content of a result
    before the result. So the longest prefixes stay in the cache.
    """
    edited, destination, frame = repair.edited, repair.destination, repair.frame
    if frame is not None:
        leave_out_refused_marks(frame, destination, repair.mends)
    if not destination.cache_marks:
        return
    paths: list[Path] = []
    most = destination.cache_marks
    if frame is not None:
        # A mark of the whole request counts as well:
        # https://platform.claude.com/docs/en/build-with-claude/prompt-caching
        most -= frame.members.get(_MARK) is not None
        for pattern in destination.mark_paths:
            found = frame.found(pattern)
            paths += [path for path, part in found if _is_marked(as_object(part) or {})]
    for position, message in enumerate(edited.messages):
        if destination.form == "chat" and destination.is_result(message):
            paths += _marks_within(edited, (position,), message)
            continue
        for index, part in enumerate(as_list(message.get("content")) or ()):
            path: Path = (position, "content", index)
            held = as_object(part) or {}
            if destination.is_result(held):
                paths += _marks_within(edited, path, held)
            if _is_marked(held):
                paths.append(path)
    for path in paths[: max(len(paths) - most, 0)]:
        _leave_out_mark(repair, path)


def _marks_within(edited: EditedMessages, result: Path, held: JsonObject) -> list[Path]:
    """Return the paths of the parts of a result that have a mark, and keep it."""
    place = (*result, "content")
    items = parts_of(edited, result, place, held.get("content")) or ()
    return [(*place, number) for number, item in enumerate(items) if _keeps_mark(item, edited)]


def leave_out_refused_marks(frame: Frame, destination: Destination, mends: Mends) -> None:
    """Remove the parts of the frame that are marks for the prompt cache in a place where they are refused."""
    for pattern in destination.refused_marks:
        for path, _ in frame.found(pattern):
            frame.change(path[:-1], None)
            mends.add("cache_mark", None, "", str(path[0]))


_MARK: Final = "cache_control"


def _is_marked(part: JsonObject) -> bool:
    return part.get(_MARK) is not None


def _keeps_mark(item: Draft, edited: EditedMessages) -> bool:
    """Return true if a part of a result has a mark, and keeps it."""
    is_removed = isinstance(item, Changed) and _MARK in item.members
    return not is_removed and _is_marked(source_of(item, edited.messages))


def _leave_out_mark(repair: Repair, path: Path) -> None:
    """Remove the mark of a part of the frame, of a message, or of a result's content."""
    edited, frame, first = repair.edited, repair.frame, path[0]
    if isinstance(first, str):
        if frame is not None:
            frame.change((*path, _MARK), None)
        repair.mends.add("cache_mark", None, "", first)
        return
    if first in edited.guard:
        return
    own, place, number = path[:-2], path[:-1], int(path[-1])
    if repair.destination.is_result(as_object(at(edited.messages, own)) or {}):
        items = parts_of(edited, own, place, at(edited.messages, place)) or []
        item = items[number]
        members = item.members if isinstance(item, Changed) else {}
        source = None if isinstance(item, NewValue) else item.path
        items[number] = Changed(source, {**members, _MARK: None})
        edited.edit(own, {"content": Parts(place, items)})
    else:
        edited.edit(path, {_MARK: None})
    repair.mends.add("cache_mark", first)
