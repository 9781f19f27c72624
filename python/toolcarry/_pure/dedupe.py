"""Which blocks newer ones supersede, judged from the newest to the oldest.

A failure supersedes only failures, so that the last success stays beside it; a failed edit supersedes nothing.
A read of a range is superseded by one later read that covers it. Scopes, and branches that were left, never
supersede one another.
"""

from __future__ import annotations

from functools import lru_cache

from toolcarry._pure.entry import Entry
from toolcarry._pure.lines import DEFAULT_READ, UNREADABLE, is_covered, line_range, remember_range
from toolcarry._pure.read import call_input, call_name
from toolcarry._pure.rules import OTHER, RuleSet, key_value
from toolcarry._pure.shell import has_side_effects
from toolcarry.decode import compact_json
from toolcarry.types import Kind, Rule
from toolcarry.wire import Wire

LONGEST_REMEMBERED = 200
WHOLE_FILE_KEYS = ("content", "file_text", "contents")


Judgement = tuple[str, Entry | None]
"""Why an entry is superseded (empty: it stays), and the entry whose heading counts it."""

STAYS: Judgement = ("", None)


class Newer:
    """What is known of the newer blocks of one key."""

    newest: Entry | None = None
    newest_success: Entry | None = None
    was_read_whole = False
    ranges: list[tuple[int, int]] | None = None
    is_rewritten = False
    writes: bool | None = None


Lane = dict[tuple[Kind, str], Newer]
"""What is known of the newer blocks of one scope and branch."""


class Judging:
    """The judge of a conversation's entries, which come newest first."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._main: Lane = {}
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
        lane = self._main
        if entry.scope or not entry.is_active:
            lane = self._other_lanes.setdefault((entry.scope, entry.is_active), {})
        key = (entry.kind, value)
        newer = lane.get(key)
        if newer is None:
            newer = lane[key] = Newer()
        if entry.kind == "read":
            reason = self._judge_read(entry, newer, lane)
            return STAYS if keep == "all" else (reason, None)
        if entry.kind == "edit":
            return self._judge_edit(entry, newer, keep == "all")
        return STAYS if keep == "all" else judge_run(entry, newer)

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
        call = entry.call
        if call is None:
            entry.kind, entry.value = "other", None
            rule = self._rules.find(entry.name, {})
            return rule if rule.keep == "none" else OTHER
        name, given = call.get("name"), call.get("input")
        if given.__class__ is not dict or name.__class__ is not str:
            name, given = call_name(call), call_input(call)
        entry.given = given
        rule = self._rules.find(name, given)
        entry.kind = kind = rule.kind
        if kind == "other":
            entry.value = None if rule.keep == "all" else other_key(rule, name, given)
        else:
            entry.value = key_value(rule, given)
        return rule

    def _judge_read(self, entry: Entry, newer: Newer, lane: Lane) -> str:
        if entry.is_failure:
            is_superseded = newer.newest is not None
        else:
            lines = line_range(entry.given)
            is_superseded = is_read(lines, newer)
            if lines is None:
                newer.was_read_whole = True
            elif lines != UNREADABLE:
                newer.ranges = newer.ranges or []
                remember_range(lines, newer.ranges)
            edits = lane.get(("edit", entry.value or ""))
            if edits is not None and edits.newest_success is not None:
                entry.is_stale = True
            if self._rules.is_careful and lines is None:
                lane.setdefault(("edit", entry.value or ""), Newer()).is_rewritten = True
        if newer.newest is None:
            newer.newest = entry
        return "later_read" if is_superseded else ""

    def _judge_edit(self, entry: Entry, newer: Newer, keeps_all: bool) -> Judgement:
        newest = newer.newest_success
        is_superseded = newer.is_rewritten if self._rules.is_careful else newest is not None
        reason = "later_edit" if is_superseded and not keeps_all else ""
        if entry.is_failure:
            return reason, None
        if newest is None:
            newer.newest_success = entry
        if self._rules.is_careful and writes_whole_file(entry.given):
            newer.is_rewritten = True
        return reason, newest if reason and not self._rules.is_careful else None


def judge_run(entry: Entry, newer: Newer) -> Judgement:
    """A command, or another tool under a rule that keeps the last of a key."""
    newest = newer.newest
    is_failure = entry.is_failure
    if newest is None:
        newer.newest = entry
        newer.newest_success = None if is_failure else entry
        return STAYS
    if newer.writes is None:  # asked only where a command was run twice
        newer.writes = entry.kind == "command" and writes(entry.value or "")
    if newer.writes:
        return STAYS
    by = newest if is_failure else newer.newest_success
    if by is None:
        newer.newest_success = entry
    if entry.kind == "command":
        return ("" if by is None else "later_run"), newest
    return ("" if by is None else "later_call"), None


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


def is_read(lines: tuple[int, int] | None, newer: Newer) -> bool:
    """Whether one later read holds these lines."""
    if lines == UNREADABLE:
        return False
    wanted = lines or DEFAULT_READ
    if newer.was_read_whole and wanted[1] <= DEFAULT_READ[1]:
        return True
    return newer.ranges is not None and is_covered(wanted, newer.ranges)
