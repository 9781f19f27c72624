"""A request continues a line if the line's last messages are in place, however the client spells them."""

import json
from typing import Any

import pytest

from toolcarry.integrations.lines import LAST, NEW, KnownLines, LineKey, LineState
from toolcarry.switch.request_fields import LazyMessages, read_fields

KEY: LineKey = ("tenant", "conversation", "start")
SAID: list[dict[str, Any]] = [
    {"role": role, "content": [{"type": "text", "text": f"step {number}"}]}
    for number in range(6)
    for role in ("user", "assistant")
]
MARK = {"cache_control": {"type": "ephemeral"}}


def read(messages: list[dict[str, Any]]) -> LazyMessages:
    found = read_fields(json.dumps({"messages": messages}).encode()).messages
    assert isinstance(found, LazyMessages)
    return found


@pytest.fixture
def known() -> KnownLines:
    lines = KnownLines(1_000, 60.0)
    lines.keep(KEY, read(SAID), NEW, LineState(missing=7))
    return lines


def test_messages_that_are_spelled_as_before_are_not_decoded(
    known: KnownLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = read([*SAID, {"role": "user", "content": "Go on."}])
    with monkeypatch.context() as patch:
        patch.setattr(LazyMessages, "__getitem__", lambda *_: pytest.fail("a message was decoded"))
        start = known.start_of(KEY, messages)
    assert (start.shared, start.known.missing) == (len(SAID), 7)


@pytest.mark.parametrize("place", [len(SAID) - 1, len(SAID) - LAST])
def test_a_cache_mark_that_moved_changes_nothing(known: KnownLines, place: int) -> None:
    part = {**SAID[place]["content"][0], **MARK}
    sent = [*SAID[:place], {**SAID[place], "content": [part]}, *SAID[place + 1 :]]
    assert known.start_of(KEY, read(sent)).shared == len(SAID)


@pytest.mark.parametrize("place", [len(SAID) - 1, len(SAID) - LAST])
def test_another_text_at_the_end_begins_a_new_line(known: KnownLines, place: int) -> None:
    sent = [*SAID[:place], {**SAID[place], "content": "something else"}, *SAID[place + 1 :]]
    start = known.start_of(KEY, read(sent))
    assert (start.shared, start.replaces) == (place, None)


def test_a_line_of_decoded_messages_is_continued_by_a_body(known: KnownLines) -> None:
    other: LineKey = ("tenant", "another", "start")
    known.keep(other, SAID, NEW, LineState())
    assert known.start_of(other, read(SAID)).shared == len(SAID)
    assert known.start_of(KEY, SAID).shared == len(SAID)
