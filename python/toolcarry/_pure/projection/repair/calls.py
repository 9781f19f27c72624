"""The members of calls: names that a destination accepts, arguments in its form, and types."""

from __future__ import annotations

from toolcarry._input.json import compact_json, loads_arguments
from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry._pure.projection.arguments import with_markers
from toolcarry._pure.projection.edits import Changed, NewValue, Path, at
from toolcarry._pure.projection.repair.destinations import ArgumentsAt
from toolcarry._pure.projection.repair.ids import id_member
from toolcarry._pure.projection.repair.state import Repair
from toolcarry._pure.projection.repair.tool_names import new_names


def mend_names(repair: Repair) -> None:
    """Give each tool a name that the destination accepts, in its definition and in its calls.

    Equal names stay equal, and different ones different. A call without a name stays without one. The definitions come
    first, so that a later call changes no name that was sent before.
    """
    edited, destination, pairs, _, mends, frame = repair
    rule = destination.tool_name
    defined: list[tuple[Path, str]] = []
    for pattern in destination.name_paths if frame is not None else ():
        found = [] if frame is None else frame.found(pattern)
        defined += [(path, name) for path, name in found if isinstance(name, str)]
    own = {
        path: destination.call_name.text(as_object(at(edited.messages, path)) or {})
        for path in pairs.calls
    }
    renamed = new_names([*(name for _, name in defined), *own.values()], rule)
    mends.names.update((new, name) for name, new in renamed.items())
    told: set[str] = set()
    for path, name in defined:
        new = renamed.get(name)
        if frame is None or new is None:
            continue
        frame.change(path, new)
        if name not in told:
            mends.add("refused_name", None, "", new)
        told.add(name)
    for path, block in pairs.calls.items():
        new = renamed.get(own[path])
        if new is None:
            continue
        wire = as_object(at(edited.messages, path)) or {}
        edited.edit(path, id_member(destination.call_name, wire, path, new))
        pairs.rename(block, new)
        mends.add("refused_name", block.entry.position, block.entry.call_id, new)


def mend_arguments(repair: Repair) -> None:
    """Give each call an object as its arguments, or the text of one. Anything else is kept as its only member."""
    edited, destination, pairs, _, mends, _ = repair
    place = destination.arguments
    for path, block in pairs.calls.items():
        call = as_object(at(edited.messages, path)) or {}
        holder = next((name for name in place.holders if as_object(call.get(name)) is not None), "")
        if (place.holders and not holder) or (place.types and call.get("type") not in place.types):
            continue
        value = (as_object(call.get(holder)) or {} if holder else call).get(place.key)
        new = new_arguments(value, place)
        if new is None:
            continue
        if block.cleared:
            new = with_markers(new, block.cleared)
        member = {place.key: NewValue(new)}
        edited.edit(path, {holder: Changed((*path, holder), member)} if holder else member)
        mends.add("mended_arguments", block.entry.position, block.entry.call_id)


def mend_call_types(repair: Repair) -> None:
    """Give each call a type, if the destination refuses one without it."""
    edited, destination, pairs, _, mends, _ = repair
    for path, block in pairs.calls.items() if destination.typed_calls else ():
        call = as_object(at(edited.messages, path)) or {}
        kind = destination.call_name.holder(call)
        if text_or_empty(call.get("type")) == "" and kind in call:
            edited.edit(path, {"type": NewValue(kind)})
            mends.add("call_type", block.entry.position, block.entry.call_id, kind)


def new_arguments(value: object, place: ArgumentsAt) -> JsonObject | str | None:
    """Return arguments in the form that their place asks for; ``None`` if they have it.

    >>> new_arguments('{"a": 1', ArgumentsAt("input", "object"))
    {'arguments': '{"a": 1'}
    """
    given = as_object(value)
    if (value is None and place.is_optional) or (given is not None and place.form == "object"):
        return None
    new = loads_arguments(value) if given is None else given
    if isinstance(value, str) and value:
        is_objects = value.lstrip(" \t\r\n").startswith("{") and new != {"arguments": value}
        if is_objects and place.form == "text":
            return None
        new = new if is_objects else {"arguments": value}
    return compact_json(new) if place.form == "text" else new
