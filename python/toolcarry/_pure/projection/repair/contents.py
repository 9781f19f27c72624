"""Results whose content is neither text nor a list of parts, as their provider asks.

Tools return objects, numbers and lists of them, and frameworks put them into requests as they are. Each provider has
one form for such a value: JSON as text, a text block, or an object.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry._input.json import compact_json
from toolcarry._input.objects import as_list, as_object
from toolcarry._pure.projection.edits import Changed, Draft, NewValue, Original, Parts, Path
from toolcarry._pure.projection.repair.state import Repair
from toolcarry._pure.projection.result_slot import (
    ResultSlot,
    block_of,
    has_type,
    is_blank_text,
    is_block,
    unwrapped_block,
)


def mend_contents(repair: Repair) -> None:
    """Write the contents of results in a form that the provider accepts."""
    edited, pairs, mends = repair.edited, repair.pairs, repair.mends
    for block in edited.blocks:
        slot = block.slot
        if slot is None or pairs.owners.get(slot.path) is not block or edited.is_gone(slot.path):
            continue
        is_same = block.decision is None
        new = new_content(slot) if is_same else shortened_content(slot, block.new)
        if new is None:
            continue
        members = {slot.key: new}
        is_held = slot.holder != ""
        held = {slot.holder: Changed((*slot.path, slot.holder), members)} if is_held else members
        edited.edit(slot.path, held)
        mends.add("mended_content", int(slot.path[0]), block.entry.call_id)


def shortened_content(slot: ResultSlot, text: str) -> NewValue | None:
    """Return the shortened text of a result that was a list of texts without types; ``None`` if it was none."""
    items = as_list(slot.content)
    is_texts = bool(items) and all(isinstance(item, str) for item in items or ())
    if not is_texts or slot.key == "response":
        return None
    return NewValue([{"text": text}] if slot.holder == "toolResult" else text)


def new_content(slot: ResultSlot) -> NewValue | Parts | None:
    """Return the content of a result in its provider's form; ``None`` if it has it.

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
    items = as_list(content)
    if slot.holder == "toolResult":
        return new_blocks(slot, items)
    if slot.is_json():
        return NewValue(compact_json(content))
    if items is None:
        # "messages.N.content: Invalid input" of servers that speak Chat: NousResearch/hermes-agent#81546
        return None if isinstance(content, str) else NewValue([content])
    # "Missing required parameter: 'messages[3].content[0].type'": langchain-ai/langgraphjs#506
    if not items or any(map(has_type, items)):
        return None
    return NewValue(slot.text())


def new_blocks(slot: ResultSlot, items: Sequence[object] | None) -> NewValue | Parts | None:
    """Return the content of a result as blocks of Bedrock; ``None`` if it is a list of them."""
    if items is None:
        return None if is_blank_text(slot.content) else NewValue([block_of(slot.content)])
    if all(map(is_block, items)):
        return None
    place: Path = (*slot.path, slot.holder, slot.key)
    blocks: list[Draft] = [
        Original((*place, index)) if is_block(item) else NewValue(unwrapped_block(item))
        for index, item in enumerate(items)
        if not is_blank_text(item)
    ]
    return Parts(place, blocks)
