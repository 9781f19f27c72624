"""Which blocks newer ones supersede, judged from the newest to the oldest.

A failure supersedes only failures, so that the last success stays beside it; a failed edit supersedes nothing.
A read of a range is superseded by one later read that covers it. Scopes, and branches that were left, never
supersede one another.
"""

from __future__ import annotations

from functools import lru_cache

from toolcarry._pure.entry import Entry
from toolcarry._pure.lines import DEFAULT_READ, UNREADABLE, is_covered, line_range, remember_range
from toolcarry._pure.rules import OTHER, RuleSet, key_value
from toolcarry._pure.shell import has_side_effects
from toolcarry.decode import compact_json, loads_arguments
from toolcarry.types import Kind, Rule
from toolcarry.wire import Wire, as_object

LONGEST_REMEMBERED = 200
WHOLE_FILE_KEYS = ("content", "file_text", "contents")


Judgement = tuple[str, Entry | None]
"""Why an entry is superseded (empty: it stays), and the entry whose heading counts it."""

STAYS: Judgement = ("", None)
LATER_READ: Judgement = ("later_read", None)


class Lane:
    """What is known of the newer blocks of one scope and branch, by the path, the command, or another key."""

    __slots__ = ("commands", "edits", "failed", "others", "ranges", "reads", "rewritten", "writes")

    def __init__(self) -> None:
        self.reads: dict[str, bool] = {}
        """Whether the file was read whole."""
        self.ranges: dict[str, list[tuple[int, int]]] = {}
        self.edits: dict[str, Entry] = {}
        """The newest edit that succeeded."""
        self.rewritten: set[str] = set()
        self.commands: dict[str, Entry] = {}
        """The newest run."""
        self.others: dict[str, Entry] = {}
        self.failed: set[tuple[Kind, str]] = set()
        """What ran without any success."""
        self.writes: dict[str, bool] = {}


class Judging:
    """The judge of a conversation's entries, which come newest first."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._known = rules.known
        self._is_careful = rules.is_careful
        self._main = Lane()
        self._other_lanes: dict[tuple[str, bool], Lane] = {}
        self._firsts: set[int] = set()

    def judge(self, entry: Entry) -> Judgement:
        """Judge one entry. Sets what ``prepare`` sets, and ``is_stale``."""
        rule = self.prepare(entry)
        keep = rule.keep
        if keep == "none":
            return "rule", None
        value = entry.value
        if value is None:
            return STAYS
        if keep == "first":
            return ("" if entry.order in self._firsts else "earlier_call"), None
        lane = self._main if entry.is_active and not entry.scope else self._lane_of(entry)
        kind = rule.kind
        if kind == "read":
            is_superseded = self._is_superseded_read(entry, value, lane)
            return LATER_READ if is_superseded and keep == "last" else STAYS
        if kind == "edit":
            return self._judge_edit(entry, value, lane, keep == "all")
        return STAYS if keep == "all" else judge_run(entry, kind, value, lane)

    def _lane_of(self, entry: Entry) -> Lane:
        key = entry.scope, entry.is_active
        lane = self._other_lanes.get(key)
        if lane is None:
            lane = self._other_lanes[key] = Lane()
        return lane

    def find_firsts(self, entries: list[Entry]) -> None:
        """Note the oldest successful block of each key, and the failures before it."""
        succeeded: set[tuple[str, bool, str, str]] = set()
        for entry in reversed(entries):
            rule = self.prepare(entry)
            if rule.keep == "first" and entry.value is not None:
                key = (entry.scope, entry.is_active, entry.kind, entry.value)
                if key not in succeeded:
                    self._firsts.add(entry.order)
                if not entry.is_failure:
                    succeeded.add(key)

    def prepare(self, entry: Entry) -> Rule:
        """Find the entry's rule, and by it the kind and the value of its key."""
        entry.is_stale = False
        name, arguments = entry.tool_name, entry.arguments
        if entry.call is None:
            entry.kind, entry.value = "other", None
            rule = self._rules.find(entry.name, {})
            return rule if rule.keep == "none" else OTHER
        given = arguments if type(arguments) is dict else call_input(arguments)
        entry.given = given
        rule = self._known.get(name) or self._rules.find(name, given)
        entry.kind = kind = rule.kind
        if kind == "other":
            entry.value = None if rule.keep == "all" else other_key(rule, name, given)
        else:
            entry.value = key_value(rule, given)
        return rule

    def _is_superseded_read(self, entry: Entry, path: str, lane: Lane) -> bool:
        was_whole = lane.reads.get(path)
        if entry.is_failure:
            lane.reads[path] = bool(was_whole)
            return was_whole is not None
        if path in lane.edits:
            entry.is_stale = True
        lines = line_range(entry.given)
        if lines is not None:
            lane.reads[path] = bool(was_whole)
            return is_superseded_range(lines, path, lane)
        lane.reads[path] = True
        if self._is_careful:
            lane.rewritten.add(path)
        return was_whole or (path in lane.ranges and is_covered(DEFAULT_READ, lane.ranges[path]))

    def _judge_edit(self, entry: Entry, path: str, lane: Lane, keeps_all: bool) -> Judgement:
        newest = lane.edits.get(path)
        is_careful = self._is_careful
        is_superseded = path in lane.rewritten if is_careful else newest is not None
        reason = "later_edit" if is_superseded and not keeps_all else ""
        if entry.is_failure:
            return reason, None
        if newest is None:
            lane.edits[path] = entry
        if is_careful and writes_whole_file(entry.given):
            lane.rewritten.add(path)
        return reason, newest if reason and not is_careful else None


def call_input(arguments: object) -> Wire:
    """The arguments of a call, as an object."""
    found = as_object(arguments)
    return loads_arguments(arguments) if found is None else found


def is_superseded_range(lines: tuple[int, int], path: str, lane: Lane) -> bool:
    """Whether one later read holds these lines. Notes that they are read."""
    if lines == UNREADABLE:
        return False
    ranges = lane.ranges.setdefault(path, [])
    is_read_whole = lane.reads[path] and lines[1] <= DEFAULT_READ[1]
    is_superseded = is_read_whole or is_covered(lines, ranges)
    remember_range(lines, ranges)
    return is_superseded


def judge_run(entry: Entry, kind: Kind, value: str, lane: Lane) -> Judgement:
    """A command, or another tool under a rule that keeps the last of a key."""
    is_command = kind == "command"
    newest = (lane.commands if is_command else lane.others).setdefault(value, entry)
    if newest is entry:
        if entry.is_failure:
            lane.failed.add((kind, value))
        return STAYS
    if is_command:
        is_writing = lane.writes.get(value)
        if is_writing is None:  # asked only where a command was run twice
            is_writing = lane.writes[value] = writes(value)
        if is_writing:
            return STAYS
    is_superseded = entry.is_failure or (kind, value) not in lane.failed
    if not is_superseded:
        lane.failed.remove((kind, value))
    if is_command:
        return ("later_run" if is_superseded else ""), newest
    return ("later_call" if is_superseded else ""), None


@lru_cache(maxsize=1_024)
def remembered(command: str) -> bool:
    return has_side_effects(command)


def writes(command: str) -> bool:
    """``has_side_effects``, which an agent asks of the same short commands at every turn."""
    return remembered(command) if len(command) <= LONGEST_REMEMBERED else has_side_effects(command)


def other_key(rule: Rule, name: str, given: Wire) -> str:
    """The key of a tool of the kind other: its name and all key arguments together."""
    values = {key: given.get(key) for key in rule.key}
    return f"{name} {compact_json(values)}"


def writes_whole_file(given: Wire) -> bool:
    return any(isinstance(given.get(name), str) for name in WHOLE_FILE_KEYS)
