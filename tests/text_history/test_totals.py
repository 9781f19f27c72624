"""Properties of every total, in characters and in tokens, on generated conversations."""

from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.builders.text_histories import lines, lines_of, marks, says, size, told
from support.builders.wire import bash, join
from support.examples import examples
from support.strategies.text_histories import conversations, forged_calls, lists_of_records

from toolcarry.types.values import ENCODINGS, EncodingName

totals = st.integers(0, 60) | st.integers(0, 1_500)


def check_fates(recounted: Any, whole: Any) -> None:
    """Each call has one fate, what is left out is the oldest, and no message goes while a line might be shortened."""
    report = recounted.report
    found, of_all = lines(recounted), lines(whole)
    fates = report.cut + report.cut_further + report.shortened + report.calls_left_out
    assert fates <= report.calls == len(of_all)
    assert len(found) == marks(recounted) == report.calls - report.calls_left_out
    assert report.messages == len(recounted.messages) <= whole.report.messages
    assert len(report.left_out) <= whole.report.messages - report.messages
    assert list(report.left_out) == sorted(set(report.left_out))
    assert report.budget_too_small == (bool(whole.messages) and not recounted.messages)
    words = [(role, text[: text.find("[Tool: ")] if lines_of(text) else text) for role, text in told(whole)]  # fmt: skip
    rest = iter(words)
    assert all((role, text.partition("[Tool: ")[0] if lines_of(text) else text) in rest for role, text in told(recounted))  # fmt: skip
    if report.messages < whole.report.messages:
        assert report.cut + report.cut_further == 0
        assert report.shortened == len(found)
    same = ("folded", "silent", "without_role", "without_turn", "orphan_calls", "orphan_results", "errors", "chars_before")  # fmt: skip
    assert [getattr(report, name) for name in same] == [
        getattr(whole.report, name) for name in same
    ]


@examples(200)
@given(messages=conversations(), records=lists_of_records, total=totals, limit=st.integers(0, 600))
def test_no_total_in_characters_is_passed(
    rust: ModuleType, messages: list[Any], records: list[Any], total: int, limit: int
) -> None:
    more: Any = {"tool_calls": records, "max_result_length": limit}
    recounted = rust.recount(messages, max_chars=total, **more)
    assert size(recounted) == recounted.report.chars_after <= total
    assert recounted.report.tokens_after is None
    check_fates(recounted, rust.recount(messages, **more))


@examples(200)
@given(
    messages=conversations(),
    records=lists_of_records,
    total=totals,
    limit=st.integers(0, 600),
    encoding=st.sampled_from(ENCODINGS),
)
def test_token_totals_hold_and_equal_the_report(
    rust: ModuleType,
    messages: list[Any],
    records: list[Any],
    total: int,
    limit: int,
    encoding: EncodingName,
) -> None:
    more: Any = {"tool_calls": records, "max_result_length": limit}
    recounted = rust.recount(messages, max_tokens=total, encoding=encoding, **more)
    report = recounted.report
    assert size(recounted, encoding) == report.tokens_after <= total
    assert rust.count_tokens(recounted.messages, encoding=encoding) == report.tokens_after
    check_fates(recounted, rust.recount(messages, **more))


seams = st.sampled_from(("", "x", " ", "\n", "\t", "/", "//", "'s", "!", "\u3000", "\u2028", "\u0301", "漢", " \n \n", "1"))  # fmt: skip


@examples(200)
@given(
    ends=st.lists(st.tuples(seams, seams), min_size=1, max_size=5),
    turns=st.lists(forged_calls, max_size=3),
    encoding=st.sampled_from(ENCODINGS),
)
def test_text_at_a_seam_is_counted(
    rust: ModuleType, ends: list[tuple[str, str]], turns: list[Any], encoding: EncodingName
) -> None:
    words = "one two three " * 30
    messages = join(
        [says(f"{ends[0][0]}text{ends[0][1]}")],
        *[bash("ls", f"{a}{words}{b}", f"t{n}") for n, (a, b) in enumerate(ends)],
        *turns,
    )
    for total in (10_000, 500, 200, 120, 90, 60):
        recounted = rust.recount(messages, max_tokens=total, encoding=encoding)
        assert recounted.report.tokens_after == size(recounted, encoding) <= total
