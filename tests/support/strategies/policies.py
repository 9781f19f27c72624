"""Generated policies: totals in characters and in tokens, limits, rules and switches."""

from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st

from toolcarry import NO_LIMIT, CarryPolicy, ProjectPolicy, Rule
from toolcarry.types.fields import Field
from toolcarry.types.policy import ResultPolicy

totals = st.one_of(st.none(), st.integers(0, 400), st.integers(0, 3_000), st.just(NO_LIMIT))
patterns = st.sampled_from(
    ("*", "read*", "Gre?", "Bash", "mcp__x__*", "y", "str_replace_editor:view", "Edit")
)
result_limits = st.none() | st.integers(0, 100) | st.just(NO_LIMIT)


def rule_sets(limits: st.SearchStrategy[int | None]) -> st.SearchStrategy[Any]:
    """Rules whose tools' results have these limits."""
    rules = st.builds(
        Rule,
        st.lists(patterns, min_size=1, max_size=2).map(tuple),
        kind=st.sampled_from(("read", "edit", "command", "other")),
        key=st.lists(
            st.sampled_from(("file_path", "path", "command", "pattern", "query")), max_size=2
        ).map(tuple),
        keep=st.sampled_from(("last", "all", "first", "none")),
        max_result_chars=limits,
    )
    return st.one_of(st.just(()), st.just("careful"), st.lists(rules, max_size=3).map(tuple))


def carry_policy(*, total: int | None, counts_tokens: bool, **settings: Any) -> CarryPolicy:
    """A policy whose total counts characters or tokens."""
    unit = "tokens" if counts_tokens else "chars"
    return CarryPolicy(**{f"max_{unit}": total}, **settings)


def project_policy(*, total: int | None, counts_tokens: bool, **settings: Any) -> ProjectPolicy:
    """A policy whose total of all results counts characters or tokens."""
    unit = "tokens" if counts_tokens else "chars"
    return ProjectPolicy(**{f"max_all_results_{unit}": total}, **settings)


FIXED = {"destination", "model", "references", "window_tokens"}
"""Fields that these policies leave at their defaults, since tests of their own set them."""


def by_type(field: Field) -> st.SearchStrategy[Any]:
    """The values of a field as its type allows them."""
    if field.hint is bool:
        return st.sampled_from((field.default,) * 4 + (not field.default,))
    if get_origin(field.hint) is Literal:
        return st.sampled_from((field.default, *get_args(field.hint)))
    assert field.hint in (int, int | None), f"{field.name}: give it a strategy below"
    return st.sampled_from((field.default, field.default, 0, 1, 3, 100))


def built(make: Any, kind: type[ResultPolicy], **own: st.SearchStrategy[Any]) -> Any:
    """Policies of a kind: some fields have strategies of their own, and all others vary by their types.

    Limits don't, since only one of two may be set.
    """
    limits = {name for name in (field.name for field in kind.declared) if name.startswith("max_")}
    others = [each for each in kind.declared if each.name not in {*own, *FIXED, *limits}]
    return st.builds(make, **own, **{field.name: by_type(field) for field in others})


policies = built(
    carry_policy,
    CarryPolicy,
    total=totals,
    counts_tokens=st.sampled_from((False, False, True)),
    max_result_chars=result_limits,
    max_result_tokens=st.none() | st.none() | result_limits,
    encoding=st.sampled_from(("o200k_base", "cl100k_base")),
    layout=st.sampled_from(("auto", "sections", "handover")),
    keep=st.sampled_from(("auto", "head", "tail", "ends")),
    content=st.sampled_from(("auto", "auto", "off", ("json",), ("hits", "listing"))),
    rules=rule_sets(st.none() | result_limits),
)
roomy = st.builds(CarryPolicy, max_chars=st.just(NO_LIMIT), rules=rule_sets(st.none()))
projections = built(
    project_policy,
    ProjectPolicy,
    total=st.none() | totals,
    counts_tokens=st.booleans(),
    max_result_chars=st.none() | st.integers(0, 300),
    max_result_tokens=st.none() | st.integers(0, 60),
    encoding=st.sampled_from(("o200k_base", "cl100k_base")),
    keep=st.sampled_from(("auto", "head", "tail", "ends")),
    rules=rule_sets(st.none() | st.integers(0, 300)),
    repair=st.booleans(),
    max_request_tokens=st.none() | st.none() | st.integers(0, 400),
    content=st.sampled_from(
        ("auto", "auto", "off", ("json",), ("tests", "logs"), ("hits", "listing"))
    ),
    clear_at_least_tokens=st.sampled_from((None, 0, 10, 2_000)),
    prices=st.sampled_from((None, None, "none", "claude-1h")),
    clear_tool_inputs=st.sampled_from((None, None, True, False, ("Write", "mcp__x__*"))),
    exclude_tools=st.sampled_from(((), (), ("Bash",), ("re*",))),
    keep_last_results=st.sampled_from((0, 0, 0, 1, 3)),
    keep_last_turns=st.sampled_from((0, 0, 0, 1, 2)),
)
