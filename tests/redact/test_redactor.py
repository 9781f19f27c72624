"""Redacted and untouched parts of texts, and the behaviour when redaction fails."""

import re
import sys
import threading
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.secret_texts import CASES, INNOCENTS, private_key, some
from support.rows import for_each

from toolcarry.errors import ConfigError, RedactionError
from toolcarry.redact import DEFAULT_REDACTION_RULES, RedactionRule, Redactor
from toolcarry.redact.matcher import Matcher

REDACTOR = Redactor()
PYTHON = Matcher(DEFAULT_REDACTION_RULES, lambda _name, pattern: re.compile(pattern.encode()))
IDS = [f"{rule}-{index}" for index, (rule, _, _) in enumerate(CASES)]


def test_every_rule_has_a_case() -> None:
    assert {rule for rule, _, _ in CASES} == {rule.name for rule in DEFAULT_REDACTION_RULES}


@for_each(("rule", "text", "secret"), CASES, ids=IDS)
def test_a_secret_is_replaced_and_nothing_else(rule: str, text: str, secret: str) -> None:
    redacted = REDACTOR.redact(text)
    assert redacted.text == text.replace(secret, f"[redacted: {rule}]")
    assert redacted.counts == {rule: 1}


@for_each("text", INNOCENTS)
def test_an_innocent_text_stays_the_same_object(text: str) -> None:
    assert REDACTOR(text) is text


@for_each("text", [*INNOCENTS, *(text for _, text, _ in CASES)])
def test_both_engines_agree(text: str) -> None:
    assert PYTHON.redact(text)[0] == REDACTOR(text)


PIECES = st.one_of(
    st.sampled_from([text for _, text, _ in CASES]),
    st.sampled_from([secret for _, _, secret in CASES]),
    st.sampled_from(INNOCENTS),
    st.sampled_from(["PASSWORD=", "key: ", '"', "\n", " ", "sk-", "-----", "[redacted: ", "]", "://", "@", ":"]),
    st.text(st.characters(), max_size=10),
)  # fmt: skip


@given(st.lists(PIECES, max_size=8).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = REDACTOR(text)
    again = REDACTOR.redact(once)
    assert again.text is once
    assert again.counts == {}


@given(st.text(st.characters()), st.sampled_from(CASES))
def test_text_around_a_secret_stays(before: str, case: tuple[str, str, str]) -> None:
    _, text, secret = case
    assert REDACTOR(f"{before}\n{text}").startswith(REDACTOR(before))
    assert secret not in REDACTOR(f"{before}\n{text}")


def test_half_of_a_surrogate_pair_stays_where_it_is() -> None:
    assert REDACTOR("\ud83dé PASSWORD=\udc00hunter22 \udfff") == (
        "\ud83dé PASSWORD=[redacted: assignment] \udfff"
    )


def test_overlapping_matches_are_one_named_after_the_first_then_the_longest() -> None:
    rules = [
        RedactionRule("late", "cde"),
        RedactionRule("short", "abc"),
        RedactionRule("long", "abcd"),
    ]
    redactor = Redactor(rules=rules, use_default_rules=False)
    assert redactor("xabcdef") == "x[redacted: long]f"
    assert redactor.counts == Counter(long=1)


def test_own_rules_are_applied_together_with_the_built_in_ones() -> None:
    redactor = Redactor(rules=[RedactionRule("badge", r"badge (?P<secret>\d{6})", ("BADGE",))])
    assert redactor("badge 123456 PASSWORD=hunter22") == (
        "badge [redacted: badge] PASSWORD=[redacted: assignment]"
    )
    assert redactor.counts == {"badge": 1, "assignment": 1}


def test_a_rule_is_only_tried_on_texts_with_its_keywords() -> None:
    redactor = Redactor(rules=[RedactionRule("number", r"\d{6}", ("badge", "pin"))])
    assert redactor("123456") == "123456"
    assert redactor("PIN 123456") == "PIN [redacted: number]"
    redactor = Redactor(rules=[RedactionRule("number", r"\d{6}", ("ключ",))])
    assert redactor("КЛЮЧ 123456") == "КЛЮЧ [redacted: number]"


def test_a_secret_that_another_hid_is_found_too() -> None:
    rules = [RedactionRule("x", "x+"), RedactionRule("word", r"\bsecret\b")]
    assert Redactor(rules=rules)("xxsecret") == "[redacted: x][redacted: word]"


@pytest.mark.parametrize("pattern", ["(?=a)", "(a", r"(a)\1", "\ud800"])
def test_a_pattern_that_re2_refuses(pattern: str) -> None:
    with pytest.raises(ConfigError, match="rule 'mine'"):
        Redactor(rules=[RedactionRule("mine", pattern)])


@for_each("names", [["a", "a"], ["jwt"], [""], ["a]b"], ["a\nb"]])
def test_a_name_that_can_be_none(names: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"redaction\.rules: name"):
        Redactor(rules=[RedactionRule(name, "a") for name in names])


def test_without_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(ConfigError, match=r"toolcarry\[redact\]"):
        Redactor()


def test_the_error_of_a_failing_engine_names_the_rule_and_not_the_text() -> None:
    class Broken:
        groupindex: dict[str, int] = {}  # noqa: RUF012 - as a pattern has it

        def finditer(self, raw: bytes) -> Any:
            raise ValueError(raw)

    matcher = Matcher([RedactionRule("mine", "a")], lambda _name, _pattern: Broken())
    with pytest.raises(
        RedactionError, match=r"\Aredaction failed: rule mine: ValueError\Z"
    ) as told:
        matcher.redact("hunter22")
    assert told.value.__suppress_context__
    assert told.value.__cause__ is None


def test_counts_from_many_threads() -> None:
    redactor = Redactor()
    threads = [
        threading.Thread(target=lambda: [redactor("PASSWORD=hunter22") for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert redactor.counts == {"assignment": 800}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "-----BEGIN PRIVATE KEY-----" * 100_000,
        ("-----BEGIN PRIVATE KEY-----" + "A" * 30) * 50_000,
        "sk-" * 1_000_000,
        "eyJ" * 1_000_000,
        ("eyJ" + "a" * 20 + ".") * 100_000,
        "password" * 300_000,
        "key=" * 600_000,
        "aws" * 800_000,
        "a://b:" * 400_000,
        "authorization: " * 150_000,
        "xoxb-" * 400_000,
        "[redacted: " * 200_000,
        "[redacted: jwt]" * 150_000,
        "PASSWORD=hunter22 " * 100_000,
    ],
    ids=lambda text: text[:24],
)
def test_hostile_texts_end(text: str) -> None:
    assert len(REDACTOR(text)) > 0


def test_a_key_without_an_end_is_redacted_to_the_end() -> None:
    text = private_key()[:-60] + "\n" + some(30) + ". The end?"
    assert REDACTOR("Look: " + text) == "Look: [redacted: private-key]"
