"""The share of a model's window: tokens, levels, sentences, and windows that are known or not."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each
from support.strategies.conversations import transcripts
from support.strategies.texts import json_values

from toolcarry import ConfigError, InputError, _backend, context_usage
from toolcarry.api.context_usage import usage_of
from toolcarry.types import CONTEXT_LEVELS
from toolcarry.types.models import WINDOWS, window_of

TALK = [{"role": "user", "content": "one two three"}, {"role": "assistant", "content": "four"}]


def test_a_conversation_is_counted_with_its_messages(api: ModuleType) -> None:
    usage = api.context_usage(TALK, limit=100)
    assert (usage.used, usage.limit, usage.remaining, usage.exact) == (3 + 1 + 2 * 4, 100, 88, True)
    assert usage.label == "12 % of the context window is used."


def test_a_body_counts_its_system_prompt_tools_and_thinking(api: ModuleType) -> None:
    plain = {"model": "m", "messages": TALK}
    thought = {"type": "thinking", "thinking": "hm " * 50, "signature": "s"}
    said: list[Any] = [TALK[0], {"role": "assistant", "content": [thought]}]
    used = [
        api.context_usage(json.dumps(body).encode(), limit=1_000).used
        for body in (
            plain,
            {**plain, "system": "Be brief. " * 20},
            {**plain, "tools": [{"name": "f", "description": "does it " * 20}]},
            {**plain, "messages": said},
        )
    ]
    assert min(used[1:]) > used[0] + 30


def test_a_session_file_is_counted(api: ModuleType) -> None:
    lines = [
        {"uuid": str(at), "parentUuid": str(at - 1) if at else None, "message": message}
        for at, message in enumerate(TALK)
    ]
    body = b"\n".join(json.dumps(line).encode() for line in lines)
    assert api.context_usage(body, limit=100).used >= 4


@pytest.mark.rust
@given(
    messages=transcripts,
    frame=st.dictionaries(st.sampled_from(("system", "tools", "n")), json_values),
)
def test_both_backends_count_the_same(messages: list[Any], frame: dict[str, Any]) -> None:
    for given_messages in (messages, json.dumps({**frame, "messages": messages}).encode()):
        with _backend.using("python"):
            expected = context_usage(given_messages, limit=1_000)
        with _backend.using("rust"):
            assert context_usage(given_messages, limit=1_000) == expected


def test_the_model_says_how_tokens_are_counted() -> None:
    exact = context_usage(TALK, model="gpt-4o")
    about = context_usage(TALK, model="claude-sonnet-4-5")
    assert (exact.exact, about.exact) == (True, False)
    assert about.used == 15  # a quarter more, rounded up
    assert about.label.startswith("About ")
    assert not exact.label.startswith("About ")


@for_each(
    ("used", "level", "label"),
    [
        (0, "ample", "0 % of the context window is used."),
        (749, "ample", "74 % of the context window is used."),
        (
            750,
            "filling",
            "75 % of the context window is used. Older tool results are shortened from 90 %.",
        ),
        (
            900,
            "nearly_full",
            "90 % of the context window is used. Older tool results are shortened.",
        ),
        (1_000, "over", "100 % of the context window is used. Older tool results are shortened."),
        (1_001, "over", "100 % of the context window is used. The request does not fit."),
    ],
)
def test_levels_are_said_in_sentences(used: int, level: str, label: str) -> None:
    usage = usage_of(used, 1_000, shortens_at=0.9)
    assert (usage.level, usage.label, usage.remaining) == (level, label, 1_000 - used)


@given(used=st.integers(0, 10**7), limit=st.integers(0, 10**7))
def test_every_usage_has_a_level_and_whole_sentences(used: int, limit: int) -> None:
    usage = usage_of(used, limit)
    assert usage.level in CONTEXT_LEVELS
    assert usage.label.endswith(".")
    assert usage.label.isascii()
    assert ("does not fit" in usage.label) == (usage.remaining < 0)


def test_levels_may_be_others() -> None:
    levels = {**CONTEXT_LEVELS, "filling": 0.5, "nearly_full": 0.6}
    usage = context_usage([{"role": "user", "content": "word " * 551}], limit=1_000, levels=levels)
    assert usage.level == "filling"
    assert usage.label.endswith("from 60 %.")
    bare = context_usage(TALK, limit=15, levels=levels, is_shortened=False)
    assert (bare.level, bare.label) == ("nearly_full", "80 % of the context window is used.")
    for wrong in ({}, {**levels, "filling": 0.7}, {**levels, "ample": 0.1}, {**levels, "full": 2}):
        with pytest.raises(ConfigError, match="levels: "):
            usage_of(1, 2, levels=wrong)


@for_each(
    ("model", "window"),
    [
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("azure/gpt-4.1", 1_047_576),
        ("GPT-4", 8_192),
        ("claude-opus-4-1-20250805", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("claude-3-5-sonnet@20240620", 200_000),
        ("gemini-2.5-pro", 1_048_576),
        ("gpt-4.2", None),
        ("gpt-40", None),
        ("my-gpt-4o", None),
        ("", None),
        ("-" * 5_000, None),
    ],
)
def test_windows_are_those_of_known_names(model: str, window: int | None) -> None:
    assert window_of(model) == window


def test_every_window_is_found_by_its_name() -> None:
    assert all(window_of(name) == window for name, window in WINDOWS.items())


@pytest.mark.parametrize("model", [None, "unheard-of"])
def test_an_unknown_window_is_an_error_without_a_limit(model: str | None) -> None:
    with pytest.raises(ConfigError, match=r"limit: is required .*; allowed: an integer >= 0"):
        context_usage(TALK, model=model)
    assert context_usage(TALK, model=model, limit=50).limit == 50


def test_what_is_no_conversation_is_an_error() -> None:
    with pytest.raises(InputError):
        context_usage(b"[1, 2", limit=10)
    with pytest.raises(ConfigError, match="limit: -1 is not allowed"):
        context_usage(TALK, limit=-1)
