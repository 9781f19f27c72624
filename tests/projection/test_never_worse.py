"""A projection never has more tokens than the request, and replaces no result for fewer than 20 tokens."""

import math
import re
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import wire
from support.strategies.policies import projections

from toolcarry import ConfigError, ProjectPolicy, convert, count_message_tokens, count_tokens
from toolcarry.api.projection import STYLES

words = st.sampled_from(
    (
        "word",
        "\n",
        "x" * 30,
        " " * 50,
        "0123",
        "{}",
        "\U0001f600",
        "caf\u00e9",
        "\t",
        "a-b_c",
        "=" * 60,
    )
)
texts = st.lists(words, max_size=60).map(" ".join)
turns = st.tuples(st.sampled_from(("read", "bash")), st.sampled_from(("a", "b")), texts)


def conversation(turns: list[tuple[str, str, str]]) -> list[Any]:
    found = []
    for number, (tool, key, text) in enumerate(turns):
        make = wire.read if tool == "read" else wire.bash
        found.append(make(key, text, f"toolu_{number:020}"))
    return wire.join([wire.user({"type": "text", "text": "Go on"})], *found)


@pytest.mark.parametrize("style", STYLES)
@given(
    turns=st.lists(turns, max_size=6), policy=projections.filter(lambda policy: not policy.repair)
)
def test_a_projection_has_no_more_tokens(
    api: ModuleType, style: Any, turns: list[tuple[str, str, str]], policy: ProjectPolicy
) -> None:
    messages = convert(conversation(turns), to=style).messages
    projected = api.project(messages, policy=policy)
    before = sum(count_message_tokens(messages, encoding=policy.encoding))
    after = sum(count_message_tokens(projected.messages, encoding=policy.encoding))
    assert after <= before, projected.report
    replaced = [each for each in projected.report.replacements if each.reason != "dropped"]
    if not projected.report.mends and len(replaced) == len(projected.report.replacements):
        assert before - after >= 16 * len(replaced)  # a seam may cost a few of the 20


@pytest.mark.parametrize(("count", "is_replaced"), [(40, False), (80, True)])
def test_a_result_that_is_as_short_as_its_marker_stays(
    api: ModuleType, count: int, is_replaced: bool
) -> None:
    text = "word " * count
    messages = wire.join(wire.read("a.py", text, "t1"), wire.read("a.py", "x", "t2"))
    found = api.project(messages).report.replacements
    assert [each.reference for each in found] == (["t1"] if is_replaced else [])


@pytest.mark.parametrize(
    ("model", "window", "limit"),
    [
        (None, 1_000, 800),
        ("gpt-4o", 1_000, 800),
        ("claude-sonnet-4-5", 1_000, 640),
        ("gpt-4", None, 6_553),
    ],
)
def test_a_share_of_the_window_is_a_limit(
    api: ModuleType, model: str | None, window: int | None, limit: int
) -> None:
    messages = conversation([("bash", "a", "word " * 2_000)])
    encoding = "cl100k_base" if model == "gpt-4" else "o200k_base"
    by_tokens = ProjectPolicy(max_request_tokens=limit, encoding=encoding)
    by_share = ProjectPolicy(max_request_tokens="80%", model=model, window_tokens=window)
    plain, scaled = (api.project(messages, policy=policy) for policy in (by_tokens, by_share))
    assert scaled.messages == plain.messages
    factor = 1.25 if model == "claude-sonnet-4-5" else 1
    assert scaled.report.tokens_after == math.ceil(plain.report.tokens_after * factor)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"max_request_tokens": "80%"}, "needs window_tokens"),
        ({"max_request_tokens": "80%", "model": "m"}, "needs window_tokens"),
        ({"max_request_tokens": "0%", "window_tokens": 9}, "a share such as '80%'"),
        ({"max_request_tokens": "20k", "window_tokens": 9}, "a share such as '80%'"),
        ({"window_tokens": -1}, "window_tokens: -1 is not allowed"),
        ({"model": 7}, "model: 7 is not allowed"),
    ],
)
def test_a_share_of_nothing_known_is_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        ProjectPolicy(**settings)


def test_white_space_is_not_replaced_by_a_marker_of_more_tokens(api: ModuleType) -> None:
    text = " " * 500
    assert count_tokens(text) < 20
    messages = wire.join(wire.bash("cat a", f"{text}.", "t1"), wire.bash("cat a", "y", "t2"))
    assert (
        api.project(messages, policy=ProjectPolicy(max_result_chars=100)).report.replacements == ()
    )


def test_a_long_text_of_few_tokens_is_judged_by_all_of_it(api: ModuleType) -> None:
    start = "\n".join([" " * 100] * 30)
    messages = wire.join(
        wire.read("a.py", f"{start}\nword\n{'word ' * 100}", "t1"), wire.read("a.py", "x", "t2")
    )
    assert [each.reference for each in api.project(messages).report.replacements] == ["t1"]
