"""A history as the messages of a request: in every shape, with a policy, and what became of parts of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.builders.talks import ANSWERED, ASKED, TALK
from support.oracles.conversions import MARK_ERRORS, TARGETS

from toolcarry import ProjectPolicy, convert
from toolcarry.tract import Kind, Tract
from toolcarry.tract.compile import Style, system_message

Message = dict[str, Any]


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


@pytest.mark.rust
def test_a_policy_projects(tract: Tract) -> None:
    tract.append_many(TALK)
    tract.append_many([{"role": "tool", "tool_call_id": "t9", "content": "word " * 500}])
    shown = tract.compile(policy=ProjectPolicy(max_result_chars=100))
    assert len(shown[-1]["content"]) <= 100
    assert "whole: t9" in shown[-1]["content"]
    assert tract.get_content(tract.log(1)[0]) == "word " * 500


def has_mark(messages: list[Message]) -> bool:
    """True if a result is marked as a failure."""
    marks = ('"is_error": true', '{"error":', '"status": "error"')
    return any(mark in json.dumps(messages) for mark in marks)


@pytest.mark.rust
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
    assert tract.compile(style=style, policy=ProjectPolicy()) == whole
    cut = tract.compile(style=style, policy=ProjectPolicy(max_result_chars=100))
    written = json.dumps(cut)
    assert ("superseded" in written, written.count("whole: ")) == (False, 2)
    assert has_mark(cut) is (style in MARK_ERRORS)
    tract.user("Go on.")
    tract.compress(commits=[tract.log(1)[0].commit_hash], content="It goes on.")
    assert "superseded" not in json.dumps(tract.compile(style=style, policy=ProjectPolicy()))


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
    """The system prompt is outside the messages of the request, but the model must get it."""
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
