"""Decide which blocks newer ones supersede, from the newest to the oldest.

A failure supersedes only failures, so that the last success is kept as well; a failed edit supersedes nothing. A
result that may be a failure by its words (``failure``) supersedes no success, and one that is short and unlike an older
one (``likeness``) does not supersede that one.
A read of a range is superseded by one later read that covers it. Blocks never supersede across scopes, nor across
the active branch and others, nor across places: servers, hosts, working directories.
"""

from __future__ import annotations

from functools import lru_cache

from toolcarry._data import read_table
from toolcarry._input.json import compact_json
from toolcarry._input.objects import JsonObject
from toolcarry.model.content import result_text
from toolcarry.model.dedupe.failure import (
    DOUBTFUL,
    FAILED,
    SUCCESS,
    UNPROVEN,
    Outcome,
    answer,
    settle,
)
from toolcarry.model.dedupe.likeness import MOST_IN_DOUBT, is_in_doubt, is_like
from toolcarry.model.dedupe.line_ranges import (
    DEFAULT_READ,
    UNREADABLE,
    Read,
    find_covering,
    line_range,
    remember_range,
)
from toolcarry.model.dedupe.paths import resolve
from toolcarry.model.dedupe.place import follow, key_of, locate
from toolcarry.model.dedupe.rules import OTHER, RuleSet, key_values
from toolcarry.model.dedupe.shell import has_side_effects
from toolcarry.model.pairing.block import Entry
from toolcarry.types.values import Kind, Rule

_LONGEST_REMEMBERED = 200
WHOLE_FILE_KEYS: tuple[str, ...] = tuple(read_table("tool_arguments")["whole_file_keys"])
NEW_KEYS: tuple[str, ...] = tuple(read_table("tool_arguments")["new_keys"])


Judgement = tuple[str, Entry | None, Entry | None]
"""The reason to supersede an entry (empty: it stays), the superseding entry, and the entry whose heading counts it."""

STAYS: Judgement = ("", None, None)
BY_RULE: Judgement = ("rule", None, None)


class NewerBlocks:
    """The newer blocks of one scope, on the active branch or off it, by their path, command, or other key."""

    __slots__ = ("best", "commands", "doubts", "edits", "others", "ranges", "reads", "rewritten", "whole", "writes")  # fmt: skip

    def __init__(self) -> None:
        self.reads: dict[str, Entry] = {}
        """The newest read, failed or not."""
        self.whole: dict[str, Entry] = {}
        """The newest read of the whole file."""
        self.ranges: dict[str, list[Read]] = {}
        self.edits: dict[str, Entry] = {}
        """The newest edit that succeeded."""
        self.rewritten: dict[str, Entry] = {}
        """The newest entry that wrote or read the whole file."""
        self.commands: dict[str, Entry] = {}
        """The newest run."""
        self.others: dict[str, Entry] = {}
        self.best: dict[tuple[Kind, str], Outcome] = {}
        """The best certain outcome so far of the runs of a kind and key, if none was a success."""
        self.doubts: dict[tuple[Kind, str], list[Entry]] = {}
        """The reads or runs of a kind and key that may be messages, newest first."""
        self.writes: dict[str, bool] = {}


class Judging:
    """The judge of a conversation's entries, which come newest first."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._known = rules.known
        self._is_careful = rules.is_careful
        self._main = NewerBlocks()
        self._newer_by_scope: dict[tuple[str, bool], NewerBlocks] = {}
        self._firsts: dict[_FirstKey, Entry] = {}

    def judge(self, entry: Entry) -> Judgement:
        """Judge one entry. Sets the fields that ``prepare`` sets, and ``is_stale``."""
        rule = self.prepare(entry)
        keep = rule.keep
        if keep == "none":
            return BY_RULE
        key = entry.key
        if key is None:
            return STAYS
        if keep == "first":
            first = self._firsts.get(_first_key(entry, key))
            if first is not None and entry.order < first.order and _may_hide(first, entry):
                return "earlier_call", first, None
            return STAYS
        newer_blocks = (
            self._main if entry.is_active and not entry.scope else self._newer_blocks_of(entry)
        )
        kind = rule.kind
        if kind == "read":
            by = self._judge_read(entry, key, newer_blocks)
            return STAYS if by is None or keep == "all" else ("later_read", by, None)
        if kind == "edit":
            return self._judge_edit(entry, key, newer_blocks, keep == "all")
        return STAYS if keep == "all" else _judge_run(entry, kind, key, newer_blocks)

    def _newer_blocks_of(self, entry: Entry) -> NewerBlocks:
        key = entry.scope, entry.is_active
        newer_blocks = self._newer_by_scope.get(key)
        if newer_blocks is None:
            newer_blocks = self._newer_by_scope[key] = NewerBlocks()
        return newer_blocks

    def find_firsts(self, entries: list[Entry]) -> None:
        """Note the oldest successful block of each key; not one in doubt, if a later success is unlike it."""
        for entry in reversed(entries):
            rule = self.prepare(entry)
            if rule.keep == "first" and entry.key is not None and _is_success(entry):
                first = self._firsts.setdefault(_first_key(entry, entry.key), entry)
                if not _may_hide(first, entry) and not is_in_doubt(entry):
                    self._firsts[_first_key(entry, entry.key)] = entry

    def prepare(self, entry: Entry) -> Rule:
        """Find the entry's rule, and set its kind, the value that it is about, and its key.

        Mark it as failed if its words say so.
        """
        rule = self._find_rule(entry)
        settle(entry)
        return rule

    def _find_rule(self, entry: Entry) -> Rule:
        entry.is_stale = False
        entry.max_chars = None
        name = entry.tool_name
        if entry.call is None:
            entry.kind, entry.value, entry.key = "other", None, None
            rule = self._rules.find(entry.name, "", {})
            return rule if rule.keep == "none" else OTHER
        given = entry.read_arguments()
        server = entry.server
        known = None if server else self._known.get(name)
        rule = known or self._rules.find(name, server, given)
        entry.kind = rule.kind
        entry.max_chars = rule.max_result_chars
        _set_key(entry, rule, given)
        return rule

    def _judge_read(self, entry: Entry, path: str, newer_blocks: NewerBlocks) -> Entry | None:
        """Return the newer read that supersedes this one."""
        newest = newer_blocks.reads.setdefault(path, entry)
        if entry.is_failure:
            return None if newest is entry else newest
        if path in newer_blocks.edits:
            entry.is_stale = True
        lines = line_range(entry.given) or DEFAULT_READ
        if lines == UNREADABLE:
            return None
        doubts = newer_blocks.doubts.setdefault(("read", path), [])
        by = next(
            (each for each in doubts if covers(each, lines) and supersedes(each, entry)), None
        )
        if by is None and lines[1] <= DEFAULT_READ[1]:
            by = newer_blocks.whole.get(path)
        by = by or find_covering(lines, newer_blocks.ranges.get(path, []))
        if entry.is_doubtful:
            return by
        if len(doubts) < MOST_IN_DOUBT and is_in_doubt(entry):
            if by is None:
                doubts.append(entry)
        else:
            self._remember_read(entry, path, newer_blocks)
        return by

    def _remember_read(self, entry: Entry, path: str, newer_blocks: NewerBlocks) -> None:
        lines = line_range(entry.given)
        if lines is not None:
            remember_range((*lines, entry), newer_blocks.ranges.setdefault(path, []))
            return
        newer_blocks.whole.setdefault(path, entry)
        if self._is_careful:
            newer_blocks.rewritten.setdefault(path, entry)

    def _settle_doubts(self, edit: Entry, path: str, newer_blocks: NewerBlocks) -> None:
        """Accept the reads in doubt that show what this edit wrote."""
        doubts = newer_blocks.doubts.get(("read", path))
        written = written_text(edit.given)
        if not doubts or written is None:
            return
        for entry in [each for each in doubts if is_like(result_text(each.content), written, path)]:
            doubts.remove(entry)
            self._remember_read(entry, path, newer_blocks)

    def _judge_edit(
        self, entry: Entry, path: str, newer_blocks: NewerBlocks, keeps_all: bool
    ) -> Judgement:
        if _is_success(entry):
            self._settle_doubts(entry, path, newer_blocks)
        newest = newer_blocks.edits.get(path)
        is_careful = self._is_careful
        by = newer_blocks.rewritten.get(path) if is_careful else newest
        reason = "" if by is None or keeps_all else "later_edit"
        if not _is_success(entry):
            return reason, by, None
        if newest is None:
            newer_blocks.edits[path] = entry
        if is_careful and writes_whole_file(entry.given):
            newer_blocks.rewritten.setdefault(path, entry)
        return reason, by, newest if reason and not is_careful else None


def covers(newer: Entry, lines: tuple[int, int]) -> bool:
    """Return true if a read returned these lines."""
    first, last = line_range(newer.given) or DEFAULT_READ
    return first <= lines[0] and lines[1] <= last


def supersedes(doubt: Entry, entry: Entry) -> bool:
    """Return true if a result that may be a message is like another one with its key."""
    said, before = (answer(each.content, each.kind) for each in (doubt, entry))
    return is_like(said, before, entry.value or "")


def _may_hide(first: Entry, entry: Entry) -> bool:
    """Return true if the first block of a key may supersede a later one."""
    return not is_in_doubt(first) or supersedes(first, entry)


def _judge_run(entry: Entry, kind: Kind, key: str, newer_blocks: NewerBlocks) -> Judgement:
    """Judge a command, or another tool whose rule keeps the last block of a key."""
    is_command = kind == "command"
    newest = (newer_blocks.commands if is_command else newer_blocks.others).setdefault(key, entry)
    if newest is not entry and is_command:
        is_writing = newer_blocks.writes.get(key)
        if is_writing is None:  # needed only if a command was run twice
            is_writing = newer_blocks.writes[key] = writes(entry.value or "")
        if is_writing:
            return STAYS
    own, best = _outcome(entry), newer_blocks.best.get((kind, key), FAILED)
    doubts = newer_blocks.doubts.setdefault((kind, key), [])
    is_superseded = newest is not entry and (
        own <= best or any(supersedes(each, entry) for each in doubts)
    )
    if own == UNPROVEN and len(doubts) < MOST_IN_DOUBT and is_in_doubt(entry):
        if not is_superseded:
            doubts.append(entry)
    else:
        newer_blocks.best[kind, key] = max(best, SUCCESS if own == UNPROVEN else own)
    if newest is entry:
        return STAYS
    reason = ("later_run" if is_command else "later_call") if is_superseded else ""
    return reason, newest, newest if is_command else None


def _outcome(entry: Entry) -> Outcome:
    """Return the outcome of a judged entry. A newer one supersedes it only if its own is at least as good."""
    if entry.is_failure:
        return FAILED
    if entry.is_doubtful:
        return DOUBTFUL
    return UNPROVEN if entry.is_unproven else SUCCESS


def _is_success(entry: Entry) -> bool:
    return _outcome(entry) >= UNPROVEN


@lru_cache(maxsize=1_024)
def _remembered(command: str) -> bool:
    return has_side_effects(command)


def writes(command: str) -> bool:
    """Return ``has_side_effects``, with a cache for short commands, since an agent repeats them at every turn."""
    return (
        _remembered(command) if len(command) <= _LONGEST_REMEMBERED else has_side_effects(command)
    )


def _set_key(entry: Entry, rule: Rule, given: JsonObject) -> None:
    """Set the value that an entry is about, and its key: the value in its normal form, with its place."""
    kind = rule.kind
    if kind == "other":
        values = [] if rule.keep == "all" else [other_value(rule, entry.tool_name, given)]
    else:
        values = key_values(rule, given)
    if not values:
        entry.value = entry.key = None
        return
    entry.value = value = ", ".join(values)
    parts, directory = locate(rule, entry, given)
    if kind == "command":
        value, directory = follow(value, directory)
    elif kind != "other":
        found = [resolve(path, directory) for path in values]
        directory = max((rest for _, rest in found), key=len)
        paths = [path for path, _ in found]
        value = paths[0] if len(paths) == 1 else compact_json(paths)
    entry.key = key_of(value, parts, directory)


def other_value(rule: Rule, name: str, given: JsonObject) -> str:
    """Return what a tool of the kind other is about: its name and all key arguments together."""
    values = {key: given.get(key) for key in rule.key}
    return f"{name} {compact_json(values)}"


_FirstKey = tuple[str, bool, Kind, str]


def _first_key(entry: Entry, key: str) -> _FirstKey:
    return entry.scope, entry.is_active, entry.kind, key


def writes_whole_file(given: JsonObject) -> bool:
    return any(isinstance(given.get(name), str) for name in WHOLE_FILE_KEYS)


def written_text(given: JsonObject) -> str | None:
    """Return what a call wrote to a file: the whole text, or the new one of an edit."""
    texts = (given.get(name) for name in (*WHOLE_FILE_KEYS, *NEW_KEYS))
    return next((text for text in texts if isinstance(text, str)), None)
