"""The values that users hold: frozen, slotted, compared by content.

Nothing here does work; the steps take and return these.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypedDict

from toolcarry.errors import ConfigError, InputError

Kind = Literal["read", "edit", "command", "other"]
KeepBlock = Literal["last", "all", "first", "none"]
KeepText = Literal["auto", "head", "tail", "ends"]
CutSide = Literal["head", "tail", "ends"]
EncodingName = Literal["o200k_base", "cl100k_base"]

OLDEST = 2**53
"""No conversation has as many blocks."""

KINDS = ("read", "edit", "command", "other")
ENCODINGS: tuple[EncodingName, ...] = ("o200k_base", "cl100k_base")
KEEP_BLOCK = ("last", "all", "first", "none")


class TextMessage(TypedDict):
    """A message of a text history."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Rule:
    """What supersedes what, for some tools.

    ``tools`` are names, matched without regard to ASCII case and also behind ``mcp__server__``;
    ``*`` and ``?`` are wildcards, and ``editor:view`` means the tool ``editor`` called with ``command="view"``.
    ``key`` names the arguments that tell blocks apart: for the kinds read, edit and command the first
    that is there; for the kind other all of them together.
    ``keep`` is which blocks of one key stay: the last, all, the first, or none (never carried anywhere).
    ``max_result_chars`` is the limit on one result of these tools, in place of the policy's (``None``: the policy's).

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
                    f"rule.{name}: {getattr(self, name)!r} is not allowed; allowed: names"
                )
            object.__setattr__(self, name, names)
        check_choice("rule.kind", self.kind, KINDS)
        check_choice("rule.keep", self.keep, KEEP_BLOCK)
        check_limit("rule.max_result_chars", self.max_result_chars, optional=True)


def check_limit(key: str, value: object, *, optional: bool = False) -> None:
    """Raise a ``ConfigError`` unless ``value`` is a limit."""
    if optional and value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        allowed = "an integer >= 0, None" if optional else "an integer >= 0"
        raise ConfigError(f"{key}: {value!r} is not allowed; allowed: {allowed}")


def check_seconds(key: str, value: object) -> None:
    """Raise a ``ConfigError`` unless ``value`` is a time that ends."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: a number of seconds > 0")


def as_names(value: object) -> tuple[str, ...] | None:
    """``value`` as names, each once; None where it is none."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (tuple, list)) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(dict.fromkeys(value))


def checked_path(key: str, value: object, allowed: str = "a path") -> str:
    """The path that ``value`` is, as a text. Raises a ``ConfigError`` where it can be none."""
    name = os.fspath(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(name, str) or not name or "\0" in name:
        raise ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: {allowed}")
    return name


def checked_list(key: str, value: object, what: str) -> list[Any]:
    """What ``value`` lists. Raises ``InputError`` where it is no list; a single text is none, nor are its letters."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise InputError(f"{key} must be a list of {what}, not {type(value).__name__}")
    return list(value)


def check_choice(key: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise a ``ConfigError`` that names key, value and what is allowed."""
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise ConfigError(f"{key}: {value!r} is not allowed; allowed: {listed}")


@dataclass(frozen=True, slots=True)
class Notes:
    """What rendering needs to know of a block beside its call and result.

    ``age`` counts blocks from the newest (0).
    ``earlier`` holds the ages of the older blocks with the same key that the heading counts,
    ``is_stale`` says that the file was edited after this read, and ``is_active`` that the block
    stands on the conversation's active branch.
    ``second_results`` are the wire's objects of further results for the same call, in their order.
    """

    age: int = 0
    earlier: tuple[int, ...] = ()
    is_stale: bool = False
    is_active: bool = True
    second_results: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for age in (self.age, *self.earlier):
            if not 0 <= age <= OLDEST:
                raise ConfigError(
                    f"notes: an age of {age!r} is not allowed; allowed: 0 to {OLDEST}"
                )


@dataclass(frozen=True, slots=True)
class ToolBlock:
    """A tool call with its result.

    ``tool_use`` and ``tool_result`` are the wire's own objects (for the role ``tool``, the message);
    ``None`` where the call, or the result, is missing.
    ``position`` is the index of the message, or of the line, that the call stands in
    (for a result without call, the result), from 0.
    ``scope`` is empty for the main conversation and names the side chain otherwise.
    """

    tool_use: Mapping[str, Any] | None
    tool_result: Mapping[str, Any] | None
    tool_name: str
    dedup_key: str | None = None
    call_id: str = ""
    is_error: bool = False
    position: int = 0
    scope: str = ""
    notes: Notes = field(default_factory=Notes)


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """How many tokens something has for a model: ``value``, and whether it is ``exact``.

    It is the count in ``encoding`` times ``factor``, rounded up.
    """

    value: int
    exact: bool
    encoding: EncodingName
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class ToolSize:
    """What one tool's results weigh: UTF-8 bytes and characters of their texts."""

    calls: int = 0
    results: int = 0
    errors: int = 0
    bytes: int = 0
    chars: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a job did with every block that it walked. Sizes are Unicode code points.

    ``walked`` counts blocks; ``walked_all`` is false where the budget was spent before the beginning
    of the conversation was reached, so that older blocks were not looked at.
    Every walked block is in exactly one of ``shown``, ``left_out``, a reason of ``superseded``
    and a reason of ``excluded``. ``cut`` counts those of the shown blocks that a limit shortened.
    Where the total counts tokens, ``tokens_after`` is the exact count of the context, and ``block_tokens`` are
    those of each shown block, as they stand in it: the position of its message, and the number.
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
    skipped_lines: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values that ``json.dumps`` takes.

        >>> Report(walked=2, shown=1, superseded={"later_read": 1}).to_dict()["superseded"]
        {'later_read': 1}
        """
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        for name in ("superseded", "excluded"):
            values[name] = dict(values[name])
        values["skipped_lines"] = list(self.skipped_lines)
        values["block_tokens"] = [list(pair) for pair in self.block_tokens]
        return values

    @property
    def message_tokens(self) -> dict[int, int]:
        """What the shown blocks of each message take of a total in tokens, by the message's position.

        >>> Report(block_tokens=((1, 20), (1, 30), (5, 9))).message_tokens
        {1: 50, 5: 9}
        """
        found: dict[int, int] = {}
        for position, tokens in self.block_tokens:
            found[position] = found.get(position, 0) + tokens
        return found


Counts = tuple[
    int,
    bool,
    int,
    int,
    int,
    dict[str, int],
    dict[str, int],
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    bool,
    bool,
    int | None,
    tuple[tuple[int, int], ...],
]
"""The fields of a ``Report`` that come from the walk, in their order."""

Survey = tuple[str, int, int, int, int, int, int, int, int, int, dict[str, ToolSize]]
"""What a survey counts: shape, messages, orphan calls and results, duplicate results, repeated records, duplicates,
stale reads, blocks of side chains and of other branches, and the weight of each tool's results."""
