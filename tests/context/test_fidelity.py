"""The measure of fidelity: what the next calls need, and what of it a text holds."""

from __future__ import annotations

from typing import Any

import pytest

from toolcarry.api.fidelity import POLICIES, cuts_of, held, old_lines, score_of
from toolcarry.errors import InputError
from toolcarry.importers.read import arguments_of
from toolcarry.types.values import ToolBlock

FILLER = "\n".join(f"line{number:04} of_the_listing" for number in range(600))


def pair(number: int, given: Any, result: str) -> list[dict[str, Any]]:
    """A call and its result."""
    use = {"type": "tool_use", "id": f"t{number}", "name": "Tool", "input": given}
    part = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [part]}]


def session(said: str, first: dict[str, Any], result: str, later: dict[str, Any]) -> list[Any]:
    """A session whose result is read first, and whose later calls use something."""
    messages: list[Any] = [{"role": "user", "content": said}, *pair(0, first, f"{FILLER}\n{result}")]  # fmt: skip
    for number in range(1, 6):
        messages += pair(number, {"n": number}, "done")
    return messages + pair(6, later, "ok") + pair(7, {"n": 7}, "ok")


def test_a_word_that_only_a_result_had_is_needed() -> None:
    (cut,) = cuts_of(session("Go.", {}, "secret_name", {"q": "secret_name other_word"}))
    assert cut.words == {"secret_name"}
    assert held(cut, "a secret_name b") == (1.0, None)
    assert held(cut, "a secret_names b") == (0.0, None)


@pytest.mark.parametrize(
    ("said", "first"), [("Find secret_name please.", {}), ("Go.", {"q": ["secret_name"]})]
)
def test_a_word_that_was_said_or_asked_is_not_needed(said: str, first: dict[str, Any]) -> None:
    later = {"q": "secret_name third_word"}
    (cut,) = cuts_of(session(said, first, "secret_name third_word", later))
    assert cut.words == {"third_word"}


def test_lines_that_edits_replace_are_needed_without_their_numbers() -> None:
    later = {"edits": [{"old_string": "    return total_sum\nabc\n    other = 1"}]}
    (cut,) = cuts_of(session("Go.", {}, "    12\u2192    return total_sum", later))
    assert cut.lines == {"return total_sum"}
    assert held(cut, "    return total_sum\n")[1] == 1.0
    assert held(cut, "total_sum")[1] == 0.0


def test_without_enough_results_there_is_no_cut() -> None:
    messages = session("Go.", {}, "secret_name", {"q": "secret_name"})
    messages[2]["content"][0]["content"] = "secret_name"
    assert list(cuts_of(messages)) == []


def test_the_number_of_cuts_is_bounded() -> None:
    messages = session("Go.", {}, "secret_name", {"q": "secret_name"})
    for number in range(8, 100):
        messages += pair(number, {"q": f"line{number:04}"}, "ok")
    assert len(list(cuts_of(messages, most=4))) <= 4 < len(list(cuts_of(messages)))


def test_scores_are_means_of_the_policies() -> None:
    cuts = list(cuts_of(session("Go.", {}, "secret_name", {"q": "secret_name line0001"})))
    assert score_of(POLICIES["nothing"], cuts, 100).words == 0
    assert score_of(POLICIES["sections"], cuts, 20_000).words == 1
    half = score_of(POLICIES["last N tokens"], cuts, 2_000)
    assert (half.words, half.lines, half.tokens) == (0.5, None, 2_000)


@pytest.mark.parametrize(
    "given", [{"edits": 3}, {"edits": [None, {"old_string": 5}]}, {"old_string": ["x"]}]
)
def test_arguments_of_other_types_have_no_lines(given: dict[str, Any]) -> None:
    assert list(old_lines(given)) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"function": 3}, {}),
        ({"input": None}, {}),
        ({"type": "function_call", "arguments": "[" * 5_000}, {"arguments": "[" * 5_000}),
        ({"function": {"arguments": '{"a": 1}'}}, {"a": 1}),
    ],
)
def test_arguments_that_are_no_object(call: dict[str, Any], expected: dict[str, Any]) -> None:
    block = ToolBlock(call, None, "Tool", None, "t", False, 0, "")
    assert arguments_of(block) == expected


def test_a_message_that_is_no_object_is_an_error() -> None:
    with pytest.raises(InputError):
        list(cuts_of([*session("Go.", {}, "x", {}), 3]))
