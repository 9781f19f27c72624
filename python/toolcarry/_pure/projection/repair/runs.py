"""Who speaks in turn: messages of one side that follow one another, and where the model's turns end behind their calls."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry._pure.projection.edits import Path, at
from toolcarry._pure.projection.repair.message_parts import MODEL, Side, is_blank, paths_of
from toolcarry._pure.projection.repair.providers import Dialect
from toolcarry._pure.projection.repair.repair import Repair
from toolcarry.wire import Wire, as_object, text_or_empty


def runs_of(repair: Repair) -> list[tuple[Side, list[int]]]:
    """The messages of one side that follow one another; what the model says behind its calls is a turn of its own.

    A message with calls is the model's, whatever its role.
    """
    material, dialect, calls = repair.material, repair.dialect, repair.pairs.calls
    runs: list[tuple[Side, list[int]]] = []
    is_behind_calls = False
    for position, message in enumerate(material.messages):
        if material.is_gone((position,)):
            continue
        paths = paths_of(material.messages, position, dialect.key)
        has_calls = any(path in calls for path in paths)
        side: Side = "model" if has_calls else side_of(message, dialect)
        is_next = (
            side == "model"
            and is_behind_calls
            and (not has_calls or paths[0] not in calls or speaks_last(repair, paths))
        )
        if not runs or runs[-1][0] != side or is_next:
            runs.append((side, []))
        is_behind_calls = has_calls
        runs[-1][1].append(position)
    return runs


def side_of(message: Wire, dialect: Dialect) -> Side:
    """Who says a message without calls."""
    role = text_or_empty(message.get("role"))
    if role in MODEL:
        return "model"
    return "user" if role in dialect.answering else "other"


def speaks_last(repair: Repair, paths: Sequence[Path]) -> bool:
    """Whether a text stands behind the calls of a message, or an answer of the provider's own behind one of them.

    Some providers refuse that.
    """
    is_behind = has_text = False
    for path in paths if repair.dialect.ends_in_calls else ():
        part = as_object(at(repair.material.messages, path)) or {}
        kind = text_or_empty(part.get("type"))
        if path in repair.pairs.calls:
            is_behind, has_text = True, False
        elif is_behind and kind.endswith("_tool_result"):
            return True
        has_text = has_text or (is_behind and kind == "text" and not is_blank(part))
    return has_text
