"""The policy of a job: which results it carries, and how much of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final, Literal

from toolcarry._data import read_table
from toolcarry.errors import ConfigError
from toolcarry.types.values import (
    ENCODINGS,
    EncodingName,
    KeepText,
    Rule,
    as_names,
    check_choice,
    check_limit,
)

DEFAULT_RULES: Final[tuple[Rule, ...]] = tuple(
    Rule(tuple(rule["tools"]), rule["kind"], tuple(rule["key"]), rule["keep"])
    for rule in read_table("default_rules")["rules"]
)
"""The built-in rules: which tools read, edit and run commands, and which argument identifies their target.

Rules are data, in ``_data/default_rules.json``. User rules come before these, and the first rule that matches a name
decides. A tool that no rule matches is of the kind other, and its results are never superseded.
"""

NO_LIMIT: Final = sys.maxsize
"""The value of a limit that means no limit."""

DEFAULT_CONTEXT_CHARS: Final = 60_000
"""The default total of ``carry``."""

FillName = Literal["newest", "novel"]
FILLS: Final = ("newest", "novel")
KEEP_TEXT: Final = ("auto", "head", "tail", "ends")


@dataclass(frozen=True, slots=True)
class Policy:
    """The results that are carried, and how much of them.

    ``max_tool_context_chars`` (Unicode code points) or ``max_tool_context_tokens`` (tokens of ``encoding``, as
    tiktoken counts them) is a hard limit on the whole context; the default is 60,000 characters.
    ``max_tool_result_chars`` and ``max_tool_result_tokens`` limit one result (``None``: no limit; both may be
    set); ``NO_LIMIT`` turns a limit off. ``keep`` is the part of an over-long text that stays: its head, its tail,
    both ends, or the best choice for the kind of tool (``"auto"``: both ends of a command's output, since errors
    come last, and else the head).
    ``fill`` is how ``carry`` spends the total. ``"newest"`` shows the newest results in full. ``"novel"`` shows the newest
    results up to a quarter of the total, then files that were just read or changed, then of all other results the
    lines with the most new words; ``...`` marks lines that are left out, and ``Report.partial`` has the numbers of
    those that are shown. Line numbers of files are left out, an edit is the snippet that the tool returned or its
    new lines, and newer edits supersede no older ones.
    ``rules`` come before the built-in ones; ``"careful"`` keeps every edit of a file until the file is
    written or read completely again.
    ``framing`` adds the line that says that the context is data and not instructions.

    The following settings are for ``project`` alone, where the totals have no default. ``max_request_tokens`` limits
    the whole request; what is over a total is cleared down to 60 % of it at once. ``repair`` corrects what the provider
    would refuse; ``clear_at_least`` is how many tokens the replacement of superseded results must save together if they
    were already sent. ``project`` never touches the results of ``exclude_tools``
    (names as in a ``Rule``), the last ``keep_last_results``, and those of the model's last ``keep_last_turns``.

    >>> Policy(max_tool_context_chars=2_000, include_failed=False).keep
    'auto'
    >>> Policy(max_tool_result_chars=-1)
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: max_tool_result_chars: -1 is not allowed; allowed: an integer >= 0, None
    """

    max_tool_context_chars: int | None = None
    max_tool_context_tokens: int | None = None
    max_tool_result_chars: int | None = None
    max_tool_result_tokens: int | None = None
    encoding: EncodingName = "o200k_base"
    fill: FillName = "newest"
    keep: KeepText = "auto"
    rules: tuple[Rule, ...] | Literal["careful"] = DEFAULT_RULES
    include_summary: bool = True
    include_files: bool = True
    include_changes: bool = True
    include_commands: bool = True
    include_others: bool = True
    include_failed: bool = True
    include_interrupted: bool = True
    framing: bool = True
    max_request_tokens: int | None = None
    repair: bool = False
    clear_at_least: int = 8_000
    exclude_tools: tuple[str, ...] = ()
    keep_last_results: int = 0
    keep_last_turns: int = 0

    def __post_init__(self) -> None:
        for name in LIMITS:
            check_limit(name, getattr(self, name), optional=True)
        if self.max_tool_context_chars is not None and self.max_tool_context_tokens is not None:
            raise ConfigError(
                f"max_tool_context_tokens: {self.max_tool_context_tokens!r} is not allowed together with "
                "max_tool_context_chars; allowed: one of the two"
            )
        for name in ("clear_at_least", "keep_last_results", "keep_last_turns"):
            check_limit(name, getattr(self, name))
        names = as_names(self.exclude_tools)
        if names is None:
            raise ConfigError(
                f"exclude_tools: {self.exclude_tools!r} is not allowed; allowed: a name, a list of names"
            )
        object.__setattr__(self, "exclude_tools", names)
        check_choice("encoding", self.encoding, ENCODINGS)
        check_choice("fill", self.fill, FILLS)
        check_choice("keep", self.keep, KEEP_TEXT)
        object.__setattr__(self, "rules", check_rules(self.rules))
        for name in SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(
                    f"{name}: {getattr(self, name)!r} is not allowed; allowed: True, False"
                )


LIMITS: Final = (
    "max_tool_context_chars",
    "max_tool_context_tokens",
    "max_tool_result_chars",
    "max_tool_result_tokens",
    "max_request_tokens",
)

SWITCHES: Final = (
    "include_summary",
    "include_files",
    "include_changes",
    "include_commands",
    "include_others",
    "include_failed",
    "include_interrupted",
    "framing",
    "repair",
)


def check_rules(rules: object) -> tuple[Rule, ...] | Literal["careful"]:
    """Return ``rules`` as a tuple, or ``"careful"``; raise a ``ConfigError`` for anything else."""
    if rules == "careful":
        return "careful"
    if isinstance(rules, (tuple, list)) and all(isinstance(rule, Rule) for rule in rules):
        return rules if isinstance(rules, tuple) else tuple(rules)
    raise ConfigError(f"rules: {rules!r} is not allowed; allowed: a sequence of Rule, 'careful'")


def check_arguments(summary: object, policy: object) -> None:
    """Raise a ``ConfigError`` unless ``summary`` is text and ``policy`` a ``Policy``."""
    check_type("summary", summary, str)
    check_type("policy", policy, Policy)


def check_type(key: str, value: object, kind: type) -> None:
    """Raise a ``ConfigError`` unless ``value`` is an instance of ``kind``."""
    if not isinstance(value, kind):
        raise ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: a {kind.__name__}")
