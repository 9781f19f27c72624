"""OpenAI Chat and Ollama: results are messages of their own, directly after the message with their calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.content.media import FILE_PARTS, MEDIA
from toolcarry._pure.context.fence import NO_OUTPUT
from toolcarry._pure.formats import read_result
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.edits import Changed, Draft, NewValue, Parts, Path
from toolcarry._pure.projection.repair.message_parts import parts_of, value_of
from toolcarry._pure.projection.repair.pairs import duplicate_calls
from toolcarry._pure.projection.repair.state import Repair

WORD_KEYS: Final[tuple[str, ...]] = tuple(read_table("parts")["word_keys"])
"""A message without calls has one of these members."""
_ADDED: Final[dict[str, str]] = read_table("texts")["added"]
"""The texts of messages that a destination asks for, and of those that hold the media of results."""


def repair_chat(repair: Repair) -> list[Draft]:
    """Return the messages with each call's result after it, once, and no other results anywhere."""
    edited, destination, pairs, _, mends, _ = repair
    by_position: defaultdict[int, list[Block]] = defaultdict(list)
    owners: dict[int, int] = {}
    media: dict[Path, list[Draft]] = {}
    """The images and files that have to follow the results, by the path of the result."""
    for block in pairs.calls.values():
        by_position[block.entry.position].append(block)
    for path, block in pairs.owners.items():
        owners[int(path[0])] = block.entry.position
        if not edited.is_gone(path):
            renew(repair, path, block)
            fill(repair, path, block)
            media[path] = take_out_media(repair, path, block)
    drafts: list[Draft] = []
    behind = -1
    """The position of the message whose results belong here."""
    for position, message in enumerate(edited.messages):
        path = (position,)
        if position in edited.guard:
            behind = position
            draft = edited.message(position)
            drafts += [] if draft is None else [draft]
            continue
        is_own = path in pairs.owners or destination.is_result(message)
        is_result = is_own or names_call(message, pairs.ids)
        if path in pairs.strays or (is_result and path not in pairs.others):
            if edited.is_gone(path):
                continue
            call_id = text_or_empty(message.get("tool_call_id"))
            if position not in owners:
                repair.report_stray(path, call_id)
            elif owners[position] != behind:
                mends.add("moved_result", position, call_id)
            continue
        behind = position
        blocks = by_position.get(position, ())
        if blocks and message.get("role") != destination.model:
            edited.edit(path, {"role": NewValue(destination.model)})
            mends.add("renamed_role", position, blocks[-1].entry.call_id)
        repair_message(repair, position, message)
        draft = edited.message(position)
        if draft is None:
            continue
        drafts.append(draft)
        drafts += _results_of(repair, blocks, media)
    return separate(repair, drafts) if destination.model_follows_results else drafts


def renew(repair: Repair, path: Path, block: Block) -> None:
    """Change the role of an answer from ``function``, which is refused for ``tool_calls``, to ``tool``."""
    position = int(path[0])
    message = repair.edited.messages[position]
    if repair.destination.is_result(message):
        return
    members = {"role": NewValue("tool")}
    if message.get("content") is None:  # only the old role may be without content
        members["content"] = NewValue("")
    name = repair.pairs.name_of(block)
    own_name = text_or_empty(message.get("name"))
    if own_name not in (
        "",
        name,
    ):  # another tool's name would make it an answer to that, if it has no id
        members["name"] = NewValue(name)
        repair.mends.add("renamed_tool", position, block.entry.call_id, name)
    repair.edited.edit(path, members)
    repair.mends.add("renamed_role", position, block.entry.call_id)


def fill(repair: Repair, path: Path, block: Block) -> None:
    """Give a result without content a text that says so, where the provider refuses it."""
    edited, destination, _, _, mends, _ = repair
    message = edited.messages[int(path[0])]
    is_missing = destination.is_result(message) and message.get("content") is None
    if destination.refuses_empty and is_missing:
        edited.edit(path, {"content": NewValue(NO_OUTPUT)})
        mends.add("empty_result", int(path[0]), block.entry.call_id)
        mends.texts[block.entry.order] = NO_OUTPUT


def take_out_media(repair: Repair, path: Path, block: Block) -> list[Draft]:
    """Remove images and files from a result, if the provider takes only texts in it, and return them."""
    edited, destination, _, _, mends, _ = repair
    if not destination.refuses_media:
        return []
    place: Path = (*path, "content")
    given = parts_of(edited, path, place, edited.messages[int(path[0])].get("content")) or []
    media = [item for item in given if is_media(value_of(item, edited.messages))]
    if not media:
        return []
    stay = [item for item in given if item not in media]
    new = Parts(place, stay) if stay else NewValue(_ADDED["media_follow"])
    edited.edit(path, {"content": new})
    mends.add("moved_media", int(path[0]), block.entry.call_id)
    return media


def is_media(part: JsonObject) -> bool:
    """Return true if a part is an image, a sound or a file."""
    return text_or_empty(part.get("type")) in (*MEDIA, *FILE_PARTS)


def separate(repair: Repair, drafts: list[Draft]) -> list[Draft]:
    """Return the messages with a word of the model between a result and a user message."""
    kept: list[Draft] = []
    before = ""
    for draft in drafts:
        role = role_of(draft, repair.edited.messages)
        if before == "tool" and role == "user":
            position = None if isinstance(draft, NewValue) or draft.path is None else draft.path[0]
            repair.mends.add("missing_model", None if position is None else int(position))
            kept.append(
                NewValue({"role": repair.destination.model, "content": _ADDED["missing_model"]})
            )
        kept.append(draft)
        before = role
    return kept


def role_of(draft: Draft, messages: Sequence[JsonObject]) -> str:
    """Return the role of a message."""
    if isinstance(draft, NewValue):
        return text_or_empty(draft.value.get("role"))
    new = draft.members.get("role") if isinstance(draft, Changed) else None
    if isinstance(new, NewValue):
        return text_or_empty(new.value)
    return "" if draft.path is None else text_or_empty(messages[int(draft.path[0])].get("role"))


def names_call(message: JsonObject, call_ids: set[str]) -> bool:
    """Return true if a message of the old role names a call of ``tool_calls``, which is always refused."""
    call_id = text_or_empty(message.get("tool_call_id"))
    return message.get("role") == "function" and call_id != "" and call_id in call_ids


def _results_of(
    repair: Repair, blocks: Sequence[Block], media: Mapping[Path, list[Draft]]
) -> list[Draft]:
    """Return the results for the calls of one message: the existing ones in their order, then new ones.

    A user message with the media of the results follows them.
    """
    result_of, message = repair.pairs.result_of, repair.edited.message
    paths = sorted([path for path in map(result_of, blocks) if path is not None])
    drafts = [draft for path in paths if (draft := message(int(path[0]))) is not None]
    missing = [block for block in blocks if result_of(block) is None]
    drafts += [draft for block in missing for draft in repair.answer(block)]
    items = [item for path in paths for item in media.get(path, ())]
    if items:
        label: Draft = NewValue(repair.destination.text(_ADDED["media_of_results"]))
        content = Parts(None, [label, *items])
        drafts.append(Changed(None, {"role": NewValue("user"), "content": content}))
    return drafts


def take_out_empty_calls(repair: Repair) -> None:
    """Remove empty lists of calls: Chat refuses them, and other providers refuse the member."""
    for position, message in enumerate(repair.edited.messages):
        if as_list(message.get("tool_calls")) == [] and position not in repair.edited.guard:
            is_empty = repair.destination.form == "chat" and all(
                message.get(key) is None for key in WORD_KEYS
            )
            empty = {"content": NewValue("")} if is_empty else {}
            repair.edited.edit((position,), {"tool_calls": None, **empty})
            repair.mends.add("empty_calls", position)


def repair_message(repair: Repair, position: int, message: JsonObject) -> None:
    """Remove from the content calls that are in ``tool_calls`` too, and answers to the client's calls."""
    edited, mends = repair.edited, repair.mends
    calls = as_list(message.get("tool_calls"))
    if not calls and not repair.pairs.strays:
        return
    ids = [text_or_empty((as_object(call) or {}).get("id")) for call in calls or ()]
    parts = [as_object(item) or {} for item in as_list(message.get("content")) or ()]
    places = duplicate_calls(message)
    doubled = {index: places[index] for index in places if parts[index].get("type") == "tool_use"}
    for index in doubled:
        mends.add("doubled_call", position, text_or_empty(parts[index].get("id")))
    gone: set[Path] = {(position, "content", index) for index in doubled}
    for index, part in enumerate(parts):
        path: Path = (position, "content", index)
        if repair.pairs.is_misplaced(path, part):
            repair.report_stray(path, read_result(part).call_id)
            gone.add(path)
    if gone and len(gone) == len(parts):
        edited.edit((position,), {"content": NewValue("")})
    else:
        for path in gone:
            edited.take_out(path)
    kept = {ids[index]: index for index in doubled.values() if ids[index]}
    for index, call_id in enumerate(ids):
        if kept.get(call_id, index) != index:
            edited.take_out((position, "tool_calls", index))
