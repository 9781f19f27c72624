"""Settings: their defaults, and an error for each that may not be."""

import dataclasses
from typing import Any

import pytest
from support.rows import for_each

from toolcarry import (
    DEFAULT_RULES,
    NO_LIMIT,
    CarryPolicy,
    ConfigError,
    Rule,
    deduplicate_tools,
    truncate,
)

LIMITS = (
    "max_chars",
    "max_tokens",
    "max_result_chars",
    "max_result_tokens",
)
INTEGER = "an integer >= 0, None"
SWITCHES = (
    "include_summary",
    "include_files",
    "include_changes",
    "include_commands",
    "include_others",
    "include_failed",
    "include_interrupted",
    "framing",
)


def test_the_defaults() -> None:
    policy = CarryPolicy()
    assert (policy.max_chars, policy.max_result_chars) == (None, None)
    assert (policy.layout, policy.keep, policy.rules) == ("auto", "auto", DEFAULT_RULES)
    assert all(getattr(policy, name) is True for name in SWITCHES)


def test_a_policy_is_a_frozen_value() -> None:
    policy = CarryPolicy(max_result_chars=3)
    assert policy == CarryPolicy(max_result_chars=3)
    assert hash(policy) == hash(CarryPolicy(max_result_chars=3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.keep = "head"  # type: ignore[misc]
    assert dataclasses.replace(policy, keep="tail").keep == "tail"


@for_each("name", LIMITS)
@for_each("value", [-1, 1.5, "10", True, [], NO_LIMIT * -1])
def test_a_limit_that_is_invalid(name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        CarryPolicy(**{name: value})
    share = ", a share such as '80%'" if name.endswith("_tokens") else ""
    assert str(caught.value) == f"{name}: {value!r} is not allowed; allowed: {INTEGER}{share}"


@for_each("name", LIMITS)
@for_each("value", [None, 0, 1, NO_LIMIT])
def test_a_limit(name: str, value: Any) -> None:
    assert getattr(CarryPolicy(**{name: value}), name) == value


def test_one_total_counts() -> None:
    with pytest.raises(
        ConfigError,
        match="max_tokens: 100 is not allowed together with max_chars",
    ):
        CarryPolicy(max_tokens=100, max_chars=400)


@for_each(
    ("name", "value", "allowed"),
    [
        ("encoding", "p50k_base", "'o200k_base', 'cl100k_base'"),
        ("keep", "middle", "'auto', 'head', 'tail', 'ends'"),
        ("keep", None, "'auto', 'head', 'tail', 'ends'"),
        ("layout", "oldest", "'auto', 'sections', 'handover'"),
        ("layout", ["auto"], "'auto', 'sections', 'handover'"),
        ("rules", "careless", "a sequence of Rule, 'careful'"),
        ("rules", [1], "a sequence of Rule, 'careful'"),
        ("rules", None, "a sequence of Rule, 'careful'"),
        *((name, 1, "True, False") for name in SWITCHES),
        *((name, None, "True, False") for name in SWITCHES),
    ],
)
def test_a_setting_that_may_not_be(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(ConfigError) as caught:
        CarryPolicy(**{name: value})
    assert str(caught.value) == f"{name}: {value!r} is not allowed; allowed: {allowed}"


def test_a_list_of_rules_becomes_a_tuple() -> None:
    rule = Rule("f")
    assert CarryPolicy(rules=[rule]).rules == (rule,)  # type: ignore[arg-type]
    assert hash(CarryPolicy(rules=[rule]))  # type: ignore[arg-type]


def test_rules_of_the_step() -> None:
    with pytest.raises(ConfigError, match="rules: 'all' is not allowed"):
        deduplicate_tools([], rules="all")  # type: ignore[arg-type]
    assert deduplicate_tools([], rules=[Rule("f")]) == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"limit": -1}, "limit: -1 is not allowed; allowed: an integer >= 0"),
        ({"limit": None}, "limit: None is not allowed; allowed: an integer >= 0"),
        (
            {"limit": 1, "keep": "auto"},
            "keep: 'auto' is not allowed; allowed: 'head', 'tail', 'ends'",
        ),
        ({"limit": 1, "unit": "words"}, "unit: 'words' is not allowed; allowed: 'chars', 'tokens'"),
    ],
)
def test_the_options_of_truncate(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        truncate("text", **more)
    assert str(caught.value) == message


def test_truncate_takes_any_limit() -> None:
    assert truncate("text", 1 << 80) == "text"
    assert truncate("one two three", 7) == "one two... [truncated]"
