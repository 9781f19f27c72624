"""The types of texts: that of a destination's texts, and in Responses that of the message's role."""

from __future__ import annotations

from typing import Final

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.projection.edits import NewValue
from toolcarry._pure.projection.repair.state import Repair

GIVEN: Final = "input_text"
SAID: Final = "output_text"
"""The types of texts in Responses: of those that the model is given, and of those that it said."""


def mend_text_types(repair: Repair) -> None:
    """Give texts the type of the destination's, if its parts have types: to those without one, and to those of Responses."""
    # "every content block must declare `type`": HKUDS/nanobot#4060
    # "Input should be 'text'" of a server of Chat for `input_text`: sgl-project/sglang#17853
    edited, destination, pairs, _, mends, _ = repair
    if destination.form == "items" or not destination.has_types:
        return
    for position, message in enumerate(edited.messages):
        if position in edited.guard or (position,) in pairs.owners:
            continue
        parts = enumerate(as_list(message.get("content")) or ())
        wrong = [index for index, item in parts if has_other_type(as_object(item) or {})]
        for index in wrong:
            edited.edit((position, "content", index), {"type": NewValue("text")})
        if wrong:
            mends.add("text_type", position, "", "text")


def has_other_type(part: JsonObject) -> bool:
    """Return true if a part is a text without a type, or with one of Responses."""
    return is_bare_text(part) or is_text_of_responses(part)


def is_text_of_responses(part: JsonObject) -> bool:
    """Return true if a part is a text with a type that only Responses has."""
    return part.get("type") in (GIVEN, SAID) and "text" in part


def is_bare_text(part: JsonObject) -> bool:
    """Return true if a part is a text that does not say so."""
    return "type" not in part and "text" in part


def mend_types_by_role(repair: Repair, position: int, message: JsonObject) -> None:
    """Give the texts of a message the type that they have by its role."""
    is_models = message.get("role") == repair.destination.model
    wanted, other = (SAID, GIVEN) if is_models else (GIVEN, SAID)
    wrong = [
        index
        for index, item in enumerate(as_list(message.get("content")) or ())
        if (part := as_object(item) or {}).get("type") in ("text", other) or is_bare_text(part)
    ]
    for index in wrong:
        repair.edited.edit((position, "content", index), {"type": NewValue(wanted)})
    if wrong:
        repair.mends.add("text_type", position, "", wanted)
