"""Messages as clients send them: what is there already is skipped, and what comes out is what went in."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.talks import ANSWERED, ASKED, CALLED, TALK

from toolcarry import InputError, convert
from toolcarry.tract import Tract
from toolcarry.tract.store.log import FIRST_PAGE, Log

Message = dict[str, Any]


def test_one_message_may_be_several_commits(tract: Tract) -> None:
    commits = tract.append_many(TALK)
    assert [(each.role, each.name, tract.get_content(each)) for each in commits] == [
        ("user", None, "Run the tests."),
        ("assistant", None, "I will."),
        ("tool", "Bash", "1 failed"),
        ("tool", "Read", "x = 1"),
        ("user", None, "And go on."),
    ]
    assert [each.is_error for each in commits] == [False, False, True, False, False]
    (turn,) = tract.find_tool_turns()
    assert turn.results == [commits[2], commits[3]]
    assert json.loads(tract.get_source(commits[3])) == ANSWERED
    assert tract.compile(style="anthropic") == convert(TALK, to="anthropic").messages


def test_known_messages_are_skipped(tract: Tract) -> None:
    for end in range(1, 4):
        tract.append_many(TALK[:end])
    assert len(tract.log()) == 5
    assert tract.append_many(TALK) == tract.append_many(TALK[1:]) == tract.append_many([]) == []
    again = tract.append_many([*TALK, ASKED])
    assert [each.role for each in again] == ["user"]
    assert tract.append_many([ASKED]) == []  # it may be the same again
    assert len(tract.append_many([ASKED, ASKED])) == 1


def test_a_history_that_the_client_rewrote_is_appended_once(tract: Tract) -> None:
    tract.append_many(TALK)
    summary = {"role": "user", "content": "A summary of it all."}
    assert len(tract.append_many([summary, ASKED])) == 2
    assert len(tract.append_many([summary, ASKED, CALLED])) == 1
    assert len(tract.log()) == 8


def test_messages_added_by_hand_are_known(tract: Tract) -> None:
    tract.user("Run the tests.")
    assert (
        tract.append_many([ASKED, {"role": "assistant", "content": "They pass."}])[0].sequence == 2
    )


def test_names_are_those_of_the_calls(tract: Tract) -> None:
    tract.append_many([ASKED, CALLED])
    (result,) = tract.append_many([{"role": "tool", "tool_call_id": "t2", "content": "x = 1"}])
    (orphan,) = tract.append_many([{"role": "tool", "tool_call_id": "t9", "content": "?"}])
    assert (result.name, orphan.name) == ("Read", "unknown")


def test_a_result_long_after_its_call_has_its_name(tract: Tract) -> None:
    """Also if its id was used before, and if a later one was looked for first."""
    for number, name in enumerate(("Bash", "Grep")):
        call = {"id": "a1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        tract.append_many([{"role": "assistant", "content": f"{number}", "tool_calls": [call]}])
    for number in range(FIRST_PAGE + 1):
        tract.user(f"{number}")
    tract.append_many([CALLED])
    given = [{"role": "tool", "tool_call_id": name, "content": name} for name in ("t2", "a1", "t9")]
    assert [commit.name for commit in tract.append_many(given)] == ["Read", "Grep", "unknown"]


def test_a_result_after_its_call_takes_no_reading_of_the_whole(
    tract: Tract, monkeypatch: pytest.MonkeyPatch
) -> None:
    tract.append_many([ASKED, CALLED])
    monkeypatch.setattr(Log, "commits", lambda *_: pytest.fail("all commits were read"))
    (result,) = tract.append_many([{"role": "tool", "tool_call_id": "t2", "content": "x = 1"}])
    assert result.name == "Read"


@pytest.mark.parametrize(
    "message",
    [
        {
            "role": "user",
            "content": [{"type": "image", "source": {"type": "base64", "data": "AAAA"}}],
        },
        {"type": "reasoning", "id": "r1", "summary": []},
        {"role": "assistant", "content": None, "x": "\ud800"},
        {"unknown": True},
    ],
)
def test_empty_messages_are_kept(tract: Tract, message: Message) -> None:
    commits = tract.append_many([message])
    assert json.loads(tract.get_source(commits[0])) == message
    assert tract.append_many([message]) == []
    assert tract.verify().is_whole


def test_messages_that_are_invalid(tract: Tract) -> None:
    for messages in ([1], ["x"], [{"role": "user", "content": object()}], [{"x": float("nan")}]):
        with pytest.raises(InputError):
            tract.append_many(messages)  # type: ignore[arg-type]
    assert tract.log() == []


def test_a_cache_mark_moves_on(tract: Tract) -> None:
    """As with each request of an Anthropic client: what was said stays the same, and is there once."""
    talk = [
        ASKED,
        CALLED,
        ANSWERED,
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]
    added = 0
    for end in range(2, len(talk) + 1):
        *before, last = talk[:end]
        *parts, marked = last["content"]
        marked = {**marked, "cache_control": {"type": "ephemeral"}}
        added += len(tract.append_many([*before, {**last, "content": [*parts, marked]}]))
    assert added == len(tract.log()) == 6
    assert len(tract.find_tool_turns()) == 1
    assert tract.append_many(talk) == []
    (call,) = [each for each in CALLED["content"] if each.get("id") == "t1"]
    moved = {**call, "input": {"cache_control": "pytest"}}
    assert len(tract.append_many([{"role": "assistant", "content": [moved]}])) == 1
    moved = {**call, "input": {"cache_control": "ls"}}
    assert len(tract.append_many([{"role": "assistant", "content": [moved]}])) == 1


def test_documents_are_exported_one_after_the_other(tract: Tract, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    documents = [json.dumps([ASKED]), json.dumps([ASKED, CALLED]) + "\n", json.dumps([ANSWERED])]
    for document in documents:
        path.write_text(document)
        tract.import_transcript(path)
    first, second, third = (document.encode() for document in documents)
    assert b"".join(tract.export()) == first + b"\n" + second + third


messages = st.lists(st.sampled_from([ASKED, CALLED, ANSWERED, {"role": "user", "content": "Yes."}]))


@given(messages, messages)
def test_nothing_is_lost_and_nothing_is_doubled(first: list[Message], more: list[Message]) -> None:
    """A conversation that grew is in the log unchanged, even with repeated messages."""
    with Tract.open() as tract:
        tract.append_many(first)
        tract.append_many(first)
        tract.append_many([*first, *more])
        tract.append_many([*first, *more])
        with Tract.open() as other:
            other.append_many([*first, *more])
            assert tract.log() == [] or tract.log()[0].commit_hash == other.log()[0].commit_hash
            assert len(tract.log()) == len(other.log())
