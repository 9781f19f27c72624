"""Results that were cut before they reached the history: kept unchanged and flagged, or refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcarry import InputError, truncate
from toolcarry.tract import Tract

Opener = Callable[..., Tract]


@pytest.mark.parametrize(
    "text",
    [
        "line 1\n... [truncated]",
        "line 1\n... [truncated: 4 of 9 characters shown]\nline 9",
        "[toolcarry: superseded by call t2; whole: t1]",
        "head\n[toolcarry: 1,500 of 10,000 characters; whole: t1]\ntail",
        "output [truncated]\n",
    ],
)
def test_truncated_input_is_kept_and_flagged(
    memory: Opener, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    tract = memory()
    commit = tract.tool_result("t1", "Bash", text)
    assert commit.metadata["legacy_truncated"] is True
    assert tract.get_content(commit) == text
    assert tract.counts == {"legacy_truncated": 1}
    assert (
        "cut before they arrived here, and stored unchanged: 1 tool result: call 't1' of 'Bash'"
        in caplog.messages
    )
    strict = memory(on_truncated_write="raise")
    with pytest.raises(InputError, match="was already cut when it arrived"):
        strict.tool_result("t1", "Bash", text)
    assert strict.log() == []


def test_truncated_input_is_flagged_on_every_path(memory: Opener, tmp_path: Path) -> None:
    cut = {"role": "tool", "tool_call_id": "t1", "content": "line 1\n... [truncated]"}
    block = {"type": "tool_result", "tool_use_id": "t1", "content": cut["content"]}
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps({"role": "user", "content": [block]}) + "\n")
    for take in (
        lambda tract: tract.append_many([cut]),
        lambda tract: tract.append_many([{"role": "user", "content": [block]}]),
        lambda tract: tract.import_transcript(path),
    ):
        tract, strict = memory(), memory(on_truncated_write="raise")
        take(tract)
        (result,) = tract.find_tool_results()
        assert result.metadata["legacy_truncated"] is True
        assert tract.counts == {"legacy_truncated": 1}
        assert tract.hydrate([{**cut, "content": ""}]).refetch == ("t1",)
        with pytest.raises(InputError, match="was already cut when it arrived"):
            take(strict)
        assert strict.log() == []
    tract.append_many([cut])
    assert tract.append_many([cut]) == []
    assert tract.counts == {"legacy_truncated": 2}


def test_truncated_edits_are_flagged(memory: Opener, caplog: pytest.LogCaptureFixture) -> None:
    tract, strict = memory(), memory(on_truncated_write="raise")
    first, other = (each.tool_result("t1", "Bash", "7\n2").commit_hash for each in (tract, strict))
    newer = tract.tool_result("t1", "Bash", "1\n... [truncated]", edit=first)
    assert newer.metadata["legacy_truncated"] is True
    assert tract.counts == {"legacy_truncated": 1}
    assert caplog.messages == [
        "cut before they arrived here, and stored unchanged: 1 tool result: call 't1' of 'Bash'"
    ]
    with pytest.raises(InputError, match="the result of 'Bash' was already cut when it arrived"):
        strict.tool_result("t1", "Bash", "1\n... [truncated]", edit=other)
    assert len(strict.log()) == 1


WHOLE = "".join(f"{number} [line]\n" for number in range(400))


@pytest.mark.parametrize(
    "cut",
    [
        truncate(WHOLE, 100),
        truncate(WHOLE, 100, keep="tail"),
        truncate(WHOLE, 100, keep="ends"),
        truncate(WHOLE, 30, unit="tokens"),
        "0 [line]\n[toolcarry: 9 of 4,000 characters; whole: t1]\n399 [line]\n",
        "[toolcarry: cleared, 4,000 characters; whole: t1]",
        "0 [li... [truncated]",
    ],
)
def test_a_part_of_the_whole_in_the_history_is_not_flagged(memory: Opener, cut: str) -> None:
    tract = memory(on_truncated_write="raise")
    first = tract.tool_result("t1", "Bash", WHOLE)
    newer = tract.tool_result("t1", "Bash", cut, edit=first.commit_hash)
    again = tract.tool_result("t1", "Bash", "0 [l... [truncated]", edit=newer.commit_hash)
    assert "legacy_truncated" not in {**newer.metadata, **again.metadata}
    assert tract.counts == {}
    assert tract.legacy_results() == []
    assert tract.resolve("t1") == WHOLE


def test_a_cut_edit_of_a_cut_result_is_flagged(memory: Opener) -> None:
    tract = memory()
    first = tract.tool_result("t1", "Bash", truncate(WHOLE, 100))
    newer = tract.tool_result("t1", "Bash", truncate(WHOLE, 50), edit=first.commit_hash)
    assert newer.metadata["legacy_truncated"] is True
    assert tract.backfill({"t1": WHOLE}).filled
    last = tract.tool_result("t1", "Bash", truncate(WHOLE, 50), edit=first.commit_hash)
    assert "legacy_truncated" not in last.metadata
    other = tract.tool_result("t1", "Bash", "another\n... [truncated]", edit=first.commit_hash)
    assert other.metadata["legacy_truncated"] is True


def test_cuts_of_a_handler_are_not_flagged(memory: Opener) -> None:
    tract = memory(on_truncated_write="raise")
    tract.on("tool_result", lambda pending: pending.edit("line 1\n... [truncated]"))
    tract.tool_result("t1", "Bash", "line 1\nline 2")
    (result,) = tract.find_tool_results()
    assert tract.get_content(result) == "line 1\n... [truncated]"
    assert "legacy_truncated" not in result.metadata
    assert tract.counts == {}


@pytest.mark.parametrize(
    "text", ["3 passed", "[INFO] fine", "truncated", "x" * 10_000, "[truncated] is a word\n" * 3]
)
def test_whole_results_are_not_flagged(memory: Opener, text: str) -> None:
    assert "legacy_truncated" not in memory().tool_result("t1", "Bash", text).metadata
