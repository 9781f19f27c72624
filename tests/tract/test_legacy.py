"""Results that were cut before they were written: listed with where their whole may be, and filled from there."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolcarry import ConfigError
from toolcarry.tract import Tract

WHOLE = "a line of the log\n" * 2_000
CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}


def persisted(path: object) -> str:
    """A long result as Claude Code leaves it."""
    return (
        f"<persisted-output>\nOutput too large (35KB). Full output saved to: {path}\n\nPreview (first 2KB):\n"
        f"{WHOLE[:1_998]}\n...\n</persisted-output>"
    )


def session(path: Path, content: Any, call_id: str = "t1", **record: Any) -> Path:
    result = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": [{**CALL, "id": call_id}]},
        {"role": "user", "content": [result]},
    ]
    lines = [
        {
            "type": message["role"],
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "message": message,
            **record,
        }
        for number, message in enumerate(messages)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def is_filled(tract: Tract) -> None:
    """The whole is what every reader of the canonical history gets, and the cut result stays readable."""
    (legacy,) = tract.legacy_results()
    assert legacy.is_filled
    assert tract.resolve("t1") == WHOLE
    assert not tract.needs_refetch("t1")
    assert tract.get_content(legacy.commit) != WHOLE
    said, result = tract.compile(style="openai")[-2:]
    assert result["content"] == WHOLE
    cut = {"role": "tool", "tool_call_id": "t1", "content": "[toolcarry: cleared; whole: t1]"}
    assert tract.hydrate([said, cut]).messages[1]["content"] == WHOLE
    assert tract.backfill() == tract.backfill({"t1": "another"})
    assert tract.verify().is_whole


def test_from_the_line_itself(tract: Tract, tmp_path: Path) -> None:
    path = session(
        tmp_path / "s.jsonl", persisted("/gone.txt"), toolUseResult={"stdout": WHOLE, "stderr": ""}
    )
    tract.import_transcript(path)
    (legacy,) = tract.legacy_results()
    assert (legacy.mark, legacy.source) == ("Claude Code", "record")
    done = tract.backfill()
    assert done.left == ()
    assert done.filled[0].metadata["provenance"] == {"by": "backfill", "from": "record"}
    is_filled(tract)
    assert b"".join(tract.export()) == path.read_bytes()


def test_from_a_folder(tract: Tract, tmp_path: Path) -> None:
    folder = tmp_path / "tool-results"
    folder.mkdir()
    (folder / "t1.txt").write_text(WHOLE)
    tract.assistant("", tool_calls=[CALL])
    tract.tool_result("t1", "Bash", persisted("/another/machine/tool-results/t1.txt"))
    (legacy,) = tract.legacy_results()
    assert (legacy.source, legacy.where) == ("file", "/another/machine/tool-results/t1.txt")
    assert tract.backfill().left == (legacy,)
    assert tract.needs_refetch("t1")
    assert len(tract.backfill(folder).filled) == 1
    is_filled(tract)


def test_a_file_outside_of_the_folder_is_never_read(tract: Tract, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(WHOLE)
    folder = tmp_path / "tool-results"
    folder.mkdir()
    (folder / "secret.txt").symlink_to(tmp_path / "secret.txt")
    for place, path in enumerate((tmp_path / "secret.txt", folder / ".." / "secret.txt")):
        tract.tool_result(f"t{place}", "Bash", persisted(path))
    assert tract.backfill(folder).filled == ()
    assert len(tract.legacy_results()) == 2


def test_from_a_session_file(tract: Tract, tmp_path: Path) -> None:
    tract.assistant("", tool_calls=[CALL])
    tract.tool_result("t1", "Bash", "a line of the log\n... [truncated]")
    assert tract.backfill(session(tmp_path / "other.jsonl", WHOLE, "t2")).filled == ()
    tract.backfill(session(tmp_path / "same.jsonl", WHOLE))
    is_filled(tract)


def test_from_a_log_by_its_id(tract: Tract) -> None:
    asked: list[str] = []

    def read(key: str) -> str | None:
        asked.append(key)
        return WHOLE if key == "log_7" else None

    tract.assistant("", tool_calls=[CALL])
    tract.tool_result(
        "t1", "Bash", json.dumps({"truncated": True, "logId": "log_7", "stdout": "a"})
    )
    (legacy,) = tract.legacy_results()
    assert (legacy.source, legacy.where) == ("log", "log_7")
    tract.backfill(read)
    assert asked == ["log_7"]
    is_filled(tract)


def test_what_is_cut_itself_fills_nothing(tract: Tract) -> None:
    tract.tool_result("t1", "Bash", "a\n... [truncated]")
    tract.tool_result("t2", "Bash", "b\n... [truncated]")
    tract.tool_result("t2", "Bash", "c\n... [truncated]")
    given = {"t1": "a and more\n... [truncated]", "t2": "one of two"}
    done = tract.backfill(given)
    assert done.filled == ()
    assert [legacy.commit.tool_call_id for legacy in done.left] == ["t1", "t2", "t2"]


@pytest.mark.parametrize("source", [7, ""])
def test_a_wrong_source(tract: Tract, source: Any) -> None:
    with pytest.raises(ConfigError, match="source"):
        tract.backfill(source)


def test_an_id_that_repeats_names_no_result(tract: Tract) -> None:
    """Neither of the results with it, whole or not: the text may be that of the other one."""
    for command, text in (("make", "3 pas... [truncated]"), ("ls", "a.py")):
        tract.assistant("", tool_calls=[{**CALL, "input": {"command": command}}])
        tract.tool_result("t1", "Bash", text)
    done = tract.backfill({"t1": "b.py"})
    assert (done.filled, len(done.left)) == ((), 1)
