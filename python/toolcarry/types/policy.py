"""The policy of a job: which results it carries, and how much of them."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Final, Literal, get_args

from toolcarry._data import read_table
from toolcarry.errors import ConfigError
from toolcarry.types.destinations import Destination, check_destination
from toolcarry.types.models import scale_of, window_of
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

ContentKind = Literal[
    "diff",
    "hits",
    "html",
    "json",
    "lines",
    "listing",
    "logs",
    "table",
    "terminal",
    "tests",
    "trace",
]
CONTENT_KINDS: Final[tuple[ContentKind, ...]] = get_args(ContentKind)
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
    ``fill`` is how ``carry`` spends the total if not everything fits. ``"novel"`` shows the newest results up to a
    quarter of the total, then files that were just read or changed, then lines of commands that say that something
    failed, up to an eighth, then of all other results the lines with the most new words; ``...`` marks lines that are left out, and ``Report.partial`` has the numbers of those that are shown.
    Line numbers of files are then left out, and an edit is the snippet that the tool returned or its new lines.
    ``"newest"`` shows the newest results in full, and lists those that it leaves out.
    ``rules`` come before the built-in ones; ``"careful"`` keeps every edit of a file until the file is
    written or read completely again.
    ``framing`` adds the line that says that the context is data and not instructions.
    ``content`` says how a result over a limit is shortened: ``"auto"`` by what it is, if that is known, so that
    failures of tests, errors in logs, the first hits of each file, and the keys of JSON stay; ``"off"`` like any other
    text; or only the kinds that are named (``"diff"``, ``"hits"``, ``"html"``, ``"json"``, ``"lines"``, ``"listing"``,
    ``"logs"``, ``"table"``, ``"terminal"``, ``"tests"``, ``"trace"``). In ``project``, ``"lines"`` is any other text and
    any file: one end and the lines with the most new words stay. ``"terminal"`` needs no limit there: of a result with
    colours or progress bars, what a terminal shows in the end is sent.

    The following settings are for ``project`` alone, where the totals have no default. ``max_request_tokens`` limits
    the whole request, and may be a share of the window, such as ``"80%"``: of ``window`` tokens, else of the window of
    ``model``. If a total is exceeded, old results are shortened to 400 tokens, and then cleared, the oldest first, down
    to 60 % of it at once. A result that is shortened and later cleared costs the provider's prompt cache twice;
    ``content="off"`` clears at once. With a ``model``, all limits are in its tokens: its
    own encoding counts them, or an estimate by the factor of its family (``FACTORS``). ``repair`` corrects what the
    ``destination`` would refuse, such as ``"mistral"``, or a ``Destination`` of your own, also as a mapping with its
    ``base`` and its rules; by default it follows from the messages and the model.
    ``clear_at_least`` is how many tokens the replacement of superseded results must save together if they were already
    sent.
    ``clear_tool_inputs`` puts markers in the place of texts in the arguments of calls before the last three turns, if
    they hold nothing new: what was written to a file that was read or written as a whole later, the old text of an
    edit, and texts of failed edits. ``True`` does so always, a list of names for these tools, and ``None`` only for a
    request over ``max_request_tokens``, before any result is cleared. ``project`` never touches the results of
    ``exclude_tools`` (names as in a ``Rule``), the last ``keep_last_results``, and those of the model's last
    ``keep_last_turns``.

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
    fill: FillName = "novel"
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
    max_request_tokens: int | str | None = None
    model: str | None = None
    window: int | None = None
    repair: bool = False
    destination: str | Destination | Mapping[str, Any] | None = None
    content: Literal["auto", "off"] | tuple[ContentKind, ...] = "auto"
    clear_at_least: int = 8_000
    clear_tool_inputs: bool | tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    keep_last_results: int = 0
    keep_last_turns: int = 0

    def __post_init__(self) -> None:
        # Defaults are allowed, so only other values are checked: most policies set one or two.
        given = [
            name
            for name, value, default in zip(FIELDS, values_of(self), DEFAULTS, strict=True)
            if value is not default
        ]
        for name in given:
            self._check(name)
        share_of(self.max_request_tokens, self.window, self.model)
        if self.max_tool_context_chars is not None and self.max_tool_context_tokens is not None:
            raise ConfigError(
                f"max_tool_context_tokens: {self.max_tool_context_tokens!r} is not allowed together with "
                "max_tool_context_chars; allowed: one of the two"
            )

    def _check(self, name: str) -> None:
        """Check a field, and normalise a list of names or rules."""
        value = getattr(self, name)
        if name in LIMITS:
            if name != "max_request_tokens" or not isinstance(value, str):
                check_limit(name, value, optional=True)
        elif name in COUNTS:
            check_limit(name, value)
        elif name in CHOICES:
            check_choice(name, value, CHOICES[name])
        elif name in SWITCHES:
            if not isinstance(value, bool):
                raise ConfigError(f"{name}: {value!r} is not allowed; allowed: True, False")
        elif name == "model":
            check_type("model", value, str)
        elif name == "destination":
            destination = check_destination("destination", value)
            object.__setattr__(self, "destination", destination)
        elif name == "rules":
            object.__setattr__(self, "rules", check_rules(value))
        elif name == "clear_tool_inputs":
            tools = value if isinstance(value, bool) else as_names(value)
            if tools is None:
                raise ConfigError(
                    f"clear_tool_inputs: {value!r:.80} is not allowed; "
                    "allowed: True, False, None, a name, a list of names"
                )
            object.__setattr__(self, "clear_tool_inputs", tools)
        elif name == "exclude_tools":
            names = as_names(value)
            if names is None:
                raise ConfigError(
                    f"exclude_tools: {value!r} is not allowed; allowed: a name, a list of names"
                )
            object.__setattr__(self, "exclude_tools", names)
        elif value not in ("auto", "off"):
            kinds = as_names(value)
            if kinds is None or not set(kinds) <= set(CONTENT_KINDS):
                raise ConfigError(
                    f"content: {value!r:.80} is not allowed; "
                    f"allowed: 'auto', 'off', a list of {', '.join(CONTENT_KINDS)}"
                )
            object.__setattr__(self, "content", kinds)

    def __repr__(self) -> str:
        """Return the settings that are not the default ones.

        >>> Policy(), Policy(repair=True)
        (Policy(), Policy(repair=True))
        """
        changed = (
            f"{each.name}={value!r}"
            for each in fields(self)
            if (value := getattr(self, each.name)) != each.default
        )
        return f"Policy({', '.join(changed)})"

    @property
    def content_kinds(self) -> tuple[ContentKind, ...]:
        """The kinds of texts that are shortened by what they are."""
        if isinstance(self.content, str):
            return CONTENT_KINDS if self.content == "auto" else ()
        return self.content


LIMITS: Final = (
    "max_tool_context_chars",
    "max_tool_context_tokens",
    "max_tool_result_chars",
    "max_tool_result_tokens",
    "max_request_tokens",
    "window",
)

COUNTS: Final = ("clear_at_least", "keep_last_results", "keep_last_turns")

CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "encoding": ENCODINGS,
    "fill": FILLS,
    "keep": KEEP_TEXT,
}

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

FIELDS: Final = tuple(field.name for field in fields(Policy))
DEFAULTS: Final = tuple(field.default for field in fields(Policy))
values_of: Final = attrgetter(*FIELDS)


_SHARE: Final = re.compile(r"([1-9][0-9]?|100) ?%")


def share_of(limit: int | str | None, window: int | None, model: str | None) -> int | None:
    """Return a limit on a request in tokens, which may be given as a share of the window.

    Raises ``ConfigError`` if it is no share, or the window is not known.

    >>> share_of("80%", None, "gpt-4o"), share_of(5_000, None, None)
    (102400, 5000)
    """
    if not isinstance(limit, str):
        return limit
    match = _SHARE.fullmatch(limit)
    if match is None:
        raise ConfigError(
            f"max_request_tokens: {limit!r:.80} is not allowed; allowed: an integer >= 0, None, a share such as '80%'"
        )
    tokens = window_of(model or "") if window is None else window
    if tokens is None:
        raise ConfigError(
            f"max_request_tokens: {limit!r} is not allowed without a window, or a model whose window is known"
        )
    return tokens * int(match[1]) // 100


def in_encoding(policy: Policy) -> tuple[Policy, float]:
    """Return a policy whose limits count tokens of its encoding, and the model's tokens per token of the encoding.

    >>> policy, factor = in_encoding(Policy(max_request_tokens="50%", model="claude-sonnet-4-5"))
    >>> policy.max_request_tokens, factor
    (80000, 1.25)
    """
    limit = share_of(policy.max_request_tokens, policy.window, policy.model)
    if policy.model is None:
        whole = limit is policy.max_request_tokens
        return policy if whole else replace(policy, max_request_tokens=limit), 1.0
    encoding, factor, _ = scale_of(policy.model)

    def scaled(tokens: int | None) -> int | None:
        return tokens if tokens is None or tokens >= NO_LIMIT else math.floor(tokens / factor)

    counted = replace(
        policy,
        model=None,
        encoding=encoding,
        max_request_tokens=scaled(limit),
        max_tool_context_tokens=scaled(policy.max_tool_context_tokens),
        max_tool_result_tokens=scaled(policy.max_tool_result_tokens),
    )
    return counted, factor


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
