"""The arguments of old calls that hold nothing new: a marker may take their place.

Their texts are in a later result, were written again, were replaced, or failed. Only texts are replaced, and only
those under the names of ``_data/tool_arguments.json``, so that a call keeps its target, its members and their types.
The reference in the marker is that of the call's result and the name of the argument: ``t1;content``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_object
from toolcarry._pure.dedupe import WHOLE_FILE_KEYS, writes_whole_file
from toolcarry._pure.dedupe.line_ranges import DEFAULT_READ, line_range
from toolcarry._pure.dedupe.rules import RuleSet
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.projection import marker as markers
from toolcarry._pure.projection.arguments import Arguments, Input
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.marker import ARGUMENT
from toolcarry._pure.projection.result_slot import Paths
from toolcarry._pure.tokens.count import SURROGATES
from toolcarry.types.policy import Policy
from toolcarry.types.values import Decisions, Rule

_TABLE: Final = read_table("tool_arguments")
OLD_KEYS: Final[tuple[str, ...]] = tuple(_TABLE["old_keys"])
_CLEARABLE_KEYS: Final[tuple[str, ...]] = (
    *WHOLE_FILE_KEYS,
    _TABLE["source_key"],
    *OLD_KEYS,
    *_TABLE["new_keys"],
    *_TABLE["diff_keys"],
)
"""The names of the arguments that may be replaced."""
_TYPES: Final[tuple[str, ...]] = tuple(_TABLE["call_types"])
_HOLDERS: Final[tuple[str, ...]] = tuple(_TABLE["call_holders"])
_MEMBERS: Final[tuple[str, ...]] = tuple(_TABLE["argument_members"])
KEPT_TURNS: Final = 3
"""The last turns, whose arguments the model may still work with."""


def are_wanted(policy: Policy, previous: Decisions | None) -> bool:
    """Return true if arguments may be replaced, or were."""
    if policy.clear_tool_inputs or (
        policy.clear_tool_inputs is None and policy.max_request_tokens is not None
    ):
        return True
    return previous is not None and any(ARGUMENT in reference for reference in previous.made)


def read_inputs(blocks: Sequence[Block], messages: Sequence[Any], policy: Policy) -> None:
    """Find the arguments of each call that may be replaced."""
    paths = Paths(messages)
    names = policy.clear_tool_inputs
    rule = Rule(names) if names and isinstance(names, tuple) else None
    rules = None if rule is None else RuleSet((rule,))
    later = _Later()
    for block in reversed(blocks):
        entry = block.entry
        reason, keys = later.judge(entry)
        if entry.call is not None and entry.kind == "edit":
            is_asked = (
                rules is None or rules.find(entry.tool_name, entry.server, entry.given) is rule
            )
            _read(block, paths, reason if is_asked else "", keys)


class _Later:
    """The files that later calls read, or wrote as a whole, by scope, branch and key."""

    def __init__(self) -> None:
        self._read: set[tuple[str, bool, str]] = set()
        self._written: set[tuple[str, bool, str]] = set()

    def judge(self, entry: Entry) -> tuple[str, Sequence[str]]:
        """Return why arguments of a call may be replaced, and which. The calls come newest first."""
        if entry.call is None or entry.result is None or entry.kind not in ("read", "edit"):
            return "", ()
        if entry.is_failure:
            return "failed_input", _CLEARABLE_KEYS
        if entry.is_doubtful:
            return "", ()
        file = None if entry.key is None else (entry.scope, entry.is_active, entry.key)
        if entry.kind == "read":
            if file is not None and _reads_whole_file(entry.given):
                self._read.add(file)
            return "", ()
        is_whole = writes_whole_file(entry.given)
        is_written, is_read = file in self._written, file in self._read
        if is_whole and file is not None:
            self._written.add(file)
        if is_written:
            return "later_write", _CLEARABLE_KEYS
        if is_whole and is_read:
            return "read_again", _CLEARABLE_KEYS
        return "applied_edit", OLD_KEYS


def _reads_whole_file(given: JsonObject) -> bool:
    """Return true for a read without a range, or with one that holds as much."""
    first, last = line_range(given) or DEFAULT_READ
    return first <= DEFAULT_READ[0] and last >= DEFAULT_READ[1]


def _read(block: Block, paths: Paths, reason: str, keys: Sequence[str]) -> None:
    """Set the arguments of a call that may be replaced, unless they have no place of their own."""
    entry = block.entry
    texts = [(key, entry.given.get(key)) for key in _CLEARABLE_KEYS]
    found = [
        Input(key, text, reason if key in keys else "", block.reference)
        for key, text in texts
        if isinstance(text, str) and not markers.is_marker(text)
    ]
    if not found or entry.call is None or _has_surrogates(entry.arguments):
        return
    path, place = paths.only(entry.position, entry.call), _place_of(entry.call, entry.arguments)
    if path is not None and place is not None:
        arguments: Any = entry.arguments
        block.inputs, block.arguments = found, Arguments(path, *place, arguments)


def _has_surrogates(arguments: object) -> bool:
    """Return true for JSON text that no bytes can hold."""
    return isinstance(arguments, str) and SURROGATES.search(arguments) is not None


def _place_of(call: JsonObject, arguments: object) -> tuple[str, str] | None:
    """Return the member that holds the arguments, and their name; ``None`` for a call of the provider's own tools."""
    if call.get("type", "function") not in _TYPES:
        return None
    for holder in ("", *_HOLDERS):
        held: Mapping[str, Any] | None = as_object(call.get(holder)) if holder else call
        for key in _MEMBERS if held is not None else ():
            if held is not None and held.get(key) is arguments:
                return holder, key
    return None
