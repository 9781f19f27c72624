"""The policies of ``carry`` and ``project``: which results are sent, and how much of them.

Each field is declared once, here: its type and default in a dataclass, its meaning in the docstring of that class.
``types/fields.py`` derives the keys of the settings file, the environment variables, the command-line options and
docs/reference/settings.md from these declarations. The ``TypedDict`` next to each policy repeats its fields for type
checkers, for functions that take them as keywords.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
)

from toolcarry._data import read_table
from toolcarry.errors import ConfigError
from toolcarry.types.destinations import Destination, check_destination
from toolcarry.types.fields import CharLimit, Field, TokenLimit, check_names, declared
from toolcarry.types.models import scale_of, window_of
from toolcarry.types.prices import ALL_PRICES, PriceModel, price_models, price_of
from toolcarry.types.values import (
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

Rules are data, in ``_data/default_rules.json``. User rules come before these, and the first rule that matches a tool's
name applies. A tool that no rule matches has the kind ``"other"``, and its results are never superseded.
"""

NO_LIMIT: Final = sys.maxsize
"""The value of a limit that means no limit."""

DEFAULT_CONTEXT_CHARS: Final = 60_000
"""The default total of ``carry``."""

CONTENT_KINDS: Final = tuple(
    sorted(
        (
            *(kind["name"] for kind in read_table("shorten")["kinds"]),
            *read_table("shorten")["read_by_code"],
        )
    )
)
"""The kinds of text that are shortened according to their content."""
if TYPE_CHECKING:
    ContentKind = str
else:
    ContentKind = Literal[CONTENT_KINDS]
LayoutName = Literal["auto", "sections", "handover"]
AUTO: Final = "auto"
"""The value of a limit on one result that depends on the result's kind and on the results before it."""
Content: TypeAlias = Literal["auto", "off"] | tuple[ContentKind, ...]
Rules: TypeAlias = tuple[Rule, ...] | Literal["careful"]


AnyPolicy = TypeVar("AnyPolicy", bound="ResultPolicy")


def checked(field: Field, value: Any, allowed_tokens: str) -> Any:
    """Return the value of a field, with a list as a tuple. Raises ``ConfigError`` if it is not allowed."""
    name, hint = field.name, field.hint
    if name in CHECKS:
        return CHECKS[name](name, value)
    if hint is bool:
        if not isinstance(value, bool):
            raise ConfigError(f"{name}: {value!r} is not allowed; allowed: True, False")
    elif get_origin(hint) is Literal:
        check_choice(name, value, get_args(hint))
    elif hint is int:
        check_limit(name, value)
    elif field.is_token_limit:
        if not isinstance(value, str):  # a share, which is checked with its window
            check_limit(name, value, optional=True, allowed=allowed_tokens)
    else:
        check_limit(name, value, optional=True)
    return value


def checked_model(name: str, value: Any) -> Any:
    check_type(name, value, str)
    return value


def checked_content(name: str, value: Any) -> Content:
    if value in ("auto", "off"):
        return value  # type: ignore[no-any-return]
    kinds = as_names(value)
    if kinds is None or not set(kinds) <= set(CONTENT_KINDS):
        raise ConfigError(
            f"{name}: {value!r:.80} is not allowed; allowed: 'auto', 'off', a list of {', '.join(CONTENT_KINDS)}"
        )
    return kinds


def checked_names(name: str, value: Any) -> tuple[str, ...]:
    names = as_names(value)
    if names is None:
        raise ConfigError(f"{name}: {value!r} is not allowed; allowed: a name, a list of names")
    return names


def checked_inputs(name: str, value: Any) -> bool | tuple[str, ...]:
    tools = value if isinstance(value, bool) else as_names(value)
    if tools is None:
        raise ConfigError(
            f"{name}: {value!r:.80} is not allowed; allowed: True, False, None, a name, a list of names"
        )
    return tools


def checked_prices(name: str, value: Any) -> str | PriceModel | None:
    if value is not None and not isinstance(value, PriceModel):
        check_choice(name, value, tuple(price_models()))
    return value  # type: ignore[no-any-return]


def check_rules(rules: object, name: str = "rules") -> Rules:
    """Return ``rules`` as a tuple, or ``"careful"``; raise a ``ConfigError`` for anything else."""
    if rules == "careful":
        return "careful"
    if isinstance(rules, (tuple, list)) and all(isinstance(rule, Rule) for rule in rules):
        return rules if isinstance(rules, tuple) else tuple(rules)
    raise ConfigError(f"{name}: {rules!r} is not allowed; allowed: a sequence of Rule, 'careful'")


CHECKS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "clear_tool_inputs": checked_inputs,
    "content": checked_content,
    "destination": check_destination,
    "exclude_tools": checked_names,
    "model": checked_model,
    "prices": checked_prices,
    "rules": lambda name, value: check_rules(value, name),
}
"""The checks of fields whose type alone does not define the allowed values."""


def refuse_both(policy: ResultPolicy, one: str, other: str) -> None:
    """Raise a ``ConfigError`` if both of two mutually exclusive limits are set."""
    value = getattr(policy, one)
    if value is not None and getattr(policy, other) is not None:
        raise ConfigError(
            f"{one}: {value!r} is not allowed together with {other}; allowed: one of the two"
        )


ALLOWED_TOKENS: Final = "an integer >= 0, None, a share such as '80%'"
_SHARE: Final = re.compile(r"([1-9][0-9]?|100) ?%")


def share_of(
    name: str,
    limit: TokenLimit,
    window: int | None,
    model: str | None,
    allowed: str = ALLOWED_TOKENS,
) -> int | None:
    """Return a limit in tokens; a share such as ``"80%"`` is resolved to a part of the window.

    Raises ``ConfigError`` for any other text, or if the window is not known.

    >>> share_of("max_tokens", "80%", None, "gpt-4o"), share_of("max_tokens", 5_000, None, None)
    (102400, 5000)
    """
    if not isinstance(limit, str):
        return limit
    match = _SHARE.fullmatch(limit)
    if match is None:
        raise ConfigError(f"{name}: {limit!r:.80} is not allowed; allowed: {allowed}")
    tokens = window_of(model or "") if window is None else window
    if tokens is None:
        raise ConfigError(f"{name}: {limit!r} needs window_tokens, or a model with a known window")
    return tokens * int(match[1]) // 100


def allowed_tokens(policy: ResultPolicy, name: str) -> str:
    """Return the allowed values of a token limit, for an error message."""
    return f"{ALLOWED_TOKENS}, {AUTO!r}" if name in policy.auto_limits else ALLOWED_TOKENS


def check_type(key: str, value: object, kind: type) -> None:
    """Raise a ``ConfigError`` unless ``value`` is an instance of ``kind``."""
    if not isinstance(value, kind):
        raise ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: a {kind.__name__}")


@declared
@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPolicy:
    """The settings that ``carry`` and ``project`` share: how a result is shortened, and which results supersede others.

    Set a limit to ``NO_LIMIT`` to turn it off, even if it has a default.

    ``max_result_tokens``: The limit on one result, in tokens: a number, or a share of the window such as ``"5%"``.
    ``max_result_chars``: The limit on one result, in characters (Unicode code points). Both limits may be set.
    ``encoding``: The encoding used to count tokens; counts match tiktoken's.
    ``model``: The model used to count tokens and to turn shares into limits. Counts are exact for OpenAI's models, and
    estimated by model family for all others.
    ``window_tokens``: The context window, in tokens, if it differs from the model's.
    ``keep``: The part to keep of a text over a limit: its head, its tail or both ends. ``"auto"`` keeps both ends of
    command output, since errors come last, and the head of any other text.
    ``content``: How to shorten a text over a limit. ``"auto"`` looks at the content: it keeps test failures, errors in
    logs, the first search hits in each file, and the keys of JSON. ``"off"`` cuts all texts the same way; a list
    enables only the kinds that it names. In ``project``, ``"lines"`` covers files and text of no known kind: it keeps
    one end and the lines with the most new words; in command output, it first counts lines that differ only in
    numbers. ``"terminal"`` removes colours and overwritten lines, even from texts within their limit.
    ``references``: Put the reference of the call into each marker, so that the full result can be found. Turn this off
    if the model has no tool, such as ``retrieval_tool``, to ask for the result.
    ``rules``: Rules that decide which results supersede others; they come before the built-in ones. ``"careful"`` keeps
    every edit of a file until the file is written or read in full again.
    """

    declared: ClassVar[tuple[Field, ...]]
    token_limits: ClassVar[tuple[str, ...]]
    auto_limits: ClassVar[tuple[str, ...]] = ()
    """The limits that may be ``"auto"``."""
    plain: ClassVar[Any]
    old_names: ClassVar[Mapping[str, str]] = {
        "max_tool_result_chars": "max_result_chars",
        "max_tool_result_tokens": "max_result_tokens",
        "window": "window_tokens",
    }
    """The names of fields in version 0.1, with their current names."""

    max_result_tokens: TokenLimit = None
    max_result_chars: CharLimit = None
    encoding: EncodingName = "o200k_base"
    model: str | None = None
    window_tokens: int | None = None
    keep: KeepText = "auto"
    content: Content = "auto"
    references: bool = True
    rules: Rules = DEFAULT_RULES

    def __post_init__(self) -> None:
        # Defaults are allowed, so only other values are checked: most policies set one or two.
        for field in self.declared:
            value = getattr(self, field.name)
            if value is not field.default:
                allowed = allowed_tokens(self, field.name)
                object.__setattr__(self, field.name, checked(field, value, allowed))
        for name in self.token_limits:
            self.tokens_of(name)

    def tokens_of(self, name: str) -> int | None:
        """Return a limit in tokens, with a share of the window resolved; ``None`` if the policy has no such limit, or
        if the limit depends on the result.

        Raises ``ConfigError`` for any other text, or if the window is not known.

        >>> ProjectPolicy(max_request_tokens="80%", model="gpt-4o").tokens_of("max_request_tokens")
        102400
        """
        limit = getattr(self, name)
        if limit == AUTO and name in self.auto_limits:
            return None
        allowed = allowed_tokens(self, name)
        return share_of(name, limit, self.window_tokens, self.model, allowed)

    def __repr__(self) -> str:
        """Return the settings that differ from the defaults.

        >>> CarryPolicy(), ProjectPolicy(repair=True)
        (CarryPolicy(), ProjectPolicy(repair=True))
        """
        changed = (
            f"{field.name}={value!r}"
            for field in self.declared
            if (value := getattr(self, field.name)) != field.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    @property
    def content_kinds(self) -> tuple[str, ...]:
        """The kinds of text that are shortened according to their content."""
        if isinstance(self.content, str):
            return CONTENT_KINDS if self.content == "auto" else ()
        return self.content


@declared
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CarryPolicy(ResultPolicy):
    """The policy of ``carry``: what goes into the context for another model.

    ``max_tokens``: The limit on the whole context, in tokens: a number, or a share of the window such as ``"10%"``.
    ``max_chars``: The same limit in characters; 60,000 if neither is set. Only one of the two may be set.
    ``layout``: The form of the context. ``"sections"`` groups whole results by files read, files changed, commands and
    other tools; if they exceed a limit, it shows the newest and lists those left out. ``"handover"`` is for a model
    that continues the work: it has the plan, the open failures, one line for each earlier call, the current text of
    files, and the latest steps in chronological order: each call with its result, and the user's requests in between.
    ``"auto"`` writes sections if everything fits, otherwise a hand-over.
    ``include_summary``: Include the summary.
    ``include_files``: Include files that were read.
    ``include_changes``: Include files that were changed.
    ``include_commands``: Include commands.
    ``include_others``: Include the results of all other tools.
    ``include_failed``: Include failed results.
    ``include_interrupted``: Include calls without a result.
    ``framing``: Add a line that says that the context is data, not instructions.

    >>> CarryPolicy(max_chars=2_000, include_failed=False).keep
    'auto'
    >>> CarryPolicy(max_result_chars=-1)
    Traceback (most recent call last):
    toolcarry.errors.ConfigError: max_result_chars: -1 is not allowed; allowed: an integer >= 0, None
    """

    old_names: ClassVar[Mapping[str, str]] = {
        **ResultPolicy.old_names,
        "max_tool_context_chars": "max_chars",
        "max_tool_context_tokens": "max_tokens",
    }

    max_tokens: TokenLimit = None
    max_chars: CharLimit = None
    layout: LayoutName = "auto"
    include_summary: bool = True
    include_files: bool = True
    include_changes: bool = True
    include_commands: bool = True
    include_others: bool = True
    include_failed: bool = True
    include_interrupted: bool = True
    framing: bool = True

    def __post_init__(self) -> None:
        ResultPolicy.__post_init__(self)
        refuse_both(self, "max_tokens", "max_chars")


@declared
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProjectPolicy(ResultPolicy):
    """The policy of ``project``: what to replace and repair in a request.

    ``max_result_tokens``: The limit on one result, in tokens: a number, a share of the window such as ``"5%"``, or
    ``"auto"``. ``"auto"`` falls as earlier results fill the window: from about 1,000 tokens to 500 for command output,
    reached when they take 5 % of the window; from about 8,000 to 4,000 for all other results, reached when they take
    all of it. Windows over 200,000 tokens and unknown windows count as 200,000. A request below 4,096 tokens is not
    shortened. Default: ``"auto"``, unless ``max_result_chars`` is set or ``references`` is off, since the model could
    not ask for the full result then.
    ``max_request_tokens``: The limit on the whole request, in tokens: a number, or a share of the window such as
    ``"80%"``. If a request exceeds it, old results are shortened to 400 tokens and then cleared, oldest first, until
    the request is down to 60 % of the limit. A result may therefore change twice and break the prompt cache twice; with
    ``content="off"``, results are cleared in one step.
    ``max_all_results_tokens``: The limit on all results together, in tokens; it works like ``max_request_tokens``.
    ``max_all_results_chars``: The same limit in characters. Only one of the two may be set.
    ``repair``: Correct what the provider would reject.
    ``destination``: The provider to repair for, such as ``"mistral"``, or one of your own (``Destination``). Default: inferred
    from the messages and the model.
    ``clear_at_least_tokens``: Replace superseded results that were already sent only if that saves at least this many
    tokens in total. Default: only if that saves money at the provider's prices, and earlier savings in the conversation
    cover its cost.
    ``prices``: The name of a price model (docs/reference/prices.md) such as ``"gpt-5"``, ``"none"`` for a provider
    without a cache, or a price model of your own (``PriceModel``; in the settings file ``[[prices]]``). Default: the
    price model of ``model``, or in the proxy, that of the model that the request names. If neither is known, a change
    has to pay at every built-in price.
    ``clear_tool_inputs``: Replace arguments that are no longer needed with markers, in calls before the last three
    turns: text written to a file that was read or written in full later, the old text of an edit, and the text of
    failed edits. True for all tools, or a list of tool names. Default: only if the request is over
    ``max_request_tokens``, before any result is cleared.
    ``exclude_tools``: The tools whose results never change; names are written as in a ``Rule``.
    ``keep_last_results``: The number of newest results that never change.
    ``keep_last_turns``: The number of newest model turns whose results never change.
    ``keep_images``: The number of newest images to keep. Each older image is replaced with a line that has its type and
    size, which breaks the prompt cache from there on. Results that never change keep their images. Default: all.

    >>> ProjectPolicy(max_request_tokens="80%", model="gpt-4o", repair=True).price_bounds
    ((10000, 5000),)
    """

    old_names: ClassVar[Mapping[str, str]] = {
        **ResultPolicy.old_names,
        "clear_at_least": "clear_at_least_tokens",
        "max_tool_context_chars": "max_all_results_chars",
        "max_tool_context_tokens": "max_all_results_tokens",
    }

    auto_limits: ClassVar[tuple[str, ...]] = ("max_result_tokens",)

    max_request_tokens: TokenLimit = None
    max_all_results_tokens: TokenLimit = None
    max_all_results_chars: CharLimit = None
    repair: bool = False
    destination: str | Destination | Mapping[str, Any] | None = None
    clear_at_least_tokens: int | None = None
    prices: str | PriceModel | None = None
    clear_tool_inputs: bool | tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    keep_last_results: int = 0
    keep_last_turns: int = 0
    keep_images: int | None = None

    def __post_init__(self) -> None:
        ResultPolicy.__post_init__(self)
        refuse_both(self, "max_all_results_tokens", "max_all_results_chars")

    @property
    def is_limited_by_place(self) -> bool:
        """True if the limit on a result is ``"auto"``, set or by default: it depends on the result's kind and on
        earlier results.

        >>> ProjectPolicy().is_limited_by_place, ProjectPolicy(max_result_chars=2_000).is_limited_by_place
        (True, False)
        """
        if self.max_result_tokens is None:
            return self.max_result_chars is None and self.references
        return self.max_result_tokens == AUTO

    @property
    def limits_results(self) -> bool:
        """True if a part of any result may be left out when it is first sent.

        >>> ProjectPolicy(references=False).limits_results, ProjectPolicy(max_result_tokens=500).limits_results
        (False, True)
        """
        limits = (self.max_result_tokens, self.max_result_chars)
        return self.is_limited_by_place or any(limit not in (None, NO_LIMIT) for limit in limits)

    @property
    def price_bounds(self) -> tuple[tuple[int, int], ...]:
        """The prices at which a change has to pay: those of the price model, otherwise the bounds of all built-in ones.

        Each pair has the price of a token written to the cache and of a token read from it, in ten-thousandths.

        >>> ProjectPolicy(prices="claude").price_bounds, ProjectPolicy().price_bounds
        (((12500, 1000),), ((10000, 10000), (20000, 250)))
        """
        found = self.price_model
        return ALL_PRICES if found is None else (found.in_ten_thousandths,)

    @property
    def price_model(self) -> PriceModel | None:
        """The price model that is set, otherwise the price model of ``model``."""
        if isinstance(self.prices, PriceModel):
            return self.prices
        if self.prices is not None:
            return price_models()[self.prices]
        return None if self.model is None else price_of(self.model)


class ResultOptions(TypedDict, total=False):
    """The fields of ``ResultPolicy`` as keywords."""

    max_result_tokens: TokenLimit
    max_result_chars: CharLimit
    encoding: EncodingName
    model: str | None
    window_tokens: int | None
    keep: KeepText
    content: Content
    references: bool
    rules: Rules


class CarryOptions(ResultOptions, total=False):
    """The fields of ``CarryPolicy`` as keywords."""

    max_tokens: TokenLimit
    max_chars: CharLimit
    layout: LayoutName
    include_summary: bool
    include_files: bool
    include_changes: bool
    include_commands: bool
    include_others: bool
    include_failed: bool
    include_interrupted: bool
    framing: bool


class ProjectOptions(ResultOptions, total=False):
    """The fields of ``ProjectPolicy`` as keywords."""

    max_request_tokens: TokenLimit
    max_all_results_tokens: TokenLimit
    max_all_results_chars: CharLimit
    repair: bool
    destination: str | Destination | Mapping[str, Any] | None
    clear_at_least_tokens: int | None
    prices: str | PriceModel | None
    clear_tool_inputs: bool | tuple[str, ...] | None
    exclude_tools: tuple[str, ...]
    keep_last_results: int
    keep_last_turns: int
    keep_images: int | None


def policy_from(
    kind: type[AnyPolicy], policy: AnyPolicy | None, options: Mapping[str, Any]
) -> AnyPolicy:
    """Return the policy of a call: the given or the default policy, with fields replaced by the given keywords.

    Raises ``ConfigError`` for another kind of policy or a value that is not allowed, and ``TypeError`` for a keyword
    that is not a field.

    >>> policy_from(CarryPolicy, None, {"max_tokens": 8_000})
    CarryPolicy(max_tokens=8000)
    """
    given: AnyPolicy = kind.plain if policy is None else policy
    check_type("policy", given, kind)
    if not options:
        return given
    for name in options:
        if name in kind.old_names:
            raise TypeError(f"{name} is called {kind.old_names[name]} since version 0.2")
    check_names(kind, options)
    return replace(given, **options)


def in_encoding(policy: AnyPolicy) -> tuple[AnyPolicy, float]:
    """Return the policy with its limits in tokens of its encoding, and the model's tokens per token of that encoding.

    >>> policy, factor = in_encoding(ProjectPolicy(max_request_tokens="50%", model="claude-sonnet-4-5"))
    >>> policy.max_request_tokens, factor
    (80000, 1.25)
    """
    given = {name: getattr(policy, name) for name in policy.token_limits}
    if isinstance(policy, ProjectPolicy) and policy.is_limited_by_place:
        given["max_result_tokens"] = AUTO
    if policy.model is None and str not in map(type, given.values()):
        return policy, 1.0
    encoding, factor = policy.encoding, 1.0
    if policy.model is not None:
        encoding, factor, _ = scale_of(policy.model)
    limits: dict[str, Any] = {}
    for name, limit in given.items():
        tokens = policy.tokens_of(name)
        limits[name] = (
            tokens if tokens is None or tokens >= NO_LIMIT else math.floor(tokens / factor)
        )
        if limit == AUTO:
            window = policy.window_tokens or window_of(policy.model or "")
            limits[name] = AUTO
            limits["window_tokens"] = None if window is None else math.floor(window / factor)
    if isinstance(policy, ProjectPolicy) and (price := policy.price_model) is not None:
        limits["prices"] = price
    return replace(policy, model=None, encoding=encoding, **limits), factor


def check_summary(summary: object) -> None:
    """Raise a ``ConfigError`` unless ``summary`` is text."""
    check_type("summary", summary, str)
