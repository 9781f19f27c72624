"""An argument of a call that a marker may replace, and the place of a call's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from toolcarry._input.json import compact_json
from toolcarry._input.objects import JsonObject
from toolcarry._pure.projection import marker as markers
from toolcarry._pure.projection.blocks import CLEARED, LEAST_SAVED, byte_length
from toolcarry._pure.projection.edits import Changed, Members, NewValue, Path
from toolcarry._pure.projection.marker import ARGUMENT
from toolcarry._pure.projection.splice import Spans
from toolcarry._pure.tokens.count import count_tokens
from toolcarry.types.values import EncodingName


class Input:
    """An argument of a call. ``reason`` says why it may be replaced; empty if it may not."""

    __slots__ = (
        "is_cleared",
        "is_known",
        "key",
        "longest",
        "marker",
        "reason",
        "reference",
        "text",
    )

    def __init__(self, key: str, text: str, reason: str, call: str) -> None:
        self.key = key
        self.text = text
        self.reason = reason
        self.reference = f"{call}{ARGUMENT}{key}"
        self.marker = markers.marker_of(CLEARED, len(text), self.reference)
        self.longest = markers.marker_of(
            CLEARED, len(text), f"{markers.widest(call)}{ARGUMENT}{key}"
        )
        """The marker with the longest reference that the call may get."""
        self.is_cleared = self.is_known = False

    @property
    def saved(self) -> int:
        """The bytes that the marker saves."""
        return byte_length(self.text) - len(self.marker)

    def clear(self, encoding: EncodingName) -> bool:
        """Put the marker in its place, if there is a reason, and it saves enough tokens."""
        if self.is_cleared or not self.is_worth(encoding):
            return False
        self.is_cleared = True
        return True

    def is_worth(self, encoding: EncodingName) -> bool:
        """Return true if there is a reason to replace the argument, and that saves enough tokens."""
        if not self.reason or len(self.longest) >= len(self.text):
            return False
        least = count_tokens(self.longest, encoding) + LEAST_SAVED
        return count_tokens(self.text, encoding) >= least


class Arguments(NamedTuple):
    """The place of a call's arguments: the member ``key`` of ``holder``, if that is not empty, else of the call at ``path``."""

    path: Path
    holder: str
    key: str
    value: str | JsonObject

    def members(self, cleared: Sequence[Input]) -> Members:
        """Return the members of the call that change."""
        edit: NewValue | Changed
        if isinstance(self.value, str):
            edit = NewValue(with_markers(self.value, cleared))
        else:
            path = (*self.path, *((self.holder,) if self.holder else ()), self.key)
            edit = Changed(path, {each.key: NewValue(each.marker) for each in cleared})
        inner = {self.key: edit}
        return {self.holder: Changed((*self.path, self.holder), inner)} if self.holder else inner

    def growth(self, cleared: Sequence[Input], encoding: EncodingName) -> int:
        """Return how many more tokens the arguments have with the markers; mostly fewer."""
        old, new = (_written(each) for each in (self.value, with_markers(self.value, cleared)))
        return count_tokens(new, encoding) - count_tokens(old, encoding)


def with_markers(arguments: str | JsonObject, cleared: Sequence[Input]) -> str | JsonObject:
    """Return arguments with the markers in them. In a text, everything else is spelled as it was."""
    if isinstance(arguments, str):
        new = {each.key: NewValue(each.marker) for each in cleared}
        return Spans(arguments.encode(), None).write(None, new).decode()
    return {**arguments, **{each.key: each.marker for each in cleared}}


def _written(arguments: str | JsonObject) -> str:
    return arguments if isinstance(arguments, str) else compact_json(arguments)
