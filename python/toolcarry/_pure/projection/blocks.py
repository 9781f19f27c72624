"""The blocks of a request, oldest first, each with its reference and the replacement of its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from toolcarry._data import read_table
from toolcarry._pure.context import rule_set
from toolcarry._pure.context.block import printed_by
from toolcarry._pure.dedupe import Judging
from toolcarry._pure.dedupe.rules import is_named
from toolcarry._pure.pairing import Walk
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.projection import marker as markers
from toolcarry._pure.projection.early import join_early
from toolcarry._pure.projection.edits import Path
from toolcarry._pure.projection.media import media_of
from toolcarry._pure.projection.result_slot import Paths, slot_at
from toolcarry._pure.shorten import Shortened, last_state, shorten
from toolcarry._pure.tokens.count import count_tokens
from toolcarry.types.policy import Policy
from toolcarry.types.values import CutSide, Decision, EncodingName

if TYPE_CHECKING:
    from toolcarry._pure.projection.arguments import Arguments, Input
    from toolcarry._pure.projection.repair.destinations import Destination

_RETRIEVAL: Final[str] = read_table("texts")["retrieval_tool"]
"""The tool that returns a whole result. Its own results are never replaced."""
CLEARED: Decision = ("cleared", "", 0, 0)
LEAST_SAVED: Final = 20
"""The tokens that a replacement saves at least. For fewer, a model would have to ask for what it could have read."""
RULED_OUT: Decision = ("rule", "", 0, 0)
PARTIAL: Final = ("cut", "shortened", "terminal")
"""The decisions that leave a part of a result, and the media next to it."""
_WHOLLY_NEW: Final = ("shortened", "terminal")
"""Those of them that leave no end of it as it was."""


class CallFacts(NamedTuple):
    """Facts about a call that are not in the messages."""

    reference: str
    """The reference of its result in the history that the messages are a part of."""
    is_error: bool
    """True if it failed, which not every format can mark."""


class Block:
    """A call with its result, and the replacement of the result.

    ``reason`` is why another block, ``by``, supersedes it; empty if none does. ``new`` is the replacement of ``text``
    by the ``decision``. A result that ``is_fixed`` can't be replaced, and one that ``is_kept`` is kept by the policy;
    one that ``is_dropped`` is removed with its call. ``is_known`` is true if the previous decisions are about this
    result.
    """

    __slots__ = (
        "arguments", "by", "decision", "encoding", "entry", "has_result", "inputs", "is_dropped", "is_fixed", "is_kept", "is_known", "is_open",
        "kinds", "made_up", "media", "new", "printed_by", "reason", "reference", "result_path", "saved", "second_paths", "short", "side", "slot", "text",
    )  # fmt: skip

    def __init__(
        self, entry: Entry, paths: Paths, reason: str, by: Entry | None, policy: Policy
    ) -> None:
        self.entry = entry
        self.encoding: EncodingName = policy.encoding
        self.printed_by = printed_by(entry)
        self.kinds = policy.content_kinds
        """The kinds of texts that are shortened by what they are. In a file all lines matter alike."""
        if self.printed_by is None:
            self.kinds = tuple([kind for kind in self.kinds if kind == "lines"])
        self.side = _side_of(entry, policy)
        self.short: tuple[int, Shortened | None] = -1, None
        """The last shortened text, with its room."""
        self.reason = reason
        self.by = by
        result = entry.result
        self.has_result = result is not None
        self.second_paths: list[Path] = []
        """The paths of further results of the call."""
        self.made_up: str | None = None
        """The text that the repair puts in place of the result, or of a missing one."""
        self.result_path = None if result is None else paths.of(entry.result_position, result)
        path = self.result_path
        self.slot = slot = None if path is None or result is None else slot_at(path, result)
        self.media = media_of(slot)
        self.reference = ""
        self.inputs: Sequence[Input] = ()
        """The arguments that may be replaced, if a policy asks for that."""
        self.arguments: Arguments | None = None
        """The place of these arguments."""
        self.decision: Decision | None = None
        self.text = self.new = "" if slot is None else slot.text()
        self.saved = 0
        """The bytes that the replacement saves."""
        self.is_kept = self.is_dropped = self.is_known = False
        self.is_open = False
        """True if arguments of the call may be replaced."""
        self.is_fixed = (
            not self.text
            or is_named(entry.tool_name, _RETRIEVAL)
            or markers.is_marker(self.text)
            or slot is None
            or not slot.is_replaceable
        )

    def place(self, paths: Paths) -> None:
        """Give the result a place of its own, if one object appears several times."""
        entry = self.entry
        if entry.result is None or self.result_path is None:
            return
        path = paths.next_of(entry.result_position, entry.result)
        if path is not None:
            self.result_path = path
            self.slot = None if self.slot is None else self.slot._replace(path=path)

    def decide(self, decision: Decision | None) -> bool:
        """Replace the result if that makes it smaller than it is and than its present replacement."""
        if decision is None or self.is_fixed or self.is_kept or self.is_dropped:
            return False
        new, saved = self.outcome(decision)
        if saved <= self.saved:
            return False
        self.decision, self.new, self.saved = decision, new, saved
        return True

    def stand_in(self, text: str) -> None:
        """Count another text in place of the result, which the repair puts there; empty if it leaves the result out."""
        self.made_up, self.has_result, self.is_fixed = text, text != "", True

    @property
    def has_many_marks(self) -> bool:
        """True if the result stays since it has more cache marks than a replacement could take."""
        return self.made_up is None and self.slot is not None and not self.slot.is_replaceable

    def free(self) -> None:
        """Let the result be replaced: a repair leaves out the cache marks that it would lose."""
        self.is_fixed = False
        self.slot = None if self.slot is None else self.slot._replace(is_freed=True)

    @property
    def sent(self) -> str:
        """The text of the result in the projection, with the lines of the media next to it."""
        if self.made_up is not None:
            return self.made_up
        is_text = self.decision is None or self.decision[0] in PARTIAL
        if not self.media.beside or self.is_dropped or not is_text:
            return self.new
        return f"{self.new}\n{self.media.beside}"

    def size_in(self, encoding: EncodingName | None) -> int:
        """Return the size of the result in the projection, in tokens of an encoding or in characters (``None``)."""
        sent = self.sent
        size = len(sent) if encoding is None else count_tokens(sent, encoding)
        is_text = self.decision is None or self.decision[0] in PARTIAL
        if self.made_up is not None or self.is_dropped or not is_text:
            return size
        return size + (self.media.url_chars if encoding is None else self.media.url_tokens)

    @property
    def stays(self) -> tuple[int, int] | None:
        """The numbers of first and last characters that stay; ``None`` if all are replaced."""
        if self.decision is None or self.decision[0] not in PARTIAL:
            return None
        if self.decision[0] in _WHOLLY_NEW:
            return 0, 0
        _, _, head, tail = self._within(self.decision)
        return head, len(self.text) - tail

    def _within(self, decision: Decision) -> Decision:
        """Return a decision adapted to this text, which may be shorter than the one it was made for."""
        kind, by, head, tail = decision
        if kind != "cut":
            return decision
        size = len(self.text)
        head = min(head, size)
        return kind, by, head, max(min(tail, size), head)

    @property
    def cleared(self) -> list[Input]:
        """The arguments that markers replace."""
        return [] if self.is_dropped else [each for each in self.inputs if each.is_cleared]

    def drop(self) -> None:
        """Drop the result with its call, without a replacement."""
        self.is_dropped = True
        self.decision, self.new, self.made_up, self.saved = None, "", None, 0

    def outcome(self, decision: Decision) -> tuple[str, int]:
        """Return the replacement of the result by a decision, and the number of bytes that it saves.

        The number is 0 if that is not worth it.
        """
        decision = self._within(decision)
        kind, _, room, size = decision
        if kind == "shortened":
            found = self.shortened(room)
            if found is None or found.size != size:
                return self.text, 0  # the policy is another one now
            new = found.with_marker(markers.marker_of(decision, len(self.text), self.reference))
        elif kind == "terminal":
            new = self.last_state() or self.text
            if len(new) != size:
                return self.text, 0  # likewise
        else:
            new = joined(self.text, decision, self.reference, self.media.cleared(len(self.text)))
        media = 0 if kind in PARTIAL or self.slot is None else self.slot.media_tokens()
        if not self._is_worth(decision, new, media):
            return new, 0
        return new, byte_length(self.text) + 4 * media - byte_length(new)

    def shortened(self, room: int) -> Shortened | None:
        """Return the result shortened by what it is; ``None`` if it can only be cut."""
        if self.short[0] != room:
            is_plain = not set(self.reference) & {'"', "\\"}  # the marker may be in a text of JSON
            found = None
            if self.kinds and is_plain:
                found = shorten(self.text, self.printed_by or "", self.kinds, room, self.side)
            self.short = room, found
        return self.short[1]

    def last_state(self) -> str | None:
        """Return what a terminal shows of the result in the end; ``None`` if no terminal showed it."""
        return last_state(self.text, self.kinds)

    def _is_worth(self, decision: Decision, new: str, media: int) -> bool:
        """Return true if a replacement is shorter and saves tokens, also with the longest references."""
        names = [name for name in (decision[1], self.reference) if name]
        longest = len(new) + sum([len(markers.widest(name)) - len(name) for name in names])
        if longest >= len(self.text) and not media:
            return False
        kind, _, head, tail = decision
        removed = self.text[head:tail] if kind == "cut" else self.text
        cleared = self.media.cleared(len(self.text))
        marker = markers.longest_marker(decision, len(self.text), self.reference, cleared)
        if kind in _WHOLLY_NEW:
            marker = new
        least = count_tokens(marker, self.encoding) + LEAST_SAVED - media
        return least <= 0 or count_tokens(removed, self.encoding) >= least


def _side_of(entry: Entry, policy: Policy) -> CutSide:
    """Return the part of a result that stays: for a command's output both ends, since errors come last."""
    if policy.keep == "auto":
        return "ends" if entry.kind == "command" else "head"
    return policy.keep


def joined(text: str, decision: Decision, reference: str, cleared: str = "") -> str:
    """Return a text with a marker in its place, or on a line of its own in the place of the part that is cut out."""
    marker = markers.marker_of(decision, len(text), reference, cleared)
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
    known: Sequence[CallFacts] | None = None,
    *,
    early: Destination | None = None,
) -> list[Block]:
    """Return the blocks of a conversation, oldest first, judged by the policy's rules, with the facts in ``known``.

    Without ``known``, references are made here, and calls failed if the messages say so. With ``early``,
    results of its form that stand before their calls are theirs.
    """
    rules = rule_set(policy.rules)
    judging = Judging(rules)
    entries = list(walk.entries())
    if early is not None:
        entries = join_early(entries, early)
    if known is not None:
        for entry, (_, is_error) in zip(entries, reversed(known), strict=True):
            if is_error:
                entry.is_error = entry.is_failure = True
    if rules.keeps_first:
        judging.find_firsts(entries)
    paths = Paths(messages)
    blocks: list[Block] = []
    for entry in entries:
        reason, by, _ = judging.judge(entry)
        blocks.append(Block(entry, paths, reason, by, policy))
    blocks.reverse()
    for block in blocks if walk.second_results else ():
        order = block.entry.order
        places = zip(
            walk.second_places.get(order, ()), walk.second_results.get(order, ()), strict=True
        )
        found = [paths.of(position, wire) for position, wire in places]
        block.second_paths = [path for path in found if path is not None]
    for block in blocks if paths.has_repeated() else ():
        block.place(paths)
    if known is None:
        names = markers.name_all(block.entry.call_id for block in blocks)
    else:
        names = [reference for reference, _ in known]
    for block, reference in zip(blocks, names, strict=True):
        block.reference = reference
    return blocks


def turns_of(blocks: Sequence[Block]) -> list[list[Block]]:
    """Return the blocks by turn. A turn contains the calls that were made before the first result came."""
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
    """Return the blocks that have a result, from the last one on."""
    return (block for block in reversed(blocks) if block.has_result)
