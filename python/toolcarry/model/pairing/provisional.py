"""Recognise results that say that another one will follow for the same call. The forms are in ``_data/provisional.json``."""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import as_object, first_given, text_or_empty
from toolcarry.model.content import is_stand_in, result_text
from toolcarry.model.content.answer import held_object
from toolcarry.model.pairing.block import Entry

_TABLE = read_table("provisional")
_CONTINUE: Final = tuple(_TABLE["continue_keys"])
_STATUS: Final[str] = _TABLE["status_key"]
STATUSES: Final = frozenset(_TABLE["statuses"])
NO_ANSWERS: Final = frozenset(_TABLE["no_answers"])
"""The texts of an empty response, by which a generator ends."""


def replaces(later: Entry, earlier: Entry) -> bool:
    """Return true if the result of ``later`` counts instead of that of ``earlier``, for the same call.

    A real result replaces a stand-in, and any that says something replaces a provisional one.
    """
    if is_stand_in(later.content):
        return False
    if is_stand_in(earlier.content):
        return True
    return is_provisional(earlier) and result_text(later.content) not in NO_ANSWERS


def is_provisional(entry: Entry) -> bool:
    """Return true if a result is not the last one for its call."""
    wire = entry.result or {}
    response = as_object(first_given(wire, "functionResponse", "function_response")) or {}
    if any(response.get(key) is True for key in _CONTINUE):
        return True
    held = held_object(entry.content) or {}
    return any(_folded(holder.get(_STATUS)) in STATUSES for holder in (wire, held))


def _folded(status: object) -> str:
    """Return a status in lower case, without spaces, hyphens and underscores."""
    text = text_or_empty(status)
    kept = text.replace(" ", "").replace("-", "").replace("_", "")
    return kept.lower() if kept.isascii() else ""
