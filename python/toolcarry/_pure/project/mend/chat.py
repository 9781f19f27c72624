"""OpenAI Chat and Ollama: results are messages of their own, right behind the message with their calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from toolcarry._pure.project.blocks import Block
from toolcarry._pure.project.drafts import Draft, Made, Path
from toolcarry._pure.project.material import Material
from toolcarry._pure.project.mend.dialects import Dialect
from toolcarry.types import Mend
from toolcarry.wire import Wire, as_list, as_object, text_or_empty


def mend_chat(
    material: Material,
    dialect: Dialect,
    calls: Mapping[Path, Block],
    ids: Mapping[int, str],
    mends: list[Mend],
) -> list[Draft]:
    """The messages, so that each call has its result behind it, once, and no other result stands anywhere."""
    by_position: defaultdict[int, list[Block]] = defaultdict(list)
    owners: dict[int, int] = {}
    for block in calls.values():
        by_position[block.entry.position].append(block)
        if block.result_path is not None:
            owners[int(block.result_path[0])] = block.entry.position
    known = {block.entry.call_id for block in calls.values()}
    drafts: list[Draft] = []
    behind = -1
    """Whose results stand here."""
    for position, message in enumerate(material.messages):
        if dialect.is_result(message):
            if material.is_gone((position,)):
                continue
            if position not in owners:
                call_id = text_or_empty(message.get("tool_call_id"))
                kind = "duplicate_result" if call_id in known else "orphan_result"
                mends.append(Mend(kind, position, call_id))
            elif owners[position] != behind:
                mends.append(
                    Mend("moved_result", position, text_or_empty(message.get("tool_call_id")))
                )
            continue
        behind = position
        mend_message(material, position, message, mends)
        draft = material.message(position)
        if draft is None:
            continue
        drafts.append(draft)
        drafts += results_of(material, dialect, by_position[position], ids, mends)
    return drafts


def results_of(
    material: Material,
    dialect: Dialect,
    blocks: list[Block],
    ids: Mapping[int, str],
    mends: list[Mend],
) -> list[Draft]:
    """The results for the calls of one message: those that are there in their order, then new ones."""
    paths = sorted([block.result_path for block in blocks if block.result_path is not None])
    drafts = [draft for path in paths if (draft := material.message(int(path[0]))) is not None]
    for block in blocks:
        if block.result_path is None:
            entry = block.entry
            made = dialect.make(ids[entry.order], entry.tool_name, entry.call or {})
            drafts.append(Made(made))
            mends.append(Mend("missing_result", entry.position, entry.call_id))
    return drafts


def mend_message(material: Material, position: int, message: Wire, mends: list[Mend]) -> None:
    """An empty list of calls is refused, and a call that stands in the content too is one call."""
    calls = as_list(message.get("tool_calls"))
    if calls is None:
        return
    if not calls:
        material.edit((position,), {"tool_calls": None})
        mends.append(Mend("empty_calls", position, ""))
    for index, item in enumerate(as_list(message.get("content")) or ()):
        part = as_object(item) or {}
        if calls and part.get("type") == "tool_use":
            material.take_out((position, "content", index))
            mends.append(Mend("doubled_call", position, text_or_empty(part.get("id"))))
