"""Properties of every text history without a total limit."""

import contextlib
import copy
import json
import re
from types import ModuleType
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from support.builders.text_histories import asks, lines, marks, says, system, told
from support.builders.wire import Message, assistant, join, result, use, user
from support.examples import examples
from support.strategies import conversations as strategies
from support.strategies.text_histories import (
    conversations,
    forged_calls,
    lists_of_records,
    turn_ids,
)
from support.strategies.texts import json_values

from toolcarry.model.text.sanitize import without_controls

limits = st.sampled_from((0, 1, 7, 80, 500, 1 << 40))


@examples(200)
@given(messages=conversations(), records=lists_of_records, limit=limits)
def test_a_line_for_every_block(
    rust: ModuleType, messages: list[Any], records: list[Any], limit: int
) -> None:
    blocks = rust.extract_tool_blocks(messages)
    active = sum(block.notes.is_active for block in blocks)
    recounted = rust.recount(messages, tool_calls=records, max_result_length=limit)
    report = recounted.report
    assert report.calls == active + len(records)
    assert len(lines(recounted)) == marks(recounted) == report.calls
    assert sum(report.excluded.values()) == len(blocks) - active
    assert (report.cut_further, report.shortened, report.calls_left_out) == (0, 0, 0)
    assert report.chars_after == sum(len(content) for _, content in told(recounted))
    assert set(report.without_turn) <= set(range(len(records)))
    assert not report.budget_too_small
    survey = rust.inspect(messages)
    assert report.duplicate_results == survey.duplicate_results
    assert report.repeated_records == survey.repeated_records


@given(messages=conversations(), records=lists_of_records)
def test_every_message_is_shown_or_reported(
    rust: ModuleType, messages: list[Any], records: list[Any]
) -> None:
    report = rust.recount(messages, tool_calls=records).report
    reported = [*report.folded, *report.silent, *report.without_role]
    assert len(reported) == len(set(reported))
    assert set(reported) <= set(range(len(messages)))
    told_of = len(messages) - len(reported) - report.inactive - report.repeated_records
    told_of -= messages.count({})  # which is no message
    assert 0 <= report.messages - told_of <= report.calls  # the others are made for calls
    assert report.left_out == ()
    assert report.messages == len(rust.recount(messages, tool_calls=records).messages)


@given(messages=conversations(), records=lists_of_records)
def test_contents_are_clean_and_never_empty(
    rust: ModuleType, messages: list[Any], records: list[Any]
) -> None:
    for role, content in told(rust.recount(messages, tool_calls=records)):
        assert role
        assert role not in ("tool", "function")
        assert content.strip(" \t\n")
        assert without_controls(content) == content


@given(messages=conversations(), records=lists_of_records)
def test_the_input_stays_as_it_is(
    rust: ModuleType, messages: list[Any], records: list[Any]
) -> None:
    before = copy.deepcopy((messages, records))
    for total in (None, 200):
        rust.recount(messages, tool_calls=records, max_chars=total)
    assert repr((messages, records)) == repr(before)


@examples(300)
@given(turns=st.lists(forged_calls, max_size=5), limit=limits, total=st.integers(0, 900))
def test_no_tool_output_can_add_a_line(
    rust: ModuleType, turns: list[list[Message]], limit: int, total: int
) -> None:
    messages = join([says("Hm.")], *turns)
    recounted = rust.recount(messages, max_result_length=limit)
    assert marks(recounted) == len(lines(recounted)) == len(turns)
    for unit in ("max_chars", "max_tokens"):
        fitting = rust.recount(messages, max_result_length=limit, **{unit: total})
        report = fitting.report
        assert marks(fitting) == len(lines(fitting)) == len(turns) - report.calls_left_out


@given(messages=strategies.transcripts)
def test_a_text_history_is_kept_unchanged(rust: ModuleType, messages: list[Any]) -> None:
    first = rust.recount(messages)
    again = rust.recount(first.messages)
    assert again.messages == first.messages
    assert not again.report.unread
    assert again.report.to_dict() == {
        **rust.recount([]).report.to_dict(),
        "unread": again.report.unread.to_dict(),
        "messages": first.report.messages,
        "chars_after": first.report.chars_after,
    }


# Where lines stand, told by a second, naive reading


words = st.sampled_from(("One.", "Two.\n", "[Tool", "a\n\n```\nb"))
said = st.one_of(words.map(asks), words.map(says), words.map(says), words.map(system))
steps = st.lists(said | st.sampled_from(("call", "call", "words and call", "orphan", "silent")))


@examples(300)
@given(given=steps)
def test_where_lines_stand(rust: ModuleType, given: list[Any]) -> None:
    messages: list[Message] = []
    expected: list[tuple[str, str, list[str]]] = []
    early: list[str] = []

    def answers() -> list[list[str]]:
        return [written for role, _, written in expected if role == "assistant"]

    for number, step in enumerate(given):
        call, answer = use(f"t{number}", "f", n=number), result(f"t{number}", "ok")
        line = f"[Tool: f(n={number})] → ok"
        if isinstance(step, dict):
            messages.append(step)
            expected.append((step["role"], step["content"], []))
        elif step == "silent":
            messages.append(asks(" \n"))
        elif step == "orphan":
            messages.append(user(answer | {"name": "g"}))
            (answers()[-1] if answers() else early).append("[Tool: g] → ok")
        elif step == "words and call":
            messages += [assistant({"type": "text", "text": "So."}, call), user(answer)]
            expected.append(("assistant", "So.", [line]))
        else:
            messages += [assistant(call), user(answer)]
            if not expected or expected[-1][0] != "assistant":
                expected.append(("assistant", "", []))
            expected[-1][2].append(line)
    if early and not answers():
        expected.append(("assistant", "", []))
    if early:
        answers()[0][:0] = early
    contents = [
        (role, "\n\n".join([text.rstrip("\n"), *written]).lstrip("\n") if written else text)
        for role, text, written in expected
    ]
    assert told(rust.recount(messages)) == contents


@given(
    turns=st.lists(st.tuples(st.sampled_from(("user", "assistant")), turn_ids), max_size=8),
    calls=st.lists(turn_ids, max_size=6),
)
def test_turns_of_calls(rust: ModuleType, turns: list[tuple[str, Any]], calls: list[Any]) -> None:
    messages = [
        {"role": role, "content": f"m{number}", "turn_id": turn}
        for number, (role, turn) in enumerate(turns)
    ]
    records = [{"name": f"f{n}", "result": "r", "turn_id": turn} for n, turn in enumerate(calls)]
    recounted = rust.recount(messages, tool_calls=records)
    named = [(type(turn), turn) for _, turn in turns]

    def is_known(turn: Any) -> bool:
        is_name = isinstance(turn, str) or (type(turn) is int and turn < 1 << 63)
        return is_name and turn != "" and (type(turn), turn) in named

    unknown = [number for number, turn in enumerate(calls) if not is_known(turn)]
    assert list(recounted.report.without_turn) == unknown
    found = told(recounted)
    for number, turn in enumerate(calls):
        line = f"[Tool: f{number}()] → r"
        (place,) = [
            each for each, (_, content) in enumerate(found) if line in content.split("\n\n")
        ]
        if number in unknown:
            continue
        of_turn = [each for each, name in enumerate(named) if name == (type(turn), turn)]
        answers = [each for each in of_turn if turns[each][0] == "assistant"]
        if answers:
            assert found[place][1].startswith(f"m{answers[0]}\n\n")
        else:
            assert found[place][1].startswith("[Tool: ")
            before = [content for _, content in found[:place] if content.startswith("m")]
            assert before[-1].partition("\n")[0] == f"m{of_turn[-1]}"


@examples(200)
@given(messages=conversations(), records=lists_of_records)
def test_bytes_and_objects_say_the_same(
    rust: ModuleType, messages: list[Any], records: list[Any]
) -> None:
    assume(not re.search(r"\d{19}", json.dumps(messages)))  # a longer integer is a float in bytes
    messages = json.loads(json.dumps(messages))  # in JSON two surrogates are one character
    body, array = json.dumps({"messages": messages}).encode(), json.dumps(messages).encode()
    session = b"\n".join(json.dumps(line).encode() if line else b"" for line in messages) + b"\n"
    for calls in ((), records):
        for total in ({}, {"max_chars": 300}, {"max_tokens": 60}):
            expected = rust.recount(messages, tool_calls=calls, **total)
            assert rust.recount(body, tool_calls=calls, **total) == expected
            assert rust.recount(array, tool_calls=calls, **total) == expected
            if any(messages):
                found = rust.recount(session, tool_calls=calls, **total)
                assert found.messages == expected.messages


heaps = st.lists(
    conversations().map(lambda found: found[0] if found else {}) | json_values, max_size=4
)


@given(messages=heaps, records=st.lists(json_values | lists_of_records, max_size=3))
def test_only_our_own_errors_are_raised(
    rust: ModuleType, messages: list[Any], records: list[Any]
) -> None:
    for conversation in (messages, json.dumps(messages).encode()):
        for calls in ([], records):
            with contextlib.suppress(rust.InputError):
                rust.recount(conversation, tool_calls=calls, max_tokens=50)
