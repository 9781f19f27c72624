"""OpenAI Responses: calls, results and reasoning are items of their own."""

from __future__ import annotations

from collections.abc import Container, Sequence

from toolcarry._input.objects import JsonObject, text_or_empty
from toolcarry._pure.formats.responses import is_program
from toolcarry._pure.projection.edits import Draft, Path
from toolcarry._pure.projection.repair.pairs import FOUND_TOOLS, SEARCHING_CALL, Pairs
from toolcarry._pure.projection.repair.state import Repair


def repair_items(repair: Repair) -> list[Draft]:
    """Return the items with one result after each call, and the outcome of each reasoning after it.

    A missing result, and one that stands before its call, come after the group of calls that the call belongs to.
    """
    edited, destination, pairs, _, mends, _ = repair
    drafts: list[Draft] = []
    missing: list[Draft] = []
    if pairs.is_searching:
        mends.open_kinds.add(SEARCHING_CALL)
    early = {
        path: block for path, block in pairs.owners.items() if int(path[0]) < block.entry.position
    }
    leads = precede_model_items(edited.messages, early)
    for position, item in enumerate(edited.messages):
        path = (position,)
        if edited.is_gone(path):
            continue
        is_call, is_result = path in pairs.calls, destination.is_result(item)
        if missing and not is_call:
            drafts += missing
            missing = []
        if position in edited.guard:
            drafts.append(edited.draft(path))
            continue
        if path in early:
            mends.add("moved_result", position, early[path].entry.call_id)
            continue
        is_result = is_result and not edited.is_continued
        is_found = item.get("type") == FOUND_TOOLS and answers_other(item, pairs)
        if (is_result or is_found) and not pairs.has_result(path):
            repair.report_stray(path, text_or_empty(item.get("call_id")))
            continue
        if is_reasoning(item) and not leads[position]:
            mends.add("trailing_thought", position)
            continue
        draft = edited.message(position)
        drafts += [] if draft is None else [draft]
        if not is_call:
            continue
        result = pairs.result_of(pairs.calls[path])
        if result is None:
            missing += repair.answer(pairs.calls[path])
        elif result in early:
            missing.append(edited.draft(result))
    return drafts + missing


def answers_other(item: JsonObject, pairs: Pairs) -> bool:
    """Return true if an item names a call that it does not answer, since the client does."""
    call_id = text_or_empty(item.get("call_id"))
    return call_id != "" and call_id in pairs.ids


def is_reasoning(item: JsonObject) -> bool:
    return item.get("type") == "reasoning"


def precede_model_items(items: Sequence[JsonObject], moved: Container[Path]) -> list[bool]:
    """Return for each item whether an item of the model follows it, other than reasoning and results that move."""
    leads: list[bool] = []
    follows = False
    for position in range(len(items) - 1, -1, -1):
        item = items[position]
        leads.append(follows)
        if not is_reasoning(item) and (position,) not in moved:
            role, kind = item.get("role"), text_or_empty(item.get("type"))
            is_models = is_program(kind) or not kind.endswith("_output")
            follows = role == "assistant" or (role is None and is_models)
    leads.reverse()
    return leads
