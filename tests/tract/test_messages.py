"""Messages as clients send them: what is there already is skipped, and what comes out is what went in."""

import json
from pathlib import Path
from typing import Any

import pytest
from conversions import MARK_ERRORS, TARGETS
from hypothesis import given
from hypothesis import strategies as st

from toolcarry import InputError, Policy, convert
from toolcarry.tract import Kind, Tract
from toolcarry.tract.compile import Style, system_message

Message = dict[str, Any]

ASKED: Message = {"role": "user", "content": "Run the tests."}
CALLED: Message = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "I will."},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}},
        {"type": "tool_use", "id": "t2", "name": "Read", "input": {"path": "a.py"}},
    ],
}
ANSWERED: Message = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "1 failed", "is_error": True},
        {
            "type": "tool_result",
            "tool_use_id": "t2",
            "content": [{"type": "text", "text": "x = 1"}],
        },
        {"type": "text", "text": "And go on."},
    ],
}
TALK = [ASKED, CALLED, ANSWERED]


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
    assert turn.results == (commits[2], commits[3])
    assert json.loads(tract.get_source(commits[3])) == ANSWERED
    assert tract.compile(style="anthropic") == convert(TALK, to="anthropic").messages


def test_what_is_there_is_skipped(tract: Tract) -> None:
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


def test_what_was_said_by_hand_is_known(tract: Tract) -> None:
    tract.user("Run the tests.")
    assert (
        tract.append_many([ASKED, {"role": "assistant", "content": "They pass."}])[0].sequence == 2
    )


def test_names_are_those_of_the_calls(tract: Tract) -> None:
    tract.append_many([ASKED, CALLED])
    (result,) = tract.append_many([{"role": "tool", "tool_call_id": "t2", "content": "x = 1"}])
    (orphan,) = tract.append_many([{"role": "tool", "tool_call_id": "t9", "content": "?"}])
    assert (result.name, orphan.name) == ("Read", "unknown")


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
def test_what_says_nothing_is_kept(tract: Tract, message: Message) -> None:
    commits = tract.append_many([message])
    assert json.loads(tract.get_source(commits[0])) == message
    assert tract.append_many([message]) == []
    assert tract.verify().is_whole


def test_messages_that_are_none(tract: Tract) -> None:
    for messages in ([1], ["x"], [{"role": "user", "content": object()}], [{"x": float("nan")}]):
        with pytest.raises(InputError):
            tract.append_many(messages)  # type: ignore[arg-type]
    assert tract.log() == []


def test_compiled_in_every_shape(tract: Tract) -> None:
    tract.system("Be brief.")
    tract.append_many(TALK)
    tract.assistant("Done.")
    whole = tract.compile(style="openai")
    assert [message["role"] for message in whole] == [
        "system", "user", "assistant", "tool", "tool", "user", "assistant",
    ]  # fmt: skip
    for style in TARGETS:
        shown = tract.compile(style=style)
        assert shown[0] == system_message("Be brief.", style)
        assert "1 failed" in json.dumps(shown)
        back = convert(shown[1:], to="openai").messages
        assert [message["role"] for message in back] == [message["role"] for message in whole[1:]]


def test_an_edited_part_of_a_message(tract: Tract) -> None:
    commits = tract.append_many(TALK)
    tract.tool_result("", "", "short", edit=commits[3].commit_hash)
    shown = tract.compile(style="anthropic")
    results = [part for part in shown[2]["content"] if part["type"] == "tool_result"]
    assert [part["content"] for part in results] == ["1 failed", "short"]
    assert shown[:2] == convert(TALK, to="anthropic").messages[:2]
    assert json.loads(tract.get_source(commits[3])) == ANSWERED


def test_a_part_of_a_message_that_a_compaction_covers(tract: Tract) -> None:
    commits = tract.append_many(TALK)
    done = tract.compress(commits=[commits[2].commit_hash], content="Tests fail.")
    assert done.covered == tuple(each.commit_hash for each in commits[1:4])
    shown = tract.compile(style="anthropic")
    assert [message["role"] for message in shown] == ["user"] * len(shown)
    said = json.dumps(shown)
    assert "And go on." in said
    assert "Tests fail." in said
    assert "tool_use" not in said
    assert "I will." not in said
    tract.uncompress(done.commit.commit_hash)  # type: ignore[union-attr]
    assert tract.compile(style="anthropic") == convert(TALK, to="anthropic").messages


@pytest.mark.parametrize(
    "result",
    [
        {"role": "tool", "tool_call_id": "t", "content": "long", "extra": 1},
        {"type": "function_call_output", "call_id": "t", "output": "long"},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "f", "response": {"out": "long"}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "long"}]}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "long"}],
        },
    ],
)
def test_a_result_of_every_shape_may_be_edited(tract: Tract, result: Message) -> None:
    (commit,) = tract.append_many([result])
    assert (commit.kind, tract.get_content(commit)) == (Kind.RESULT, "long") or "out" in str(result)
    tract.tool_result("", "", "short", edit=commit.commit_hash)
    for style in TARGETS:
        said = json.dumps(tract.compile(style=style))
        assert "short" in said
        assert "long" not in said


def test_a_policy_projects(tract: Tract) -> None:
    tract.append_many(TALK)
    tract.append_many([{"role": "tool", "tool_call_id": "t9", "content": "word " * 500}])
    shown = tract.compile(policy=Policy(max_tool_result_chars=100))
    assert len(shown[-1]["content"]) <= 100
    assert "whole: t9" in shown[-1]["content"]
    assert tract.get_content(tract.log(1)[0]) == "word " * 500


def has_mark(messages: list[Message]) -> bool:
    """Whether a result says that it is a failure."""
    marks = ('"is_error": true', '{"error":', '"status": "error"')
    return any(mark in json.dumps(messages) for mark in marks)


@pytest.mark.parametrize("style", TARGETS)
@pytest.mark.parametrize("is_own", [True, False])
def test_a_failure_stays_one(tract: Tract, style: Style, is_own: bool) -> None:
    """It is marked where the shape has a mark, and supersedes no success where it has none."""
    for number, (text, is_error) in enumerate((("passed " * 50, False), ("Killed " * 50, True))):
        use = {"id": f"t{number}", "name": "Bash", "input": {"command": "pytest"}}
        if is_own:
            tract.assistant("", tool_calls=[{**use, "arguments": use["input"]}])
            tract.tool_result(f"t{number}", "Bash", text, is_error=is_error)
        else:
            result = {"tool_use_id": f"t{number}", "content": text, "is_error": is_error}
            tract.append_many([
                {"role": "assistant", "content": [{"type": "tool_use", **use}]},
                {"role": "user", "content": [{"type": "tool_result", **result}]},
            ])  # fmt: skip
    whole = tract.compile(style=style)
    assert has_mark(whole) is (style in MARK_ERRORS)
    assert tract.compile(style=style, policy=Policy()) == whole
    cut = tract.compile(style=style, policy=Policy(max_tool_result_chars=100))
    written = json.dumps(cut)
    assert ("superseded" in written, written.count("whole: ")) == (False, 2)
    assert has_mark(cut) is (style in MARK_ERRORS)
    tract.user("Go on.")
    tract.compress(commits=[tract.log(1)[0].commit_hash], content="It goes on.")
    assert "superseded" not in json.dumps(tract.compile(style=style, policy=Policy()))


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


@pytest.mark.parametrize(
    "request_",
    [
        {"system": [{"type": "text", "text": "Be brief."}], "messages": [ASKED]},
        {"instructions": "Be brief.", "input": [{"role": "user", "content": "Hello."}]},
    ],
)
def test_the_system_prompt_of_a_request(
    tract: Tract, tmp_path: Path, request_: dict[str, Any]
) -> None:
    """It stands beside the messages, so that no message has it: but the model is to be told."""
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request_))
    tract.import_transcript(path)
    for style in TARGETS:
        first, *others = tract.compile(style=style)
        assert first == system_message("Be brief.", style)
        assert len(others) == 1
    path.write_text(json.dumps({**request_, "model": "m"}))  # the same conversation
    tract.import_transcript(path)
    assert len(tract.compile()) == 2
    assert b"".join(tract.export()).endswith(path.read_bytes())


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
    """A conversation that grew is in the log as it is, whatever repeats in it."""
    with Tract.open() as tract:
        tract.append_many(first)
        tract.append_many(first)
        tract.append_many([*first, *more])
        tract.append_many([*first, *more])
        with Tract.open() as other:
            other.append_many([*first, *more])
            assert tract.log() == [] or tract.log()[0].commit_hash == other.log()[0].commit_hash
            assert len(tract.log()) == len(other.log())
