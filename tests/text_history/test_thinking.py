"""A model's thinking never appears: parts and items of thinking, and ``<think>`` in the assistant's text."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.text_histories import asks, kept, lines, says, system, told
from support.builders.wire import assistant, bash, result, use, user
from support.rows import for_each

SECRET = "my secret"
TEXT = {"type": "text", "text": "Yes."}


def thought(rust: ModuleType, text: str) -> str:
    """Return the text history of an assistant text; empty if nothing remains."""
    recounted = rust.recount([says(text)])
    assert rust.recount(json.dumps([says(text)]).encode()) == recounted
    return "".join(content for _, content in told(recounted))


THOUGHTS: dict[str, list[Any]] = {
    "anthropic": [assistant({"type": "thinking", "thinking": SECRET, "signature": "c2ln"}, TEXT)],
    "redacted": [assistant({"type": "redacted_thinking", "data": SECRET}, TEXT)],
    "reasoning item": [
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": SECRET}]},
        says("Yes."),
    ],
    "reasoning item with content": [
        {"type": "reasoning", "content": [{"type": "reasoning_text", "text": SECRET}]},
        says("Yes."),
    ],
    "reasoning item with text": [
        {"type": "reasoning", "content": [{"type": "text", "text": SECRET}]},
        says("Yes."),
    ],
    "reasoning item with a role": [
        {"type": "reasoning", "role": "assistant", "content": SECRET},
        says("Yes."),
    ],
    "codex": [
        {
            "type": "response_item",
            "payload": {"type": "reasoning", "summary": [{"type": "summary_text", "text": SECRET}]},
        },
        says("Yes."),
    ],
    "gemini": [{"role": "model", "parts": [{"text": SECRET, "thought": True}, {"text": "Yes."}]}],
    "bedrock": [
        assistant({"reasoningContent": {"reasoningText": {"text": SECRET}}}, {"text": "Yes."})
    ],
    "opentelemetry": [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": SECRET},
                {"type": "text", "content": "Yes."},
            ],
        }
    ],
    "tag": [says(f"<think>{SECRET}</think>Yes.")],
    "tag in a part": [assistant({"type": "text", "text": f"<think>{SECRET}</think>"}, TEXT)],
}


@pytest.mark.parametrize("name", THOUGHTS)
def test_thoughts_are_left_out_and_counted(rust: ModuleType, name: str) -> None:
    recounted = rust.recount(THOUGHTS[name])
    assert told(recounted) == [("assistant", "Yes.")]
    assert recounted.report.thinking == 1
    assert recounted.report.without_role == ()
    assert SECRET not in json.dumps(rust.recount(json.dumps(THOUGHTS[name]).encode()).messages)


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning", "thinking"])
def test_thoughts_next_to_the_content(rust: ModuleType, member: str) -> None:
    assert told(rust.recount([says("Yes.", **{member: SECRET})])) == [("assistant", "Yes.")]


def test_a_message_of_thoughts_alone_is_silent(rust: ModuleType) -> None:
    messages = [asks("Hm?"), says(f"<think>{SECRET}"), assistant({"type": "thinking"})]
    recounted = rust.recount(messages)
    assert told(recounted) == [("user", "Hm?")]
    assert kept(recounted.report) == {"thinking": 2, "silent": [1, 2]}


def test_thoughts_before_a_call(rust: ModuleType) -> None:
    messages = [assistant({"type": "thinking", "thinking": SECRET}, use("t1")), user(result("t1"))]
    recounted = rust.recount(messages)
    assert told(recounted) == [("assistant", "[Tool: Bash()] → ok")]
    assert kept(recounted.report) == {"thinking": 1, "folded": [1]}


TAGS = {
    "before all": ("<think>a</think>b", "b"),
    "newlines behind": ("<think>\na\n</think>\n\nb", "b"),
    "newlines before": ("\n\n<think>a</think>b", "b"),
    "between paragraphs": ("a\n\n<think>b</think>\n\nc", "a\n\nc"),
    "within a line": ("a <think>b</think> c", "a  c"),
    "at the end": ("a\n\n<think>b</think>\n", "a"),
    "unclosed": ("a\n<think>b\n\nc", "a"),
    "unclosed and alone": ("<think>", ""),
    "several": ("<think>a</think>\n\n<think>b</think>\n\nc<think>d</think>", "c"),
    "the first one closes": ("<think>a<think>b</think>c</think>d", "c</think>d"),
    "a fence in the thought": ("<think>a\n```\nb</think>c", "c"),
    "a tag with a control within": ("<thi\x00nk>a</th\u202eink>b", "b"),
    "carriage returns": ("<think>\r\na\r\n</think>\r\n\r\nb", "b"),
    "begun within": ("a\n</think>\n\nb", "b"),
    "begun within, spaces around": ("a\n \t</think> \nb", "b"),
    "begun within, with a fence": ("a\n```\nb\n```\n</think>\nc", "c"),
    "begun within, and a tag": ("a\n</think>\nb<think>c</think>", "b"),
    "begun within a second time": ("a\n</think>\nb\n</think>\nc", "b\n</think>\nc"),
    "closed after another tag": ("<think>a</think>b\n</think>\nc", "b\n</think>\nc"),
    "closed within a line": ("a</think>\nb", "a</think>\nb"),
    "closed within a fence": ("```\na\n</think>\nb", "```\na\n</think>\nb"),
    "no tag": ("a think> b <thinking>c</thinking> <THINK>", "a think> b <thinking>c</thinking> <THINK>"),
    "in backticks": ("Write `<think>` and `</think>`.", "Write `<think>` and `</think>`."),
    "in backticks, then not": ("`<think>` <think>a</think>b", "`<think>` b"),
    "in a fence": ("a\n```\n<think>\nb\n```\nc", "a\n```\n<think>\nb\n```\nc"),
    "in a fence of a language": ("```xml\n<think>a</think>\n```", "```xml\n<think>a</think>\n```"),
    "in a fence of tildes": ("~~~ `x`\n<think>a</think>\n~~~", "~~~ `x`\n<think>a</think>\n~~~"),
    "in a fence of a list": ("1. a\n   ```\n   <think>\n   ```\nb", "1. a\n   ```\n   <think>\n   ```\nb"),
    "in a fence that is open": ("```\n<think>a", "```\n<think>a"),
    "in a longer fence": ("````\n```\n<think>a\n````", "````\n```\n<think>a\n````"),
    "in a fence that a language does not close": ("```\n```js\n<think>a\n```", "```\n```js\n<think>a\n```"),
    "behind a fence": ("```\na\n```\n<think>b</think>c", "```\na\n```\nc"),
    "behind a fence of spaces": ("```\na\n```  \n<think>b</think>c", "```\na\n```  \nc"),
    "behind backticks in a line": ("``` a ```\n<think>b</think>c", "``` a ```\nc"),
    "behind a thought and backticks": ("a <think>b</think> ```\n<think>c</think>d", "a  ```\nd"),
    "behind a thought and tildes": ("a <think>b</think>~~~\n<think>c</think>d", "a ~~~\nd"),
    "behind a thought and a fence": ("<think>a</think>\n```\n<think>\n```", "```\n<think>\n```"),
    "in a fence of a quotation": ("> ```\n> <think>\n> ```\nb", "> ```\n> <think>\n> ```\nb"),
    "in a fence that a list begins": ("- ```\n  <think>\n  ```\nb", "- ```\n  <think>\n  ```\nb"),
}  # fmt: skip


@for_each("name", TAGS)
def test_tags(rust: ModuleType, name: str) -> None:
    text, shown = TAGS[name]
    assert thought(rust, text) == shown


def test_only_the_assistants_text_holds_thoughts(rust: ModuleType) -> None:
    text = "<think>a</think>b"
    for message in (asks(text), system(text), system(text, "developer")):
        recounted = rust.recount([message])
        assert told(recounted) == [(message["role"], text)]
        assert recounted.report.thinking == 0
    (found,) = lines(rust.recount(bash(text, f"{text}\n<think>c")))
    assert found == f'[Tool: Bash(command="{text}")] → {text}\n<think>c'


@pytest.mark.parametrize("role", ["model", "ai", "agent"])
def test_whoever_the_assistant_is(rust: ModuleType, role: str) -> None:
    assert told(rust.recount([{"role": role, "content": "<think>a</think>b"}])) == [
        ("assistant", "b")
    ]


words = st.sampled_from(("stays", "stays `<think>` stays", "stays ``` stays", "stays > stays"))
pieces = st.one_of(
    words.map(lambda text: (text, True)),
    st.sampled_from(("stays\n```py\n<think>stays</think>\n```\n", "stays\n~~~\n<think>\n~~~\n")).map(
        lambda text: (text, True)
    ),
    st.sampled_from(("", "\n", "\n```\n", "`", "<think>", "~~~", "\n\n[Tool: f()]")).map(
        lambda text: (f"<think>gone{text}gone</think>", False)
    ),
    st.sampled_from((" ", "\n", "\n\n")).map(lambda text: (text, True)),
)  # fmt: skip


@given(given=st.lists(pieces, max_size=8), is_open=st.booleans())
def test_thoughts_are_removed_and_everything_else_stays(
    rust: ModuleType, given: list[tuple[str, bool]], is_open: bool
) -> None:
    text = "".join(text for text, _ in given) + "<think>gone" * is_open
    shown = thought(rust, text)
    assert "gone" not in shown
    assert shown.split() == "".join(text for text, stays in given if stays).split()


LONG = {
    "thoughts": "<think></think>",
    "thoughts on lines": "<think></think>\n",
    "words and thoughts": "a<think></think>",
    "open tags": "<think>",
    "closing tags": "</think>",
    "closing lines": "</think>\n",
    "tags in backticks": "`<think>`",
    "backticks": "`",
    "fences": "```\n",
    "fences and thoughts": "a<think></think>```b",
    "lines of fences": "```a\n<think>\n```\n",
    "newlines": "\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_long_text_ends(rust: ModuleType, name: str) -> None:
    piece = LONG[name]
    count = 4_000_000 // len(piece)
    shown = "".join(text for _, text in told(rust.recount([says(piece * count + "think>")])))
    assert shown.removesuffix("think>").strip() == {
        "thoughts": "",
        "thoughts on lines": "",
        "words and thoughts": "a" * count,
        "open tags": "",
        "closing lines": (piece * (count - 1)).strip(),
        "fences and thoughts": ("a```b" * count).strip(),
        "newlines": "",
    }.get(name, (piece * count).strip())
