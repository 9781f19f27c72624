"""The members of messages, calls and items that a destination refuses, or wants in another form.

Nothing here moves a message or a result: each correction is an edit in its place, so that the rest of the repair merges
its own edits with it.
"""

from __future__ import annotations

from toolcarry._input.objects import text_or_empty
from toolcarry._pure.projection.edits import NewValue
from toolcarry._pure.projection.repair.cache_marks import leave_out_marks
from toolcarry._pure.projection.repair.calls import mend_arguments, mend_call_types, mend_names
from toolcarry._pure.projection.repair.prompt import is_systems, take_out_prompt
from toolcarry._pure.projection.repair.signatures import leave_out_thoughts, sign_calls
from toolcarry._pure.projection.repair.state import Repair
from toolcarry._pure.projection.repair.text_types import mend_text_types, mend_types_by_role


def mend_members(repair: Repair) -> None:
    """Correct the members of messages, calls and items."""
    take_out_prompt(repair)
    mend_roles(repair)
    leave_out_thoughts(repair)
    leave_out_members(repair)
    share_members(repair)
    leave_out_marks(repair)
    mend_text_types(repair)
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
            mend_types_by_role(repair, position, item)
