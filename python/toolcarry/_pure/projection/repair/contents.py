"""Results whose content is neither text nor a list of parts, as their provider asks.

Tools return objects, numbers and lists of them, and frameworks put them into requests as they are, also next to parts.
Each provider has one form for such a value: JSON as text, a text part, or an object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._input.json import compact_json
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.projection.edits import Changed, Draft, NewValue, Parts, at
from toolcarry._pure.projection.repair.destinations import Destination
from toolcarry._pure.projection.repair.message_parts import parts_of
from toolcarry._pure.projection.repair.state import Repair
from toolcarry._pure.projection.result_slot import (
    ResultSlot,
    data_url_of,
    has_type,
    is_block,
    text_of,
)


def mend_contents(repair: Repair) -> None:
    """Write the contents of results in a form that the provider accepts."""
    edited, pairs, mends = repair.edited, repair.pairs, repair.mends
    for block in edited.blocks:
        slot = block.slot
        if slot is None or pairs.owners.get(slot.path) is not block or edited.is_gone(slot.path):
            continue
        if block.decision is None:
            whole = new_content(slot)
        else:
            whole = NewValue(block.new) if is_plain(slot) else None
        new = typed_parts(repair, slot) if whole is None else whole
        if new is None:
            continue
        members = {slot.key: new}
        is_held = slot.holder != ""
        held = {slot.holder: Changed((*slot.path, slot.holder), members)} if is_held else members
        edited.edit(slot.path, held)
        mends.add("mended_content", int(slot.path[0]), block.entry.call_id)


def new_content(slot: ResultSlot) -> NewValue | None:
    """Return the content of a result that is no list of parts in its provider's form; ``None`` if it has it.

    >>> new_content(ResultSlot((0,), {}, "", "content", {"rows": 2}))
    NewValue(value='{"rows":2}', ends=None)
    """
    content = slot.content
    if content is None:
        return None
    if slot.key == "response":
        # "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)":
        # google-gemini/deprecated-generative-ai-js#301
        return None if as_object(content) is not None else NewValue({"result": content})
    is_list = as_list(content) is not None
    if slot.holder:
        is_blank = isinstance(content, str) and not content.strip()
        return None if is_list or is_blank else NewValue([block_of(content)])
    if slot.is_json():
        return NewValue(compact_json(content))
    if not is_list:
        # "messages.N.content: Invalid input" of servers that speak Chat: NousResearch/hermes-agent#81546
        return None if isinstance(content, str) else NewValue([content])
    return NewValue(slot.text()) if is_plain(slot) else None


def is_plain(slot: ResultSlot) -> bool:
    """Return true if the content is a list of texts without types, from which one text can be made."""
    items = as_list(slot.content)
    if not items or slot.holder or slot.key == "response":
        return False
    return all(map(_is_plain_text, items))


def _is_plain_text(item: object) -> bool:
    """Return true if an item is a text without a type, and neither a data URL nor the end of a cached prefix."""
    is_marked = "cache_control" in (as_object(item) or {})
    is_text = text_of(item) is not None and data_url_of(item) is None
    return is_text and not has_type(item) and not is_marked


def typed_parts(repair: Repair, slot: ResultSlot) -> Parts | None:
    """Return a list in which each item is a part; ``None`` if all are, or if there is no list."""
    # "Missing required parameter: 'messages[3].content[0].type'": langchain-ai/langgraphjs#506
    edited, destination = repair.edited, repair.destination
    items = as_list(slot.content)
    if not items or slot.key == "response" or all(is_part(slot, item) for item in items):
        return None
    place = (*slot.path, *((slot.holder,) if slot.holder else ()), slot.key)
    given = parts_of(edited, slot.path, place, slot.content)
    typed = [part_of(slot, item, edited.messages, destination) for item in given or ()]
    stay = [item for item in typed if item is not None]
    return None if given is None or stay == given else Parts(place, stay)


def is_part(slot: ResultSlot, item: object) -> bool:
    """Return true if an item is a part in the form of its provider."""
    return is_block(item) if slot.holder else has_type(item)


def part_of(
    slot: ResultSlot, item: Draft, messages: Sequence[Any], destination: Destination
) -> Draft | None:
    """Return an item of a list as a part; ``None`` for a blank text that the provider refuses."""
    if isinstance(item, NewValue):
        text = destination.text("")
        return Changed(None, {**{key: NewValue(text[key]) for key in text}, "text": item})
    value = None if item.path is None else at(messages, item.path)
    if is_part(slot, value):
        return item
    text = text_of(slot.said(value))
    if text is None:
        return NewValue(block_of(value))
    if destination.refuses_blank and not text.strip():
        return None
    if as_object(value) is None or text_of(value) is None:
        return NewValue(destination.text(text))
    members = item.members if isinstance(item, Changed) else {}
    return Changed(item.path, {**members, "type": NewValue(destination.text("")["type"])})


def block_of(value: object) -> JsonObject:
    """Return a value as a block of Bedrock.

    >>> block_of([1, 2]), block_of({"rows": 2})
    ({'text': '[1,2]'}, {'json': {'rows': 2}})
    """
    if as_object(value) is not None:
        return {"json": value}
    return {"text": value if isinstance(value, str) else compact_json(value)}
