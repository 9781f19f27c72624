"""The settings of what is carried and projected: ``[thinking.summarize]``, ``[dedup]`` and ``[projection]``."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta
from msgspec.structs import force_setattr

from toolcarry.config.values import Count, Limit, Name, Seconds, Table, Text, limit
from toolcarry.errors import ConfigError
from toolcarry.policy import DEFAULT_CONTEXT_CHARS, DEFAULT_RULES, Policy
from toolcarry.types import EncodingName, KeepBlock, KeepText, Kind, Rule

__all__ = ["Dedup", "DedupRule", "Projection", "Summarize", "Thinking"]

DEFAULT_RESULT_CHARS: Final = 2_000

Names = Annotated[tuple[Name, ...], Meta(min_length=1)] | Name
SummarizerName = Annotated[
    str,
    Meta(
        pattern=r"\A(extractive|litellm|none|[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*)\Z",
        description="'extractive', 'litellm', 'none', 'package.module:callable'",
    ),
]


class Summarize(Table, frozen=True):
    """``[thinking.summarize]``: what is carried over a switch of the backend, and who sums up the dialogue.

    ``enabled`` (true): whether a switch is acted on.
    ``summarizer`` ("extractive"): who writes the summary: ``"extractive"`` (offline), ``"litellm"`` (the extra of that
    name), ``"none"``, or a callable of your own as ``"package.module:callable"``.
    ``model`` (""): the model that ``"litellm"`` asks; there it must be given.
    ``instructions`` (""): what the summarizer is told; empty for the built-in instructions.
    ``timeout`` (30.0): seconds that a summary may take, > 0.
    ``retries`` (2): how often a failed summary is tried again.

    ``include_tool_context`` (true): whether tool results are carried beside the summary.
    ``max_tool_context_chars`` (60000) or, instead of it, ``max_tool_context_tokens`` (not set): the limit on the
    whole context; an integer, or ``"none"``.
    ``max_tool_result_chars`` (2000) and ``max_tool_result_tokens`` (not set): the limits on one result; an integer, or
    ``"none"``. Where only the tokens are given, characters are not limited.
    ``encoding`` ("o200k_base"): whose tokens are counted; also ``"cl100k_base"``.
    ``keep`` ("auto"): which part of a result that is too long stays: ``"auto"``, ``"head"``, ``"tail"``, ``"ends"``.
    ``include_summary``, ``include_files``, ``include_changes``, ``include_commands``, ``include_others``,
    ``include_failed``, ``include_interrupted``, ``framing`` (all true): the parts of the context, as in a ``Policy``.

    >>> Summarize().max_tool_context_chars, Summarize(max_tool_context_tokens=8_000).max_tool_context_chars
    (60000, None)
    """

    enabled: bool = True
    summarizer: SummarizerName = "extractive"
    model: Text = ""
    instructions: Text = ""
    timeout: Seconds = 30.0
    retries: Annotated[int, Meta(ge=0, le=100)] = 2
    include_tool_context: bool = True
    max_tool_context_chars: Limit | None = None
    max_tool_context_tokens: Limit | None = None
    max_tool_result_chars: Limit | None = None
    max_tool_result_tokens: Limit | None = None
    encoding: EncodingName = "o200k_base"
    keep: KeepText = "auto"
    include_summary: bool = True
    include_files: bool = True
    include_changes: bool = True
    include_commands: bool = True
    include_others: bool = True
    include_failed: bool = True
    include_interrupted: bool = True
    framing: bool = True

    def __post_init__(self) -> None:
        # What holds where neither unit is given stands in the fields, so that it can be read and shown.
        if self.max_tool_context_chars is None and self.max_tool_context_tokens is None:
            force_setattr(self, "max_tool_context_chars", DEFAULT_CONTEXT_CHARS)
        if self.max_tool_result_chars is None and self.max_tool_result_tokens is None:
            force_setattr(self, "max_tool_result_chars", DEFAULT_RESULT_CHARS)
        if self.summarizer == "litellm" and not self.model.strip():
            raise ValueError(
                f"model: {self.model!r:.80} is not allowed with summarizer = 'litellm'; "
                "allowed: the name of a model"
            )
        try:
            self.policy()
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def policy(self, rules: tuple[Rule, ...] | Literal["careful"] = DEFAULT_RULES) -> Policy:
        """The policy of ``carry``.

        >>> Summarize(max_tool_result_tokens=500).policy().max_tool_result_chars is None
        True
        """
        return Policy(
            max_tool_context_chars=limit(self.max_tool_context_chars),
            max_tool_context_tokens=limit(self.max_tool_context_tokens),
            max_tool_result_chars=limit(self.max_tool_result_chars),
            max_tool_result_tokens=limit(self.max_tool_result_tokens),
            encoding=self.encoding,
            keep=self.keep,
            rules=rules,
            include_summary=self.include_summary,
            include_files=self.include_files,
            include_changes=self.include_changes,
            include_commands=self.include_commands,
            include_others=self.include_others,
            include_failed=self.include_failed,
            include_interrupted=self.include_interrupted,
            framing=self.framing,
        )


class Thinking(Table, frozen=True):
    """``[thinking]``: the table that ``[thinking.summarize]`` stands in."""

    summarize: Summarize = Summarize()


class DedupRule(Table, frozen=True):
    """``[[dedup.rules]]``: what supersedes what, for some tools. The keys are those of a ``Rule``.

    ``tools`` (must be given): a name or a list of names; ``*`` and ``?`` are wildcards.
    ``kind`` ("other"): ``"read"``, ``"edit"``, ``"command"`` or ``"other"``.
    ``key`` ([]): a name or a list of names of the arguments that tell calls apart.
    ``keep`` ("last"): which calls of one key stay: ``"last"``, ``"all"``, ``"first"``, ``"none"``.
    ``max_result_chars`` (not set): the limit on one result of these tools, in characters, or ``"none"``.
    """

    tools: Names
    kind: Kind = "other"
    key: tuple[Name, ...] | Name = ()
    keep: KeepBlock = "last"
    max_result_chars: Limit | None = None

    def rule(self) -> Rule:
        """The rule.

        >>> DedupRule(tools="search_*", key=("query",)).rule().tools
        ('search_*',)
        """
        return Rule(
            self.tools,
            kind=self.kind,
            key=self.key,
            keep=self.keep,
            max_result_chars=limit(self.max_result_chars),
        )


class Dedup(Table, frozen=True):
    """``[dedup]``: which results are superseded.

    ``preset`` ("default"): the built-in rules; ``"careful"`` keeps every edit of a file until it is written or wholly
    read again, and stands alone.
    ``rules`` (none): ``[[dedup.rules]]``, which come before the built-in ones.

    >>> Dedup(preset="careful").policy_rules()
    'careful'
    """

    preset: Literal["default", "careful"] = "default"
    rules: tuple[DedupRule, ...] = ()

    def __post_init__(self) -> None:
        if self.preset == "careful" and self.rules:
            raise ValueError("preset: 'careful' is not allowed beside rules; allowed: 'default'")

    def policy_rules(self) -> tuple[Rule, ...] | Literal["careful"]:
        """The rules as a ``Policy`` has them."""
        if self.preset == "careful":
            return "careful"
        return tuple(each.rule() for each in self.rules) or DEFAULT_RULES


class Projection(Table, frozen=True):
    """``[projection]``: what is made smaller in every request. The keys are those of a ``Policy``.

    ``enabled`` (false): whether requests are projected.
    ``repair`` (true): whether what the provider would refuse is mended.
    ``max_request_tokens`` (not set): the limit on the whole request, in tokens.
    ``max_tool_context_chars`` or ``max_tool_context_tokens`` (not set): the limit on all results together.
    ``max_tool_result_chars`` and ``max_tool_result_tokens`` (not set): the limits on one result.
    Each limit is an integer, or ``"none"``.
    ``encoding`` ("o200k_base"): whose tokens are counted; also ``"cl100k_base"``.
    ``keep`` ("auto"): which part of a result that is too long stays.
    ``clear_at_least`` (2000): how many tokens must be won at once for what was sent before to change.
    ``exclude_tools`` ([]): the tools whose results are never touched.
    ``keep_last_results``, ``keep_last_turns`` (0): how many of the newest are never touched.
    """

    enabled: bool = False
    repair: bool = True
    max_request_tokens: Limit | None = None
    max_tool_context_chars: Limit | None = None
    max_tool_context_tokens: Limit | None = None
    max_tool_result_chars: Limit | None = None
    max_tool_result_tokens: Limit | None = None
    encoding: EncodingName = "o200k_base"
    keep: KeepText = "auto"
    clear_at_least: Count = 2_000
    exclude_tools: tuple[Name, ...] = ()
    keep_last_results: Count = 0
    keep_last_turns: Count = 0

    def __post_init__(self) -> None:
        try:
            self.policy()
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def policy(self, rules: tuple[Rule, ...] | Literal["careful"] = DEFAULT_RULES) -> Policy:
        """The policy of ``project``.

        >>> Projection().policy().repair
        True
        """
        return Policy(
            max_request_tokens=limit(self.max_request_tokens),
            max_tool_context_chars=limit(self.max_tool_context_chars),
            max_tool_context_tokens=limit(self.max_tool_context_tokens),
            max_tool_result_chars=limit(self.max_tool_result_chars),
            max_tool_result_tokens=limit(self.max_tool_result_tokens),
            encoding=self.encoding,
            keep=self.keep,
            rules=rules,
            repair=self.repair,
            clear_at_least=self.clear_at_least,
            exclude_tools=self.exclude_tools,
            keep_last_results=self.keep_last_results,
            keep_last_turns=self.keep_last_turns,
        )
