"""The blocks of a request, oldest first, each with its reference, and with what stands in place of its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from toolcarry._data import read_table
from toolcarry._pure.context import rule_set
from toolcarry._pure.dedupe import Judging
from toolcarry._pure.dedupe.rules import is_named
from toolcarry._pure.pairing import Walk
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.projection import marker as markers
from toolcarry._pure.projection.result_slot import Paths, site_at
from toolcarry.policy import Policy
from toolcarry.types import Decision

RETRIEVAL: Final[str] = read_table("texts")["retrieval_tool"]
"""The tool that gives a whole result back: what it gave is never replaced."""
CLEARED: Decision = ("cleared", "", 0, 0)
RULED_OUT: Decision = ("rule", "", 0, 0)


class Known(NamedTuple):
    """What is known of a call, beside what the messages say."""

    reference: str
    """By which its result is found in what the messages are a part of."""
    is_error: bool
    """Whether it failed, which not every shape has a mark for."""


class Block:
    """A call with its result, and what becomes of the result.

    ``reason`` is why another block, ``by``, supersedes it; empty where none does. ``new`` is what stands in place of
    ``text`` by the ``decision``. What ``is_fixed`` can't be replaced; what ``is_kept`` the policy keeps; what
    ``is_dropped`` goes with its call; what ``is_known`` the previous decisions are about.
    """

    __slots__ = (
        "by", "decision", "entry", "is_dropped", "is_fixed", "is_kept", "is_known", "new", "reason",
        "reference", "result_path", "saved", "site", "text",
    )  # fmt: skip

    def __init__(self, entry: Entry, paths: Paths, reason: str, by: Entry | None) -> None:
        self.entry = entry
        self.reason = reason
        self.by = by
        result = entry.result
        self.result_path = None if result is None else paths.of(entry.result_position, result)
        path = self.result_path
        self.site = site = None if path is None or result is None else site_at(path, result)
        self.reference = ""
        self.decision: Decision | None = None
        self.text = self.new = "" if site is None else site.text()
        self.saved = 0
        """How many bytes less stand in its place."""
        self.is_kept = self.is_dropped = self.is_known = False
        self.is_fixed = (
            not self.text
            or is_named(entry.tool_name, RETRIEVAL)
            or markers.is_marker(self.text)
            or site is None
            or not site.is_replaceable
        )

    def place(self, paths: Paths) -> None:
        """Let the result stand in a place of its own, where one object stands for several."""
        entry = self.entry
        if entry.result is None or self.result_path is None:
            return
        path = paths.next_of(entry.result_position, entry.result)
        if path is not None:
            self.result_path = path
            self.site = None if self.site is None else self.site._replace(path=path)

    def decide(self, decision: Decision | None) -> bool:
        """Replace the result, if that makes it smaller, and smaller than it already is."""
        if decision is None or self.is_fixed or self.is_kept or self.is_dropped:
            return False
        new, saved = self.outcome(decision)
        if saved <= self.saved:
            return False
        self.decision, self.new, self.saved = decision, new, saved
        return True

    @property
    def stays(self) -> tuple[int, int] | None:
        """How many of the first and the last characters stay; ``None`` where all is replaced."""
        if self.decision is None or self.decision[0] != "cut":
            return None
        _, _, head, tail = self._within(self.decision)
        return head, len(self.text) - tail

    def _within(self, decision: Decision) -> Decision:
        """A decision as it is for a text of this size, which may be shorter than the one it was made for."""
        kind, by, head, tail = decision
        size = len(self.text)
        head = min(head, size)
        return kind, by, head, max(min(tail, size), head)

    def drop(self) -> None:
        """Let the result go with its call: nothing stands in its place."""
        self.is_dropped = True
        self.decision, self.new, self.saved = None, "", 0

    def outcome(self, decision: Decision) -> tuple[str, int]:
        """What stands in place of the result by a decision, and how many bytes that saves.

        Nothing where it would save none with longer references.
        """
        decision = self._within(decision)
        new = joined(self.text, decision, self.reference)
        is_cut = decision[0] == "cut"
        media = 0 if is_cut or self.site is None else 4 * self.site.media_tokens()
        names = [name for name in (decision[1], self.reference) if name]
        longest = len(new) + sum([len(markers.widest(name)) - len(name) for name in names])
        is_shorter = longest < len(self.text) or media > 0
        return new, byte_length(self.text) + media - byte_length(new) if is_shorter else 0


def joined(text: str, decision: Decision, reference: str) -> str:
    """A text with a marker in its place, or in the place of what is cut out of it, on a line of its own."""
    marker = markers.marker_of(decision, len(text), reference)
    kind, _, head, tail = decision
    if kind != "cut":
        return marker
    first = f"{text[:head]}\n" if head else ""
    last = f"\n{text[tail:]}" if tail < len(text) else ""
    return f"{first}{marker}{last}"


def byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def read_blocks(
    messages: Sequence[Any],
    policy: Policy,
    walk: Walk,
    known: Sequence[Known] | None = None,
    lost: frozenset[int] = frozenset(),
) -> list[Block]:
    """The blocks of a conversation, oldest first, judged by the policy's rules, with what is known of them.

    Else they have references of their own, and failed where they say so. Those of the orders in ``lost`` supersede what a
    call without result does, since theirs will not be there.
    """
    rules = rule_set(policy.rules)
    judging = Judging(rules)
    entries = list(walk.entries())
    if known is not None:
        for entry, (_, is_error) in zip(entries, reversed(known), strict=True):
            if is_error:
                entry.is_error = entry.is_failure = True
    for entry in entries if lost else ():
        entry.is_failure |= entry.order in lost
    if rules.keeps_first:
        judging.find_firsts(entries)
    paths = Paths(messages)
    blocks: list[Block] = []
    for entry in entries:
        reason, by, _ = judging.judge(entry)
        blocks.append(Block(entry, paths, reason, by))
    blocks.reverse()
    for block in blocks if paths.repeated else ():
        block.place(paths)
    if known is None:
        names = markers.name_all(block.entry.call_id for block in blocks)
    else:
        names = [reference for reference, _ in known]
    for block, reference in zip(blocks, names, strict=True):
        block.reference = reference
    return blocks


def turns_of(blocks: Sequence[Block]) -> list[list[Block]]:
    """The blocks by the turn that their calls stand in: those that were called before the first result came."""
    turns: list[list[Block]] = []
    end = -1
    for block in blocks:
        if block.entry.call is None:
            continue
        entry = block.entry
        if not turns or entry.position > end:
            turns.append([])
            end = entry.result_position if entry.result is not None else entry.position
        elif entry.result is not None:
            end = min(end, entry.result_position)
        turns[-1].append(block)
    return turns


def newest_first(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks that have a result, from the last on."""
    return (block for block in reversed(blocks) if block.entry.result is not None)
