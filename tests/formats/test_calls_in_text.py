"""Calls and results that models and clients write into texts: reported as unread, and never said to be the user's words."""

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import for_each

from toolcarry.model.formats import in_text

CALLS = {
    "Roo": "I will look.\n\n<read_file>\n<path>hens.txt</path>\n</read_file>",
    "Cline": "<execute_command>\n<command>ls</command>\n<requires_approval>false</requires_approval>\n</execute_command>\n",
    "Kilo, an answer": "<attempt_completion>\n<result>\nForty.\n</result>\n</attempt_completion>",
    "OpenHands": "<function=execute_bash>\n<parameter=command>wc -l hens</parameter>\n</function>",
    "Hermes": 'Let me see.\n<tool_call>\n{"name": "count", "arguments": {}}\n</tool_call>',
    "smolagents": "I will look.\nCalling tools:\n[{'id': 'c1', 'type': 'function', 'function': {'name': 'count', 'arguments': {}}}]",
    "Claude before calls of its own": '<function_calls>\n<invoke name="count">\n</invoke>\n</function_calls>',
}
RESULTS = {
    "Roo": "[read_file for 'hens.txt'] Result:",
    "Roo, a command of two lines": "[execute_command for 'ls\npwd'] Result:\nhens.txt",
    "Cline, without arguments": "[attempt_completion] Result:\nThe user likes it.",
    "OpenHands": "EXECUTION RESULT of [execute_bash]:\n40 hens",
    "Hermes": '<tool_response>\n{"name": "count", "content": 40}\n</tool_response>',
    "smolagents": "Observation:\n40 hens",
    "smolagents, a failure": "Call id: c1\nError:\nno hens",
}
SAID = {
    "an answer in an element": "<final_answer>\nForty.\n</final_answer>",
    "a page": "<div>\n<p>Forty.</p>\n</div>",
    "an element within a line": "The tag <read_file><path>a</path></read_file>",
    "a call in a fence": "```xml\n<read_file>\n<path>a</path>\n</read_file>\n```",
    "a list": "[hens] are forty",
    "an element with elements": "Here:\n<user_list>\n<user/>\n</user_list>",
    "a note in brackets": "[draft] The function returns [1, 2] Result: wrong. Please fix.",
    "an element that is not closed": "<tool_response> in my template is broken, fix it",
    "a list of objects": "These are the hens:\n[{'name': 'Ada'}]",
    "a heading": "Calling tools:\nI call [{}]",
    "calling tools in a line": "Not Calling tools:\n[{}]",
    "an observation": "Observation: hens sleep at night.",
    "nothing": "",
}


@for_each("text", CALLS.values(), ids=CALLS)
def test_a_call_in_a_text_of_the_model(rust: ModuleType, text: str) -> None:
    for content in (text, [{"type": "text", "text": text}], [{"text": "Well."}, {"text": text}]):
        survey = rust.inspect(
            [{"role": "user", "content": "Hens?"}, {"role": "assistant", "content": content}]
        )
        assert [place.position for place in survey.unread.first] == [1]


@for_each("text", RESULTS.values(), ids=RESULTS)
def test_a_result_in_a_text_of_the_user(api: ModuleType, rust: ModuleType, text: str) -> None:
    for content in (text, [{"type": "text", "text": text}, {"type": "text", "text": "1 | forty"}]):
        messages = [{"role": "user", "content": content}, {"role": "assistant", "content": "Forty."}]  # fmt: skip
        assert [place.position for place in rust.inspect(messages).unread.first] == [0]
        said = api.dialogue(messages)
        assert said.startswith(f"[CLIENT]\n{text}")
        assert "[USER]" not in said


@for_each("text", SAID.values(), ids=SAID)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_only_looks_like_one(rust: ModuleType, text: str, role: str) -> None:
    assert not rust.inspect([{"role": role, "content": text}]).unread


def test_each_is_of_its_own_speaker(rust: ModuleType) -> None:
    for call, result in zip(CALLS.values(), RESULTS.values(), strict=False):
        given = [{"role": "user", "content": call}, {"role": "assistant", "content": result}]
        assert not rust.inspect(given).unread


PIECES = st.sampled_from(
    [
        *"<>/[]=\n _",
        "</",
        "function",
        "read_file",
        "a_b",
        " for '",
        "] Result:",
        "<tool_result>",
        "</tool_result>",
        "[read",
        "Calling tools:",
        "[{",
        "}]",
        "Observation:",
        "é",
        "😀",
    ]
)


@given(text=st.lists(PIECES, max_size=12).map("".join), role=st.sampled_from(["user", "assistant"]))
def test_both_backends_find_the_same(rust: ModuleType, text: str, role: str) -> None:
    message = {"role": role, "content": text}
    assert bool(rust.inspect([message]).unread) == in_text.is_in_text(message, role)


def test_a_long_text_is_searched_once(rust: ModuleType) -> None:
    text = " <a_b>" * 100_000 + "\n</a_b>"
    assert not rust.inspect([{"role": "assistant", "content": text}] * 20).unread
