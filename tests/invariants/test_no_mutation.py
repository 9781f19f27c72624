"""Invariant ``transport_truncation_must_not_mutate_canonical_history``: a result that was cut on its way is never taken for the whole."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcarry import InputError, ProjectPolicy, project
from toolcarry.tract import Tract

Opener = Callable[..., Tract]

WHOLE = "a line of the log\n" * 2_000
CUT = "a line of the log\n" * 10 + "\n[...1990 lines omitted...]\n\nthe last line"
CALL = {"id": "t1", "name": "Bash", "arguments": {"command": "make"}}


def results(tract: Tract) -> list[bool]:
    """Return for each result if it is flagged."""
    return ["legacy_truncated" in commit.metadata for commit in tract.find_tool_results()]


def test_transport_truncation_must_not_mutate_canonical_history(history: Opener) -> None:
    """The client sends back what its host, its stream or a projection left of a result."""
    tract = history()
    tract.assistant("", tool_calls=[CALL])
    first = tract.tool_result("t1", "Bash", WHOLE)
    shown = project(tract.compile(), policy=ProjectPolicy(max_result_chars=500)).messages
    for text in (shown[-1]["content"], CUT, "[Old tool result content cleared]"):
        tract.append_many([shown[0], {**shown[1], "content": text}])
    assert tract.get_content(first) == WHOLE
    assert tract.resolve("t1") == WHOLE
    assert results(tract) == [False, True, True, True]
    assert tract.counts["legacy_truncated"] == 3


def test_each_mode(history: Opener, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "toolcarry.tract")
    for mode, lines in (("count", 0), ("warn", 1)):
        tract = history(conversation=mode, on_truncated_write=mode)
        caplog.clear()
        commit = tract.tool_result("t1", "Bash", CUT)
        assert tract.get_content(commit) == CUT
        assert tract.counts == {"legacy_truncated": 1}
        assert len(caplog.messages) == lines
        assert all("'t1' of 'Bash'" in line and "omitted" not in line for line in caplog.messages)
    strict = history(conversation="strict", on_truncated_write="raise")
    with pytest.raises(InputError, match="was already cut when it arrived"):
        strict.tool_result("t1", "Bash", CUT)
    assert strict.log() == []
    assert strict.counts == {}


def test_an_import_of_a_cut_session_is_readable_and_marked(
    history: Opener, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "toolcarry.tract")
    contents: list[object] = [
        *(CUT, WHOLE, json.dumps({"truncated": True, "logId": "log_1"})),
        [{"type": "text", "text": "a", "truncated": True}],
        *("The output was truncated.", json.dumps({"truncated": False})),
    ]
    blocks = [
        {"type": "tool_result", "tool_use_id": f"t{place}", "content": content}
        for place, content in enumerate(contents)
    ]
    blocks.append({"type": "tool_result", "tool_use_id": "t9", "content": "a", "truncated": True})
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({"role": "user", "content": [it]}) + "\n" for it in blocks))
    tract = history()
    done = tract.import_transcript(path)
    assert results(tract) == [True, False, True, True, False, False, True]
    assert done.truncated == tract.counts["legacy_truncated"] == 4
    assert len(caplog.messages) == 1
    assert b"".join(tract.export()) == path.read_bytes()
    again = history(conversation="again")
    again.append_many([{"role": "user", "content": [it]} for it in blocks])
    assert results(again) == results(tract)


PREVIEW = {"preview": True, "shown": 1, "total": 9, "reference": "t1"}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "t1", "content": "a", **PREVIEW},
        {"role": "tool", "tool_call_id": "t1", "content": "a", "metadata": PREVIEW},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a", "metadata": PREVIEW}]},
        {"role": "tool", "tool_call_id": "t1", "content": "a\n[toolcarry: preview, 1 of 9 characters; whole: t1]"},
    ],
)  # fmt: skip
def test_a_preview_is_refused_in_every_mode(history: Opener, message: dict[str, object]) -> None:
    tract = history(on_truncated_write="count")
    with pytest.raises(InputError, match="preview can't be written to the history"):
        tract.append_many([{"role": "user", "content": "Go."}, message])
    assert tract.log() == []
