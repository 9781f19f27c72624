"""Marks for the prompt cache on texts without a word, which keep no result from being replaced."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.wire import bash
from support.examples import examples
from support.oracles.repairs import ASK

from toolcarry import ProjectPolicy

LONG = "a line of text\n" * 60
MARK = {"cache_control": {"type": "ephemeral"}}
BLANK = {"type": "text", "text": " \n", **MARK}
CLEARED = "[toolcarry: cleared, 900 characters; whole: t1]"
ROWS = {"rows": [LONG]}
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def replaced(api: ModuleType, content: list[Any], limit: int, repair: bool) -> list[Any]:
    """Return the projected content of a result; a second projection must leave it unchanged."""
    policy = ProjectPolicy(max_result_chars=limit, repair=repair)
    once = api.project([ASK, *bash("ls", content)], policy=policy)
    assert api.project(once.messages, policy=policy).messages == once.messages
    found: list[Any] = once.messages[2]["content"][0]["content"]
    return found


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("limit", [1, 200])
@pytest.mark.parametrize("content", [[ROWS, BLANK], [BLANK, ROWS], [ROWS, BLANK, BLANK]])
def test_the_replacement_has_the_cache_mark(
    api: ModuleType, content: list[Any], limit: int, repair: bool
) -> None:
    """The text joins all parts, so none of them remains as a separate part."""
    (found,) = replaced(api, content, limit, repair)
    assert found["cache_control"] == MARK["cache_control"]
    assert "[toolcarry: " in found["text"]
    assert len(found["text"]) <= 200


@pytest.mark.parametrize("repair", [False, True])
def test_a_mark_of_words_goes_before_one_of_none(api: ModuleType, repair: bool) -> None:
    content = [text(LONG, **MARK), BLANK]
    cut = replaced(api, content, 200, repair)
    assert "[toolcarry: " in cut[0]["text"]
    assert cut[0]["cache_control"] == MARK["cache_control"]
    assert cut[1:] == ([] if repair else [BLANK])
    assert replaced(api, content, 1, repair) == [text(CLEARED, **MARK)]


@pytest.mark.parametrize("repair", [False, True])
def test_of_marks_of_no_words_the_last_one_stays(api: ModuleType, repair: bool) -> None:
    (found,) = replaced(api, [text(LONG), BLANK, BLANK], 1, repair)
    assert found == text(CLEARED, **MARK)


def test_a_cache_mark_on_media_is_kept(api: ModuleType) -> None:
    content = [text(LONG), {**IMAGE, **MARK}, BLANK]
    assert replaced(api, content, 1, repair=False) == content


pieces = st.builds(
    lambda part, is_marked: {**part, **(MARK if is_marked else {})},
    st.sampled_from((text(LONG), text(LONG), text("ok"), text(" "), IMAGE)),
    st.sampled_from((True, True, False)),
)


@st.composite
def marked_requests(draw: st.DrawFn, shape: str) -> list[Any]:
    """Draw a request with marks in many places, often with more of them than allowed, and with names that are refused."""
    messages: list[Any] = [ASK]
    names = st.sampled_from(("Bash", "shell.run"))
    for number in range(draw(st.integers(1, 4))):
        content = draw(st.lists(pieces, min_size=1, max_size=4))
        if shape == "anthropic":
            turn = bash("ls", content, f"t{number}")
            turn[0]["content"][0]["name"] = draw(names)
            turn[1]["content"][0] |= draw(st.sampled_from((MARK, {})))
        else:
            images = {
                "type": "image_url",
                "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="},
            }
            parts = [
                {**part, **images} if part["type"] == "image" else part
                for part in [{k: v for k, v in each.items() if k != "source"} for each in content]
            ]
            call = {"name": draw(names), "arguments": "{}"}
            called = [{"id": f"t{number}", "type": "function", "function": call}]
            answer = {"role": "tool", "tool_call_id": f"t{number}", "content": parts}
            turn = [{"role": "assistant", "content": None, "tool_calls": called}, answer]
        messages += turn
    return messages


@pytest.mark.parametrize(
    ("shape", "destination"),
    [("anthropic", "anthropic"), ("chat", "openrouter"), ("chat", "openai-chat")],
)
@examples(2_000)
@given(data=st.data(), limit=st.sampled_from((1, 40, 200)), total=st.sampled_from((None, 400)))
def test_marks_that_a_repair_leaves_out(
    api: ModuleType,
    shape: str,
    destination: str,
    data: st.DataObject,
    limit: int,
    total: int | None,
) -> None:
    """A result with several marks is not replaced. With the marks that stay, a second projection must agree."""
    messages = data.draw(marked_requests(shape))
    policy = ProjectPolicy(
        max_result_chars=limit,
        max_all_results_chars=total,
        repair=True,
        destination=destination,
    )
    once = api.project(messages, policy=policy)
    again = api.project(once.messages, policy=policy)
    assert again.messages == once.messages
    assert again.report.mends == ()
    assert again.report.replacements == ()
    body = api.project_body(json.dumps({"messages": messages}).encode(), policy=policy)
    assert json.loads(body.body)["messages"] == once.messages
    with_previous = api.project(messages, policy=policy, previous=once.decisions)
    assert with_previous.messages == once.messages
