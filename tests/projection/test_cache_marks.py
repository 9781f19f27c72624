"""Marks for the prompt cache on texts without a word, which keep no result from being replaced."""

from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import bash
from support.oracles.repairs import ASK

from toolcarry import Policy

LONG = "a line of text\n" * 60
MARK = {"cache_control": {"type": "ephemeral"}}
BLANK = {"type": "text", "text": " \n", **MARK}
CLEARED = "[toolcarry: cleared, 900 characters; whole: t1]"
ROWS = {"rows": [LONG]}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def replaced(api: ModuleType, content: list[Any], limit: int, repair: bool) -> list[Any]:
    """Return the projected content of a result; a second projection must leave it unchanged."""
    policy = Policy(max_tool_result_chars=limit, repair=repair)
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
