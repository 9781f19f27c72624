"""The members of messages, calls and items that a destination refuses, or wants in another form.

Nothing here moves a message or a result: each correction is an edit in its place, so that the rest of the repair merges
its own edits with it.
"""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.json import compact_json, loads_arguments
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.projection.arguments import with_markers
from toolcarry._pure.projection.edits import Changed, Draft, NewValue, Parts, Path, at
from toolcarry._pure.projection.repair.destinations import ArgumentsAt, Destination
from toolcarry._pure.projection.repair.frame import Frame
from toolcarry._pure.projection.repair.ids import id_member
from toolcarry._pure.projection.repair.message_parts import parts_of, source_of
from toolcarry._pure.projection.repair.names import new_names
from toolcarry._pure.projection.repair.prompt import is_systems, take_out_prompt
from toolcarry._pure.projection.repair.report import Mends
from toolcarry._pure.projection.repair.state import Repair
from toolcarry._pure.projection.request import EditedMessages


def mend_members(repair: Repair) -> None:
    """Correct the members of messages, calls and items."""
    take_out_prompt(repair)
    mend_roles(repair)
    leave_out_thoughts(repair)
    leave_out_members(repair)
    share_members(repair)
    leave_out_marks(repair)
    mend_bare_texts(repair)
    mend_items(repair)
    mend_names(repair)
    mend_arguments(repair)
    mend_call_types(repair)
    sign_calls(repair)


def mend_roles(repair: Repair) -> None:
    """Make system messages the user's where the destination refuses them, except for those of the system prompt.

    Others get the role ``system`` if the destination does not know ``developer``.

    They stay in their place: what they say holds from there on, and the messages before them stay in the prompt cache.
    """
    edited, destination, mends = repair.edited, repair.destination, repair.mends
    if not (
        destination.refuses_system or destination.system_begins or destination.refuses_developer
    ):
        return
    callers = {path[0] for path in repair.pairs.calls}
    is_begun = destination.refuses_system
    for position, message in enumerate(edited.messages):
        is_system = is_systems(message)
        is_begun = is_begun or not is_system
        if not is_system or position in edited.guard or position in callers:
            continue
        if edited.is_gone((position,)):
            continue
        if is_begun and (destination.refuses_system or destination.system_begins):
            edited.users.add(position)
            edited.edit((position,), {"role": NewValue("user")})
            mends.add("system_message", position)
        elif destination.refuses_developer and message.get("role") == "developer":
            edited.edit((position,), {"role": NewValue("system")})
            mends.add("renamed_role", position)


def leave_out_thoughts(repair: Repair) -> None:
    """Remove thoughts without a signature, which another model had, or which a gateway passed on without it."""
    edited, destination = repair.edited, repair.destination
    callers = {path[0] for path in repair.pairs.calls}  # they get the model's role
    for position, message in enumerate(edited.messages if destination.signed_thoughts else ()):
        is_models = message.get("role") == destination.model or position in callers
        if not is_models or position in edited.guard:
            continue
        for index, item in enumerate(as_list(message.get("content")) or ()):
            part = as_object(item) or {}
            if part.get("type") == "thinking" and not text_or_empty(part.get("signature")):
                edited.take_out((position, "content", index))
                repair.mends.add("unsigned_thought", position)


def leave_out_members(repair: Repair) -> None:
    """Remove the members of messages that the destination refuses: those of other providers."""
    edited, destination, pairs, _, mends, _ = repair
    callers = {path[0] for path in pairs.calls}  # they get the model's role
    for position, message in enumerate(edited.messages if destination.refused_members else ()):
        has_role = text_or_empty(message.get("role")) != "" or position in callers
        if position in edited.guard or not has_role:
            continue
        for key in destination.refused_members:
            if key in message:
                edited.edit((position,), {key: None})
                mends.add("refused_member", position, "", key)


def share_members(repair: Repair) -> None:
    """Give each message of the model an empty member that others of them have, if the destination wants it in all."""
    edited, destination, mends = repair.edited, repair.destination, repair.mends
    for key in destination.shared_members:
        own = [
            (position, message)
            for position, message in enumerate(edited.messages)
            if message.get("role") == destination.model
        ]
        if not any(text_or_empty(message.get(key)) for _, message in own):
            continue
        for position, message in own:
            if position not in edited.guard and not isinstance(message.get(key), str):
                edited.edit((position,), {key: NewValue("")})
                mends.add("missing_member", position, "", key)


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
_UNSIGNED: Final[str] = read_table("texts")["unsigned_call"]


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


def mend_bare_texts(repair: Repair) -> None:
    """Give texts without a type theirs, if the destination's parts have types."""
    # "every content block must declare `type`": HKUDS/nanobot#4060
    edited, destination, pairs, _, mends, _ = repair
    if destination.form == "items" or not destination.has_types:
        return
    for position, message in enumerate(edited.messages):
        if position in edited.guard or (position,) in pairs.owners:
            continue
        parts = enumerate(as_list(message.get("content")) or ())
        bare = [index for index, item in parts if is_bare_text(as_object(item) or {})]
        for index in bare:
            edited.edit((position, "content", index), {"type": NewValue("text")})
        if bare:
            mends.add("text_type", position, "", "text")


def is_bare_text(part: JsonObject) -> bool:
    """Return true if a part is a text that does not say so."""
    return "type" not in part and "text" in part


def mend_items(repair: Repair) -> None:
    """Remove ids of items that the server refuses, and add the summary that reasoning has to have."""
    edited, destination, _, _, mends, _ = repair
    for position, item in enumerate(edited.messages if destination.form == "items" else ()):
        if position in edited.guard:
            continue
        kind = text_or_empty(item.get("type"))
        if not kind and item.get("role") is not None:
            kind = "message"
        item_id = text_or_empty(item.get("id"))
        if item_id and not destination.item_ids.takes_id(item_id, kind):
            edited.edit((position,), {"id": None})
            mends.add("dropped_id", position, text_or_empty(item.get("call_id")))
        if destination.needs_summary and kind == "reasoning" and item.get("summary") is None:
            edited.edit((position,), {"summary": NewValue([])})
            mends.add("missing_summary", position)
        if destination.texts_by_role and kind == "message":
            mend_texts(repair, position, item)


def mend_texts(repair: Repair, position: int, message: JsonObject) -> None:
    """Give the texts of a message the type that they have by its role."""
    is_models = message.get("role") == repair.destination.model
    given, said = "input_text", "output_text"
    wanted, other = (said, given) if is_models else (given, said)
    wrong = [
        index
        for index, item in enumerate(as_list(message.get("content")) or ())
        if (part := as_object(item) or {}).get("type") in ("text", other) or is_bare_text(part)
    ]
    for index in wrong:
        repair.edited.edit((position, "content", index), {"type": NewValue(wanted)})
    if wrong:
        repair.mends.add("text_type", position, "", wanted)


def mend_names(repair: Repair) -> None:
    """Give each tool a name that the destination accepts, in its definition and in its calls.

    Equal names stay equal, and different ones different. A call without a name stays without one. The definitions come
    first, so that a later call changes no name that was sent before.
    """
    edited, destination, pairs, mends = (
        repair.edited,
        repair.destination,
        repair.pairs,
        repair.mends,
    )
    rule, frame = destination.tool_name, repair.frame
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
    edited, destination, pairs, mends = (
        repair.edited,
        repair.destination,
        repair.pairs,
        repair.mends,
    )
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
    edited, destination, pairs, mends = (
        repair.edited,
        repair.destination,
        repair.pairs,
        repair.mends,
    )
    for path, block in pairs.calls.items() if destination.typed_calls else ():
        call = as_object(at(edited.messages, path)) or {}
        kind = destination.call_name.holder(call)
        if text_or_empty(call.get("type")) == "" and kind in call:
            edited.edit(path, {"type": NewValue(kind)})
            mends.add("call_type", block.entry.position, block.entry.call_id, kind)


def sign_calls(repair: Repair) -> None:
    """Sign the first call of each message of the open turn, if the destination refuses one without a signature.

    The signature is the one for calls of other models. The turn is open from the last message in which the user speaks.
    """
    edited, destination, pairs, _, mends, _ = repair
    if not destination.signed_calls:
        return
    firsts: dict[int, Path] = {}
    for path in sorted(pairs.calls):
        firsts.setdefault(int(path[0]), path)
    unsigned: list[Path] = []
    for position in range(len(edited.messages) - 1, -1, -1):
        if position in edited.guard or edited.is_gone((position,)):
            continue
        first = firsts.get(position)
        if first is None:
            if _is_users_word(repair, position):
                break
        elif not is_signed(as_object(at(edited.messages, first)) or {}):
            unsigned.append(first)
    for path in reversed(unsigned):
        entry = pairs.calls[path].entry
        edited.edit(path, {"thoughtSignature": NewValue(_UNSIGNED)})
        mends.add("unsigned_call", entry.position, entry.call_id)


def is_signed(part: JsonObject) -> bool:
    """Return true if a part has a signature, by any of both names."""
    return any(text_or_empty(part.get(key)) for key in ("thoughtSignature", "thought_signature"))


def _is_users_word(repair: Repair, position: int) -> bool:
    """Return true if a message without calls is the user's, and no result is in it."""
    edited, destination = repair.edited, repair.destination
    message = edited.messages[position]
    if message.get("role") == destination.model:
        return False
    parts = [as_object(part) or {} for part in as_list(message.get(destination.key)) or ()]
    return bool(parts) and not any(map(destination.is_result, parts))


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
