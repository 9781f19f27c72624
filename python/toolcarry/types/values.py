"""The values that users receive and pass: frozen, slotted, compared by content.

This module has no logic; the steps take and return these values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict

from msgspec import field
from msgspec.structs import replace

from toolcarry.errors import ConfigError, InputError
from toolcarry.types.unread import NOTHING, Unread
from toolcarry.types.value import Value

Kind = Literal["read", "edit", "command", "other"]
KeepBlock = Literal["last", "all", "first", "none"]
KeepText = Literal["auto", "head", "tail", "ends"]
CutSide = Literal["head", "tail", "ends"]
EncodingName = Literal["o200k_base", "cl100k_base"]

KINDS = ("read", "edit", "command", "other")
ENCODINGS: tuple[EncodingName, ...] = ("o200k_base", "cl100k_base")
KEEP_BLOCK = ("last", "all", "first", "none")


class TextMessage(TypedDict):
    """A message of a text history."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule about which results of some tools supersede others.

    ``tools``: The names of tools, compared ignoring ASCII case and any prefix ``mcp__server__``; ``*`` and ``?`` are
    wildcards, and ``editor:view`` means the tool ``editor`` called with ``command="view"``.
    ``kind``: What the tools do: ``"read"``, ``"edit"``, ``"command"`` or ``"other"``.
    ``key``: The arguments that identify a block's target: for ``"other"`` all of them, otherwise the first that is
    present.
    ``keep``: Which blocks with the same key to keep: ``"last"``, ``"all"``, ``"first"``, or ``"none"``, which carries
    none of them.
    ``max_result_chars``: The limit on one result of these tools, in characters; it replaces the policy's limit.

    >>> Rule("search_*", kind="other", key=("query",), keep="last").tools
    ('search_*',)
    >>> Rule("Read", kind="reed")
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: rule.kind: 'reed' is not allowed; allowed: 'read', 'edit', 'command', 'other'
    """

    tools: tuple[str, ...] | str
    kind: Kind = "other"
    key: tuple[str, ...] | str = ()
    keep: KeepBlock = "last"
    max_result_chars: int | None = None

    def __post_init__(self) -> None:
        for name in ("tools", "key"):
            names = as_names(getattr(self, name))
            if names is None:
                raise ConfigError(
                    f"rule.{name}: {getattr(self, name)!r} is not allowed; allowed: a name, a list of names"
                )
            object.__setattr__(self, name, names)
        check_choice("rule.kind", self.kind, KINDS)
        check_choice("rule.keep", self.keep, KEEP_BLOCK)
        check_limit("rule.max_result_chars", self.max_result_chars, optional=True)


def check_limit(key: str, value: object, *, optional: bool = False, allowed: str = "") -> None:
    """Raise a ``ConfigError`` unless ``value`` is a limit."""
    if optional and value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        allowed = allowed or ("an integer >= 0, None" if optional else "an integer >= 0")
        raise ConfigError(f"{key}: {value!r} is not allowed; allowed: {allowed}")


def check_seconds(key: str, value: object) -> None:
    """Raise a ``ConfigError`` unless ``value`` is a number of seconds above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: a number of seconds > 0")


def as_names(value: object) -> tuple[str, ...] | None:
    """Return ``value`` as a tuple of distinct names; None if it is neither a string nor a list of strings."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (tuple, list)) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(dict.fromkeys(value))


def checked_path(key: str, value: object, allowed: str = "a path") -> str:
    """Return the path ``value`` as a string. Raises a ``ConfigError`` if it can't be a path."""
    name = os.fspath(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(name, str) or not name or "\0" in name:
        raise ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: {allowed}")
    return name


def checked_list(key: str, value: object, what: str) -> list[Any]:
    """Return ``value`` as a list. Raises ``InputError`` for anything else, a single text included."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise InputError(f"{key} must be a list of {what}, not {type(value).__name__}")
    return list(value)


def check_choice(key: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise a ``ConfigError`` that names key, value and allowed values, unless ``value`` is one of them."""
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise ConfigError(f"{key}: {value!r} is not allowed; allowed: {listed}")


class Notes(Value, frozen=True):
    """Facts about a block, besides its call and result, that rendering needs.

    ``age``: The number of blocks after this one; 0 for the newest.
    ``earlier``: The ages of the older blocks with the same key that the heading counts.
    ``is_stale``: True if the file was edited after this read.
    ``is_active``: True if the block is on the conversation's active branch.
    ``second_results``: Further results for the same call, as objects of the input, in order.
    ``directory``: The working directory that a session file states for the call; otherwise empty.
    """

    age: int = 0
    earlier: tuple[int, ...] = ()
    is_stale: bool = False
    is_active: bool = True
    second_results: tuple[Mapping[str, Any], ...] = ()
    directory: str = ""


class ToolBlock(Value, frozen=True):
    """A tool call with its result.

    ``tool_use`` and ``tool_result`` are objects of the input (for the role ``tool``, the message); ``None`` if the call
    or the result is missing. ``is_error`` is true if the result is marked as failed, or is unmarked and its wording
    shows that it failed. ``position`` is the index of the message, or of the line, that contains the call (for a result
    without a call, the result), from 0. ``scope`` is empty for the main conversation, and names the side chain
    otherwise. ``dedup_key`` is the kind, the path or command, and the place if it is known: blocks with different keys
    never supersede each other. It is ``None`` if the call has no target to compare.
    """

    tool_use: Mapping[str, Any] | None
    tool_result: Mapping[str, Any] | None
    tool_name: str
    dedup_key: str | None = None
    call_id: str = ""
    is_error: bool = False
    position: int = 0
    scope: str = ""
    notes: Notes = Notes()


class TokenEstimate(Value, frozen=True):
    """The estimated tokens of a string for a model.

    ``value`` is the count in ``encoding`` times ``factor``, rounded up; ``exact`` is true if it is not an estimate.
    """

    value: int
    exact: bool
    encoding: EncodingName
    factor: float = 1.0


class ToolSize(Value, frozen=True):
    """The size of one tool's results: UTF-8 bytes and characters of their texts."""

    calls: int = 0
    results: int = 0
    errors: int = 0
    bytes: int = 0
    chars: int = 0


CallPlace = Literal["step", "ledger", "file", "merged", "left_out"]


class NumberedCall(Value, frozen=True):
    """A call in a hand-over, which refers to it as ``#number``; numbers count from 1, in the order of the calls.

    ``place`` says where the call is shown: as a ``step`` with its result, as a line of the ``ledger``, with the current
    text of a ``file``, ``merged`` into the line or the plan of a later call, or ``left_out``. ``position`` is the index
    of its message, and ``call_id`` its id.
    """

    number: int
    position: int
    call_id: str
    place: CallPlace


class Report(Value, frozen=True):
    """The report of a job about every block that it read. Sizes are in Unicode code points.

    Every block that was read is in exactly one of ``shown``, ``left_out``, a reason of ``superseded`` and a reason of
    ``excluded``.

    ``walked``: The number of blocks that were read.
    ``walked_all``: False if the budget ran out before the beginning of the conversation, so that older blocks were not
    read.
    ``cut``: The number of shown blocks that a limit shortened.
    ``tokens_after``: The exact token count of the context, if the total counts tokens.
    ``block_tokens``: A pair for each shown block, in the order of the context: the position of its message, and its
    tokens. In a hand-over, only blocks with a text of their own have one. Empty unless the total counts tokens.
    ``unread``: The messages that were read but whose structure no format knows; the context lacks them.
    ``remarks``: How a file was read: which conversation of a store, and which outputs were found in other files.
    ``steps``: The calls of a hand-over and where each is shown, oldest first; empty if the context has sections.
    """

    walked: int = 0
    walked_all: bool = True
    shown: int = 0
    cut: int = 0
    left_out: int = 0
    superseded: Mapping[str, int] = field(default_factory=dict)
    excluded: Mapping[str, int] = field(default_factory=dict)
    orphan_calls: int = 0
    orphan_results: int = 0
    duplicate_results: int = 0
    repeated_records: int = 0
    errors: int = 0
    chars_before: int = 0
    chars_after: int = 0
    summary_cut: bool = False
    budget_too_small: bool = False
    tokens_after: int | None = None
    block_tokens: tuple[tuple[int, int], ...] = ()
    steps: tuple[NumberedCall, ...] = ()
    skipped_lines: tuple[int, ...] = ()
    unread: Unread = NOTHING
    remarks: tuple[str, ...] = ()

    @property
    def message_tokens(self) -> dict[int, int]:
        """The tokens of the shown blocks in each message, by the message's position.

        >>> Report(block_tokens=((1, 20), (1, 30), (5, 9))).message_tokens
        {1: 50, 5: 9}
        """
        found: dict[int, int] = {}
        for position, tokens in self.block_tokens:
            found[position] = found.get(position, 0) + tokens
        return found


class RecountReport(Value, frozen=True):
    """The outcome of each message and each call. Positions count messages, or lines of a file, from 0.

    ``messages``: The number of messages in the history.
    ``calls``: The number of calls. Results that are not counted below are shown in full.
    ``cut``: Results that were cut to the limit on one result.
    ``cut_further``: Results that were cut further to fit the total.
    ``shortened``: Calls whose result was removed to fit the total.
    ``calls_left_out``: Calls of the messages in ``left_out``.
    ``excluded``: Calls of other branches and of side chains.
    ``inactive``: Messages of other branches and of side chains.
    ``thinking``: Messages whose thinking was left out.
    ``client``: Texts that the client wrote, such as summaries of messages that are also there.
    ``folded``: The positions of messages without text, such as results, that became lines under other messages.
    ``silent``: The positions of messages that held only thinking, or nothing.
    ``without_role``: The positions of messages without a known speaker.
    ``without_turn``: The indexes of the host's own calls whose turn matches no message.
    ``left_out``: The positions of messages that were dropped to fit the total.
    """

    messages: int = 0
    calls: int = 0
    cut: int = 0
    cut_further: int = 0
    shortened: int = 0
    calls_left_out: int = 0
    orphan_calls: int = 0
    orphan_results: int = 0
    duplicate_results: int = 0
    repeated_records: int = 0
    errors: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    inactive: int = 0
    thinking: int = 0
    client: int = 0
    folded: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()
    without_role: tuple[int, ...] = ()
    without_turn: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    chars_before: int = 0
    """The characters of all results."""
    chars_after: int = 0
    """The characters of the history."""
    tokens_after: int | None = None
    """The tokens of the history, if the total counts tokens."""
    budget_too_small: bool = False
    skipped_lines: tuple[int, ...] = ()
    unread: Unread = NOTHING
    """The messages whose structure no format knows."""


class Mend(Value, frozen=True):
    """A correction of a request, so that its provider accepts it, in the message at ``position``.

    ``kind`` is one of ``toolcarry.types.mends.MENDS``. ``call_id`` is the call's original id, and ``detail`` the new id
    of a ``renamed_id``. If ``position`` is ``None``, the correction concerns a new message or the request's other
    members.
    """

    kind: str
    position: int | None
    call_id: str
    detail: str = ""


class CallFacts(NamedTuple):
    """Facts about a call that its messages do not hold."""

    reference: str
    """The reference of its result in the whole history."""
    is_error: bool
    """True if it failed; not every format can mark this."""


class Replacement(Value, frozen=True):
    """A result, or an argument of a call such as ``t1;content``, that a marker replaces in whole or in part.

    ``position``: The index of its message; for an argument, of the message with the call.
    ``reference``: The name of the whole text.
    ``reason``: Why it was replaced, for a result: a reason why it is superseded (such as ``later_read``); ``cut``;
    ``cut_text`` if images or documents next to the text stay whole; ``shortened`` according to its content;
    ``terminal`` if it became what a terminal finally shows; ``cleared``; ``rule``; or ``dropped`` if its call was
    dropped, too. For an argument: ``read_again`` or ``later_write`` if this happened to its file, ``applied_edit`` for
    the old text of an edit, or ``failed_input``.
    ``chars_before``: Its size, in characters.
    ``chars_after``: The size of the replacement, in characters.
    ``start``: The index of the first character that was removed.
    ``end``: The index after the last character that was removed. The text in between is gone, or all of it was
    shortened.
    """

    position: int
    reference: str
    tool_name: str
    reason: str
    chars_before: int
    chars_after: int
    start: int
    end: int


class OlderImage(Value, frozen=True):
    """An image that was replaced with a line to keep only the newest ones (``keep_images``).

    ``position`` is the index of its message, ``reference`` names the result that holds it (empty in any other message),
    and ``line`` is the replacement, with the type and size of the image. The messages before the projection, and the
    canonical history, still hold the image.
    """

    position: int
    reference: str
    line: str


Decision = tuple[str, str, int, int]
"""The replacement of a result: ``superseded`` (with the reference of the newer result), ``cut`` (with the end of the
kept head and the start of the kept tail), ``shortened`` (with the new and the full number of characters), ``terminal``
(with the number of characters), ``cleared``, or ``rule``."""
Sign = tuple[int, int, int]
"""The sign of a result: a checksum of its call, its length in characters, and a checksum of its ends."""


class Decisions(Value, frozen=True):
    """The decisions of a projection, for the next one of the same conversation. Opaque, but small and picklable.

    ``messages``: The number of messages.
    ``made``: The decisions, by reference.
    ``excerpts``: The parts of each shortened result that were kept, in at most 2,048 bytes, with a version number and a
    checksum of the whole result, so that the next projection need not read the result again.
    ``dropped``: The references of dropped results.
    ``mends``: The corrections in the report.
    ``signs``: The signs of all calls and results that the decisions name. A decision is void if the sign has changed.
    ``savings``: What the conversation has saved so far: the bytes not written to the provider's cache, and the bytes
    not read from it.
    """

    messages: int = 0
    made: Mapping[str, Decision] = field(default_factory=dict)
    excerpts: Mapping[str, bytes] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    mends: frozenset[Mend] = frozenset()
    signs: Mapping[str, Sign] = field(default_factory=dict)
    savings: tuple[int, int] = (0, 0)

    def when_cold(self) -> Decisions:
        """Return these decisions for a cold cache, so that every change is free.

        A cache is certainly cold after its longest lifetime, or for another model, system prompt or list of tools.
        """
        return replace(self, messages=0)


class ProjectReport(Value, frozen=True):
    """The report of a projection. Sizes are in characters of results; tokens are counted only if a limit needs them.

    ``blocks``: The number of calls, and of results without a call.
    ``replacements``: Each result or argument that a marker replaces.
    ``older_images``: Each image that a line replaces.
    ``mends``: The corrections of the repair.
    ``over_budget``: How much the results exceed their total after everything that may be removed is gone.
    ``over_request``: How many tokens the request exceeds its limit, likewise.
    ``not_repaired``: What the repair could not correct: the formats of the messages, if a request mixes several, or if
    its only format is not a provider's; a call whose result can't be made up (``computer_call`` needs a screenshot,
    ``tool_search_call`` of a client the tools that it found); a call of the provider's own tools without an answer
    (``server_tool_use in message 3``), or such an answer without its call (``server_tool_result in message 3``); or a
    structure that no format knows (``unread in message 3``), next to which nothing is repaired. Positions count from 0.
    ``stable_prefix_tokens``: An estimate, by bytes, of how much of the beginning is the same as in the previous
    projection (without one: as in the input).
    ``cache_break_tokens``: How much of the messages that were sent before has to be read again.
    ``written_tokens``: An estimate of what this request writes to the provider's cache; without ``previous``, all of
    it.
    ``read_tokens``: An estimate of what this request reads from the cache.
    ``unchanged_tokens``: The tokens of the request before projection.
    ``write_tokens_saved``: An estimate of how many tokens fewer this request writes to the cache than an unchanged one
    would; negative if it writes more, 0 without ``previous``.
    ``read_tokens_saved``: The same for the tokens read from the cache.
    ``untouched``: Why nothing was changed: the body could not be read, or the messages were read but none of their
    results can be replaced (``not projected: langchain``).
    ``unread``: The messages whose structure no format knows.
    ``names``: The tool names that the destination refuses, by the names that replace them.
    """

    blocks: int = 0
    replacements: tuple[Replacement, ...] = ()
    older_images: tuple[OlderImage, ...] = ()
    mends: tuple[Mend, ...] = ()
    orphan_calls: int = 0
    orphan_results: int = 0
    duplicate_results: int = 0
    errors: int = 0
    chars_before: int = 0
    chars_after: int = 0
    tokens_before: int | None = None
    tokens_after: int | None = None
    over_budget: int = 0
    over_request: int = 0
    not_repaired: str = ""
    stable_prefix_tokens: int = 0
    cache_break_tokens: int = 0
    written_tokens: int = 0
    read_tokens: int = 0
    unchanged_tokens: int = 0
    write_tokens_saved: int = 0
    read_tokens_saved: int = 0
    untouched: str = ""
    unread: Unread = NOTHING
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def changes(self) -> str:
        """The numbers of replacements and of corrections, in words."""
        return f"{len(self.replacements)} replacements, {len(self.mends)} mends"

    @property
    def reasons(self) -> dict[str, int]:
        """The number of results that were replaced, by reason.

        >>> ProjectReport(replacements=(Replacement(3, "t1", "Bash", "cut", 9_000, 2_000, 1_950, 9_000),)).reasons
        {'cut': 1}
        """
        found: dict[str, int] = {}
        for replacement in self.replacements:
            found[replacement.reason] = found.get(replacement.reason, 0) + 1
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that ``json.dumps`` accepts, and the ``reasons``."""
        return {**Value.to_dict(self), "reasons": self.reasons}
