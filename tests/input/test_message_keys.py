"""Where a document keeps its messages: by the keys of requests, trajectories and exports."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.bodies import check_same
from support.builders.wire import bash
from support.examples import examples
from support.rows import for_each

from toolcarry import InputError
from toolcarry._input.document import LISTS, MESSAGE_KEYS, open_body

Both = tuple[ModuleType, ModuleType]

RUN = bash("make", "built")
STEP = {"action": "make test", "observation": "passed"}
HELD: tuple[Any, ...] = (RUN, [], [STEP], [None], "a prompt", None, 7, {"role": "user"})

members = st.lists(
    st.tuples(
        st.sampled_from((*LISTS, *LISTS, "messages", "model", *sorted(MESSAGE_KEYS))),
        st.sampled_from(HELD),
    ),
    max_size=4,
)


def document(pairs: list[tuple[str, Any]]) -> bytes:
    """An object with these members, some of them twice."""
    written = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs)
    return f"{{{', '.join(written)}}}".encode()


@examples(300)
@given(pairs=members)
def test_both_backends_find_the_same_messages(both: Both, pairs: list[tuple[str, Any]]) -> None:
    check_same(both, document(pairs))


@given(lines=st.lists(members.map(document) | st.sampled_from((b"{}", b"bad", b"")), max_size=4))
def test_a_request_in_lines_is_recognised(both: Both, lines: list[bytes]) -> None:
    check_same(both, b"\n".join(lines))


@for_each("key", LISTS)
def test_each_list_is_read(api: ModuleType, key: str) -> None:
    body = json.dumps({"model": "m", key: RUN, "tools": []}).encode()
    assert "### make\n```\nbuilt\n```\n" in api.carry(body).text
    assert api.carry(body).text == api.carry(RUN).text


def test_messages_come_first(api: ModuleType) -> None:
    body = json.dumps({"contents": [], "messages": RUN, "type": "request"}).encode()
    assert len(api.extract_tool_blocks(body)) == 1


@pytest.mark.parametrize("key", sorted(MESSAGE_KEYS))
def test_message_keys_make_a_message(key: str) -> None:
    message = {key: "x", "input": RUN}
    assert open_body(json.dumps(message).encode()).messages == [message]


def test_a_message_that_is_not_read_stays_one_in_bytes(api: ModuleType) -> None:
    message = {"contents": [], "kind": 7}
    found = api.carry(json.dumps(message).encode()).report.unread
    assert found == api.carry([message]).report.unread
    assert found.count == 1


def test_a_prompt_is_one_message_of_the_user(api: ModuleType) -> None:
    assert api.dialogue(b'{"model": "m", "input": "Look."}') == "[USER]\nLook.\n[/USER]"


def test_a_history_without_calls_gives_way_to_the_trajectory(api: ModuleType) -> None:
    said = {"role": "assistant", "content": "I test."}
    called = {**said, "tool_calls": []}
    for history, count in (([said], 1), ([called], 0)):
        body = json.dumps({"trajectory": [STEP], "history": history}).encode()
        assert len(api.extract_tool_blocks(body)) == count


def test_messages_that_are_no_list_are_an_error(api: ModuleType) -> None:
    with pytest.raises(InputError, match="messages is not an array, but str"):
        api.carry(b'{"messages": "x"}')
    assert len(api.extract_tool_blocks(json.dumps({"messages": 7, "input": RUN}).encode())) == 1
