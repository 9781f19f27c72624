"""System messages at the beginning, which belong into the system prompt of a request.

Only a whole request has that place: in a list of messages they stay, or become the user's. Those in the middle stay
where they are, since what they say holds from there on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.projection.edits import Draft, NewValue, Path, build
from toolcarry._pure.projection.repair.destinations import Destination
from toolcarry._pure.projection.repair.frame import Frame
from toolcarry._pure.projection.repair.state import Repair

SYSTEM_ROLES: Final = frozenset(read_table("roles")["system_roles"])
"""The roles of system messages."""


def is_systems(message: JsonObject) -> bool:
    """Return true if a message is the system's."""
    return text_or_empty(message.get("role")) in SYSTEM_ROLES


def take_out_prompt(repair: Repair) -> None:
    """Remove the system messages at the beginning that ``write_prompt`` adds to the system prompt."""
    edited, destination, frame = repair.edited, repair.destination, repair.frame
    place = None if frame is None else place_of(repair, frame)
    if place is None:
        return
    busy = {path[0] for path in (*repair.pairs.calls, *repair.pairs.owners)}
    found: list[int] = []
    for position, message in enumerate(edited.messages):
        if not is_systems(message):
            break
        is_free = position not in edited.guard and position not in busy
        if not is_free or edited.is_gone((position,)) or not says_text(message, destination):
            break
        found.append(position)
    rest = edited.messages[len(found) :]
    if all(map(is_systems, rest)):
        return  # a request without messages is refused
    for position in found:
        edited.take_out((position,))
        repair.mends.moved.append(position)
        repair.mends.add("system_message", position, "", ".".join(place))


def place_of(repair: Repair, frame: Frame) -> tuple[str, ...] | None:
    """Return the place of the system prompt; ``None`` if there is none, or it holds something that is no prompt."""
    destination = repair.destination
    paths = destination.system_paths
    for path in paths:
        for _, value in frame.found(path):
            is_known = isinstance(value, str) or list_in(value) is not None
            return path if is_known else None
    # Words of the assistant in parts may be Chat's as well, which takes a system message and has no other place for it.
    is_sure = not destination.has_types or frame.is_named or bool(repair.pairs.calls)
    holders = (path for path in paths if len(path) == 1 or _holds_members(frame, path[:-1]))
    return next(holders, None) if is_sure else None


def _holds_members(frame: Frame, path: Sequence[str]) -> bool:
    """Return true if there is an object at a place of the frame."""
    return any(as_object(value) is not None for _, value in frame.found(path))


def list_in(value: object) -> Sequence[Any] | None:
    """Return the parts of a system prompt; Gemini's is an object that holds them."""
    held = as_object(value)
    return as_list(value if held is None else held.get("parts"))


def says_text(message: JsonObject, destination: Destination) -> bool:
    """Return true if the content of a message is text, and no part of it is blank."""
    content = message.get(destination.key)
    if isinstance(content, str):
        return bool(content.strip())
    parts = [as_object(item) or {} for item in as_list(content) or ()]
    texts = [part.get("text") for part in parts if part.get("type", "text") == "text"]
    is_text = len(texts) == len(parts) > 0
    return is_text and all(isinstance(text, str) and text.strip() for text in texts)


def write_prompt(repair: Repair, drafts: list[Draft]) -> list[Draft]:
    """Add the messages that were removed to the system prompt, after what is there. Return the other ones.

    System messages that begin the request since others before them were removed are added as well.
    """
    frame = repair.frame
    place = None if frame is None else place_of(repair, frame)
    if frame is None or place is None:
        return drafts
    new = [part for position in repair.mends.moved for part in parts_at(repair, position)]
    messages, key = repair.edited.messages, repair.destination.key
    built = build(messages, drafts[:1])
    while built and is_systems(built[0]) and says_text(built[0], repair.destination):
        path = None if isinstance(drafts[0], NewValue) else drafts[0].path
        rest = build(messages, drafts[1:])
        if path is None or path[0] in repair.edited.guard or all(map(is_systems, rest)):
            break
        content = built[0][key]
        new += [repair.destination.text(content)] if isinstance(content, str) else content
        repair.mends.moved.append(int(path[0]))
        repair.mends.add("system_message", int(path[0]), "", ".".join(place))
        drafts, built = drafts[1:], rest[:1]
    if new:
        _add_to(frame, place, new, repair.destination)
    return drafts


def _add_to(frame: Frame, place: tuple[str, ...], new: list[Any], destination: Destination) -> None:
    """Add parts to the system prompt at a place."""
    own = next((value for _, value in frame.found(place)), None)
    known = list_in(own)
    if known is not None:
        holder: Path = place if as_object(own) is None else (*place, "parts")
        for number, part in enumerate(new, len(known)):
            frame.change((*holder, number), part)
        return
    if isinstance(own, str) and own.strip():
        new = [destination.text(own), *new]
    frame.change(place, {"parts": new} if destination.key == "parts" else new)


def parts_at(repair: Repair, position: int) -> list[Any]:
    """Return the parts of a message with their corrections."""
    edited, key = repair.edited, repair.destination.key
    content = edited.messages[position].get(key)
    if isinstance(content, str):
        return [repair.destination.text(content)]
    parts: list[Any] = []
    for index, item in enumerate(as_list(content) or ()):
        part = {**(as_object(item) or {})}
        for name, edit in edited.members((position, key, index)).items():
            if isinstance(edit, NewValue):
                part[name] = edit.value
            else:
                part.pop(name, None)
        parts.append(part)
    return parts
