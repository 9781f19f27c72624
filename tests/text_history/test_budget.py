"""Totals: what is made smaller first, that nothing is without need, and that none is ever passed."""

from itertools import pairwise
from types import ModuleType

import pytest
from support.builders.text_histories import asks, kept, lines, says, size, system, told
from support.builders.wire import Message, assistant, bash, join, result, use, user

from toolcarry import NO_LIMIT
from toolcarry.types.values import ENCODINGS, EncodingName

TRUNCATED = "... [truncated]"
LEAST = 80


def exchange(number: int, *sizes: int) -> list[Message]:
    """Return a user message, an assistant message with calls whose results have these lengths, and an answer."""
    text = f"Answer {number}."
    calls = [use(f"t{number}.{n}", "f", n=f"{number}.{n}") for n in range(len(sizes))]
    results = [result(f"t{number}.{n}", "x" * each) for n, each in enumerate(sizes)]
    return [
        asks(f"Question {number}?"),
        assistant({"type": "text", "text": "So."}, *calls),
        user(*results),
        says(text),
    ]


LONG = join(
    [system("Be kind.")],
    exchange(1, 300, 20, 90, 400),
    exchange(2, 96, 95, 200),
    exchange(3, 500, 81),
)


def state(line: str) -> str:
    if " \u2192 " not in line:
        return "shortened"
    return "cut" if line.endswith(TRUNCATED) else "whole"


def shown(line: str) -> int:
    """Return how many characters of a result are in a line."""
    return len(line.split(" \u2192 ")[1].removesuffix(TRUNCATED)) if " \u2192 " in line else 0


@pytest.mark.parametrize("unit", ["max_chars", "max_tokens"])
def test_with_room_for_all_nothing_changes(rust: ModuleType, unit: str) -> None:
    whole = rust.recount(LONG)
    total = size(whole) if unit == "max_chars" else size(whole, "o200k_base")
    for room in (total, total + 1, NO_LIMIT):
        assert rust.recount(LONG, **{unit: room}).messages == whole.messages
    assert kept(rust.recount(LONG, **{unit: total}).report) == kept(whole.report)
    assert rust.recount(LONG, **{unit: total - 1}).messages != whole.messages


@pytest.mark.parametrize("key", ["max_chars", "max_tokens", "max_result_length"])
def test_a_limit_may_be_any_number(rust: ModuleType, key: str) -> None:
    expected = rust.recount(LONG)
    for limit in (1 << 62, 1 << 63, 1 << 64, 1 << 80):
        assert rust.recount(LONG, **{key: limit}).messages == expected.messages


def test_each_stage_cuts_as_little_as_needed(rust: ModuleType) -> None:
    whole = rust.recount(LONG)
    full = size(whole)
    of_all = lines(whole)
    for total in range(full - 1, -1, -1):
        recounted = rust.recount(LONG, max_chars=total)
        report, found = recounted.report, lines(recounted)
        used = size(recounted)
        assert used == report.chars_after <= total
        states = [state(line) for line in found]
        assert set(states[: report.shortened]) <= {"shortened"}
        assert report.calls - report.calls_left_out == len(found)
        assert states.count("shortened") == report.shortened
        assert states.count("cut") == report.cut_further
        if report.left_out:
            assert set(states) <= {"shortened"}
            continue
        assert len(recounted.messages) == len(whole.messages)
        assert [line.partition("]")[0] for line in found] == [
            line.partition("]")[0] for line in of_all
        ]
        if report.shortened:
            assert all(
                shown(line) == LEAST if state(line) == "cut" else len(line) <= len(before)
                for line, before in zip(found, of_all, strict=True)
            )
            assert all(shown(line) <= LEAST + len(TRUNCATED) for line in found)
            last = report.shortened - 1  # had it stayed, it would have been too much
            text = of_all[last]
            stayed = min(len(text), len(text) - shown(text) + LEAST + len(TRUNCATED))
            assert used - len(found[last]) + stayed > total
            continue
        cuts = [number for number, each in enumerate(states) if each == "cut"]
        assert cuts
        *earlier, last = cuts
        assert [shown(found[number]) for number in earlier] == [LEAST] * len(earlier)
        assert shown(found[last]) >= LEAST
        assert shown(found[last]) == LEAST or used == total
        assert found[last + 1 :] == of_all[last + 1 :]
        assert all(
            shown(of_all[number]) <= LEAST + len(TRUNCATED)
            for number in range(last)
            if number not in cuts
        )


def test_order_of_omissions(rust: ModuleType) -> None:
    messages = [
        system("Be kind."),
        says("Hello."),
        asks("One?"),
        *bash("ls", "1"),
        says("One."),
        asks("Two?"),
        says("Two."),
        says("And on."),
        system("Be brief.", "developer"),
    ]
    left_out = {
        tuple(rust.recount(messages, max_chars=total).report.left_out): [
            content for _, content in told(rust.recount(messages, max_chars=total))
        ]
        for total in range(90, -1, -1)
    }
    assert list(left_out.items()) == [
        ((), ["Be kind.", "Hello.", "One?", '[Tool: Bash(command="ls")]', "One.", "Two?", "Two.", "And on.", "Be brief."]),
        ((1,), ["Be kind.", "One?", '[Tool: Bash(command="ls")]', "One.", "Two?", "Two.", "And on.", "Be brief."]),
        ((1, 2, 3, 5), ["Be kind.", "Two?", "Two.", "And on.", "Be brief."]),
        ((1, 2, 3, 5, 7), ["Be kind.", "Two?", "And on.", "Be brief."]),
        ((1, 2, 3, 5, 7, 8), ["Be kind.", "Two?", "Be brief."]),
        ((1, 2, 3, 5, 6, 7, 8), ["Be kind.", "Be brief."]),
        ((0, 1, 2, 3, 5, 6, 7, 8), ["Be brief."]),
        ((0, 1, 2, 3, 5, 6, 7, 8, 9), []),
    ]  # fmt: skip
    sizes = [sum(map(len, texts)) for texts in left_out.values()]
    assert all(before > after for before, after in pairwise(sizes))
    for texts, room in zip(left_out.values(), sizes, strict=True):
        assert [text for _, text in told(rust.recount(messages, max_chars=room))] == texts


def test_calls_that_go_with_their_message_are_counted(rust: ModuleType) -> None:
    messages = [asks("?"), *bash("ls", "1", "a"), asks("Two?")]
    calls = [{"name": "f", "result": "r"}]
    report = rust.recount(messages, tool_calls=calls, max_chars=4).report
    assert (report.calls, report.calls_left_out) == (2, 2)
    assert (report.shortened, report.left_out, report.messages) == (0, (0, 1), 1)
    assert report.budget_too_small is False


def test_a_message_made_for_calls_has_no_position(rust: ModuleType) -> None:
    calls = [{"name": "f", "result": "r"}]
    report = rust.recount([asks("Hi.")], tool_calls=calls, max_chars=3).report
    assert (report.left_out, report.calls_left_out, report.messages) == ((), 1, 1)


@pytest.mark.parametrize("unit", ["max_chars", "max_tokens"])
def test_a_total_too_small_for_anything(rust: ModuleType, unit: str) -> None:
    recounted = rust.recount([asks("What is this?")], **{unit: 0})
    assert recounted.messages == []
    assert recounted.report.budget_too_small
    for nothing in ([], [asks("")], [says("<think>x")]):
        assert not rust.recount(nothing, **{unit: 0}).report.budget_too_small
    assert rust.recount([], tool_calls=[{"name": "f"}], **{unit: 0}).report.budget_too_small


def test_a_result_is_cut_to_its_own_limit_first(rust: ModuleType) -> None:
    messages = join(bash("a", "x" * 300, "1"), bash("b", "x" * 300, "2"))
    full = size(rust.recount(messages, max_result_length=200))
    recounted = rust.recount(messages, max_result_length=200, max_chars=full - 10)
    assert [shown(line) for line in lines(recounted)] == [190, 200]
    assert (recounted.report.cut, recounted.report.cut_further) == (1, 1)
    recounted = rust.recount(messages, max_result_length=50, max_chars=150)
    assert (recounted.report.cut, recounted.report.shortened) == (1, 1)


def test_uncuttable_results_stay_until_lines_are_dropped(rust: ModuleType) -> None:
    messages = join(bash("a", "x" * 95, "1"), bash("b", "x" * 96, "2"))
    full = size(rust.recount(messages))
    first = rust.recount(messages, max_chars=full - 1)
    assert [shown(line) for line in lines(first)] == [95, 80]
    second = rust.recount(messages, max_chars=full - 2)
    assert [state(line) for line in lines(second)] == ["shortened", "cut"]


@pytest.mark.parametrize(
    "text", ["e\u0301" * 200, "\u1100\u1161\u11a8" * 150, "x" + "\u0301" * 400]
)
def test_no_cluster_is_split_for_a_total(rust: ModuleType, text: str) -> None:
    messages = bash("a", text)
    for unit, totals in (("max_chars", range(130, 330, 3)), ("max_tokens", range(20, 200, 3))):
        for total in totals:
            (line,) = lines(rust.recount(messages, **{unit: total})) or ["x"]
            part = line.partition(" \u2192 ")[2].removesuffix(TRUNCATED)
            assert text.startswith(part)
            behind = text[len(part) : len(part) + 1]
            assert state(line) != "cut" or behind in ("e", "\u1100", "x")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_stages_in_tokens(rust: ModuleType, encoding: EncodingName) -> None:
    words = "The quick brown fox jumps over the lazy dog. "
    messages = join(
        [system("Be kind.")],
        *[
            join([asks(f"{n}?")], bash("ls", words * n, f"t{n}"), [says("Ok.")])
            for n in range(1, 9)
        ],
    )
    full = size(rust.recount(messages), encoding)
    for total in range(full, -1, -7):
        recounted = rust.recount(messages, max_tokens=total, encoding=encoding)
        report = recounted.report
        assert report.tokens_after == size(recounted, encoding) <= total
        if report.left_out:
            assert report.shortened == report.calls - report.calls_left_out
        elif report.shortened:
            states = [state(line) for line in lines(recounted)]
            assert states[: report.shortened] == ["shortened"] * report.shortened
            assert all(shown(line) <= LEAST + len(TRUNCATED) for line in lines(recounted))
        elif total < full - 40:
            assert report.tokens_after > total - 40


@pytest.mark.slow
def test_ten_thousand_turns(rust: ModuleType) -> None:
    messages = join(*[exchange(number, 100) for number in range(10_000)])
    recounted = rust.recount(messages, max_chars=50_000)
    assert 49_900 < size(recounted) <= 50_000
    assert recounted.messages[-1]["content"] == "Answer 9999."
    recounted = rust.recount(messages, max_tokens=9_000)
    assert 8_960 < size(recounted, "o200k_base") <= 9_000
