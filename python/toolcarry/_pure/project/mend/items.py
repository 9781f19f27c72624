"""OpenAI Responses: calls, results and reasoning are items of their own."""

from __future__ import annotations

from collections.abc import Mapping

from toolcarry._pure.project.blocks import Block
from toolcarry._pure.project.drafts import Draft, Made, Path
from toolcarry._pure.project.material import Material
from toolcarry._pure.project.mend.dialects import Dialect
from toolcarry.types import Mend
from toolcarry.wire import Wire, text_or_empty


def mend_items(
    material: Material,
    dialect: Dialect,
    calls: Mapping[Path, Block],
    ids: Mapping[int, str],
    mends: list[Mend],
) -> list[Draft]:
    """The items, so that each call has one result behind it, and each reasoning what it led to.

    A result that is missing stands behind the calls and results that its call is one of.
    """
    results = {block.result_path for block in calls.values()}
    known = {block.entry.call_id for block in calls.values()}
    drafts: list[Draft] = []
    missing: list[Draft] = []
    for position, item in enumerate(material.messages):
        path = (position,)
        if material.is_gone(path):
            continue
        is_call, is_result = path in calls, dialect.is_result(item)
        if missing and not (is_call or is_result or is_reasoning(item)):
            drafts += missing
            missing = []
        if is_result and path not in results and not material.is_continued:
            call_id = text_or_empty(item.get("call_id"))
            kind = "duplicate_result" if call_id in known else "orphan_result"
            mends.append(Mend(kind, position, call_id))
            continue
        if is_reasoning(item) and not leads_on(material, position):
            mends.append(Mend("trailing_thought", position, ""))
            continue
        drafts.append(material.draft(path))
        if is_call and calls[path].result_path is None:
            entry = calls[path].entry
            missing.append(Made(dialect.make(ids[entry.order], entry.tool_name, item)))
            mends.append(Mend("missing_result", position, entry.call_id))
    return drafts + missing


def is_reasoning(item: Wire) -> bool:
    return item.get("type") == "reasoning"


def leads_on(material: Material, position: int) -> bool:
    """Whether something of the model's follows on what it thought."""
    behind = position + 1
    while behind < len(material.messages):
        item = material.messages[behind]
        if not is_reasoning(item):
            kind = text_or_empty(item.get("type"))
            return item.get("role") == "assistant" or (
                item.get("role") is None and not kind.endswith("_output")
            )
        behind += 1
    return False
