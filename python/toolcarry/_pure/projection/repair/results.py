"""What a provider refuses within a result: texts without a word, failures that say nothing, what they show, and calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._data import read_table
from toolcarry._pure.projection.edits import Changed, Draft, Kept, Made, Members, Parts, Path, at
from toolcarry._pure.projection.material import Material
from toolcarry._pure.projection.repair.message_parts import is_blank
from toolcarry._pure.projection.repair.repair import Repair
from toolcarry.wire import Wire, as_list, as_object, text_or_empty

FAILED: str = read_table("texts")["failed"]
"""What a failure says that said nothing."""


def clean_result(repair: Repair, path: Path) -> list[Draft]:
    """Let a result hold what its provider takes there; what has to stand behind the results instead."""
    material, dialect, pairs, _, mends = repair
    if not dialect.refuses_blank or len(path) == 1 or material.is_gone(path):
        return []
    part = as_object(at(material.messages, path)) or {}
    holder, held = dialect.result_id.holder(part), dialect.result_id.held(part)
    place: Path = (*path, holder, "content") if holder else (*path, "content")
    given = parts_of(material, path, place, held.get("content"))
    if given is None:
        return []
    is_failure = dialect.is_failure(held)
    stay: list[Draft] = []
    beside: list[Draft] = []
    for item in given:
        own = value_of(item, material.messages)
        if is_failure and dialect.fails_in_words and is_shown(own):
            beside.append(item)
        elif not is_blank(own):
            stay.append(item)
    position, call_id = int(path[0]), pairs.owners[path].entry.call_id
    if len(stay) + len(beside) < len(given):
        mends.add("empty_text", position)
    if beside:
        mends.add("moved_media", position, call_id)
    if is_failure and not stay:
        mends.add("empty_failure", position, call_id)
        stay.append(Made(dialect.text(FAILED)))
    elif len(stay) == len(given):
        return []
    is_list = as_list(held.get("content")) is not None
    new: Members = {"content": Parts(place if is_list else None, stay)}
    material.edit(path, {holder: Changed(place[:-1], new)} if holder else new)
    return beside


def part_calls(repair: Repair) -> None:
    """Let a part that is a call be no result as well."""
    material, dialect, pairs, _, mends = repair
    for path, block in pairs.calls.items() if dialect.may_be_both else ():
        part = as_object(at(material.messages, path)) or {}
        if dialect.is_result(part):
            material.edit(path, dict.fromkeys(dialect.result_id.holders))
            mends.add("orphan_result", int(path[0]), block.entry.call_id)


def parts_of(material: Material, path: Path, place: Path, content: object) -> list[Draft] | None:
    """The parts of a result, as far as they stay; none where it has no content, ``None`` where that is something else."""
    new = material.new_content(path)
    if new is not None:
        return new.items if isinstance(new, Parts) else None
    if content is None or (isinstance(content, str) and not content.strip()):
        return []
    parts = as_list(content)
    return None if parts is None else [Kept((*place, index)) for index in range(len(parts))]


def value_of(item: Draft, messages: Sequence[Any]) -> Wire:
    """A part that stays as it is, where it is an object; else an empty one."""
    return (as_object(at(messages, item.path)) or {}) if isinstance(item, Kept) else {}


def is_shown(part: Wire) -> bool:
    """Whether a part is of a kind that is no text."""
    return text_or_empty(part.get("type")) not in ("", "text")
