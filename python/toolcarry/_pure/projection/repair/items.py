"""OpenAI Responses: calls, results and reasoning are items of their own."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry._input.objects import Wire, text_or_empty
from toolcarry._pure.projection.edits import Draft
from toolcarry._pure.projection.repair.pairs import FOUND, SEARCHED, Pairs
from toolcarry._pure.projection.repair.state import Repair


def mend_items(repair: Repair) -> list[Draft]:
    """Return the items with one result after each call, and the outcome of each reasoning after it.

    A missing result is added after the group of calls that its call belongs to.
    """
    material, dialect, pairs, _, mends = repair
    drafts: list[Draft] = []
    missing: list[Draft] = []
    if pairs.is_searching:
        mends.open_kinds.add(SEARCHED)
    leads = leading_on(material.messages)
    for position, item in enumerate(material.messages):
        path = (position,)
        if material.is_gone(path):
            continue
        is_call, is_result = path in pairs.calls, dialect.is_result(item)
        if missing and not is_call:
            drafts += missing
            missing = []
        if position in material.guard:
            drafts.append(material.draft(path))
            continue
        is_result = is_result and not material.is_continued
        is_found = item.get("type") == FOUND and answers_other(item, pairs)
        if (is_result or is_found) and not pairs.has_result(path):
            repair.tell_stray(path, text_or_empty(item.get("call_id")))
            continue
        if is_reasoning(item) and not leads[position]:
            mends.add("trailing_thought", position)
            continue
        drafts.append(material.draft(path))
        if is_call and pairs.result_of(pairs.calls[path]) is None:
            missing += repair.answer(pairs.calls[path])
    return drafts + missing


def answers_other(item: Wire, pairs: Pairs) -> bool:
    """Return true if an item names a call that it does not answer, since the client does."""
    call_id = text_or_empty(item.get("call_id"))
    return call_id != "" and call_id in pairs.ids


def is_reasoning(item: Wire) -> bool:
    return item.get("type") == "reasoning"


def leading_on(items: Sequence[Wire]) -> list[bool]:
    """Return for each item whether an item of the model follows it, other than reasoning."""
    leads: list[bool] = []
    follows = False
    for item in reversed(items):
        leads.append(follows)
        if not is_reasoning(item):
            role, kind = item.get("role"), text_or_empty(item.get("type"))
            follows = role == "assistant" or (role is None and not kind.endswith("_output"))
    leads.reverse()
    return leads
