"""Session files: in line by line, out byte for byte."""

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.transcripts import TRANSCRIPTS

from toolcarry import InputError, convert
from toolcarry.tract import ImportResult, Tract
from toolcarry.tract.importing import BATCH
from toolcarry.types import Unread

SESSION = Path(__file__).parents[2] / "examples" / "session.jsonl"


def counts(result: ImportResult) -> ImportResult:
    """Return the result of an import that read every message, without their number."""
    assert not result.unread_messages
    return replace(result, unread_messages=Unread())


def lines_of(tract: Tract) -> bytes:
    return b"".join(tract.export())


def jsonl(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def asked(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_a_session_in_and_out(tract: Tract) -> None:
    data = SESSION.read_bytes()
    done = tract.import_transcript(SESSION)
    assert done.lines == data.count(b"\n")
    assert (done.skipped, done.unread) == (0, 1)
    assert done.commits == len(tract.log())
    assert lines_of(tract) == data
    again = tract.import_transcript(SESSION)
    assert counts(again) == ImportResult(done.lines, done.lines, 0, 0)
    assert tract.find_tool_turns()
    assert tract.compile(style="anthropic") == convert(data, to="anthropic", repair=False).messages
    assert tract.verify().is_whole


def test_a_file_that_grows(tract: Tract, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    data = SESSION.read_bytes()
    for end in sorted({1, 7, len(data) // 3, data.find(b"\n") + 1, len(data) // 2, len(data)}):
        path.write_bytes(data[:end])
        if end > data.find(b"\n"):
            tract.import_transcript(path)
            assert lines_of(tract) == data[:end]
    with Tract.open() as other:
        other.import_transcript(SESSION)
        assert tract.compile() == other.compile()
        assert len(tract.find_tool_turns()) == len(other.find_tool_turns())


def test_a_file_that_changed_is_refused(tract: Tract, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(asked("one"), asked("two")))
    tract.import_transcript(path)
    for data in (jsonl(asked("one"), asked("three")), jsonl(asked("one"))):
        path.write_bytes(data)
        with pytest.raises(InputError, match="line 2 is not what was imported") as caught:
            tract.import_transcript(path)
        assert caught.value.position == 1
    other = tract.in_conversation("other")
    assert other.import_transcript(path).commits == 1


@pytest.mark.parametrize(
    "data",
    [
        jsonl(asked("one")) + b"not json\n\n" + jsonl(asked("two")),
        jsonl(asked("one")).strip(),
        jsonl(asked("one")) + b'{"role": "us',
        b"\xef\xbb\xbf" + jsonl(asked("one")),
        jsonl(asked("one")).replace(b"\n", b"\r\n") + jsonl(asked("two")),
        b'{"role":"user","content":"\\u0000 \\ud800","x":1.00,"x":2,"y":12345678901234567890123456}\n',
        b'{"role":"user","content":"one"}\n{"role":"user","content":"\xff"}\n',
        b'{"role":"user","content":"one"}\n' + b"[" * 10_000 + b"\n",
        b'{"role":"user","content":"one"}\n{"a":NaN}\n{"a":1e400}\n',
        b"\n \n" + jsonl(asked("one")) + b"\n\n",
    ],
)
def test_whatever_is_in_a_file_comes_out(tract: Tract, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    tract.import_transcript(path)
    assert lines_of(tract) == data
    assert tract.import_transcript(path).commits == 0
    assert tract.verify().is_whole
    assert tract.compile()[0]["role"] == "user"


def test_lines_that_hold_no_object_are_counted(tract: Tract, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(asked("one"), 1) + b"\nbad\n")
    assert counts(tract.import_transcript(path)) == ImportResult(4, 0, 4, 2)


def test_a_document_in_and_out(tract: Tract, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    body = {"model": "m", "messages": [asked("one"), {"role": "assistant", "content": "two"}]}
    path.write_text(json.dumps(body, indent=2))
    assert tract.import_transcript(path).commits == 3
    assert lines_of(tract) == path.read_bytes()
    assert tract.import_transcript(path).commits == 0
    body["messages"].append(asked("three"))  # type: ignore[attr-defined]
    path.write_text(json.dumps(body))
    assert counts(tract.import_transcript(path)) == ImportResult(3, 2, 2, 0)
    assert [message["content"] for message in tract.compile()] == ["one", "two", "three"]


def test_a_packed_file(tract: Tract, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl.gz"
    path.write_bytes(gzip.compress(SESSION.read_bytes()))
    tract.import_transcript(path)
    assert lines_of(tract) == SESSION.read_bytes()


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"no\nconversation\n", b"[1", jsonl({"messages": []}) * 2]
)
def test_a_file_that_is_no_conversation(tract: Tract, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError):
        tract.import_transcript(path)
    with pytest.raises(FileNotFoundError):
        tract.import_transcript(tmp_path / "none.jsonl")
    assert tract.log() == []


def test_progress(memory: Any, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(*(asked(str(number)) for number in range(1_201))))
    told: list[tuple[int, int]] = []
    tract = memory()
    tract.import_transcript(path, progress=lambda done, total: told.append((done, total)))
    assert told == [(500, 1_201), (1_000, 1_201), (1_201, 1_201)]


def test_an_import_that_broke_off_is_gone_on_with(memory: Any, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(*(asked(str(number)) for number in range(1_201))))
    tract = memory()

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tract.import_transcript(path, progress=stop)
    assert len(tract.log()) == 500
    tract.user("In between.")
    assert counts(tract.import_transcript(path)) == ImportResult(1_201, 500, 701, 0)
    assert lines_of(tract).count(b"\n") == 1_202


def test_an_error_in_a_later_batch(tmp_path: Path) -> None:
    """Batches are read ahead; a fault in one is reported after those before it are written, and no line is lost."""
    path = tmp_path / "session.jsonl"
    cut = {"role": "tool", "tool_call_id": "t1", "content": "line 1\n... [truncated]"}
    path.write_bytes(jsonl(*[asked(f"question {number}") for number in range(2 * BATCH)], cut))
    with Tract.open(on_truncated_write="raise") as strict:
        with pytest.raises(InputError, match="was already cut"):
            strict.import_transcript(path)
        assert len(strict.log()) == 2 * BATCH
        assert strict.verify().is_whole


def test_another_writes_between_two_batches(tmp_path: Path) -> None:
    """Lines that were read ahead are read again after the other writer's commits."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(*[asked(f"question {number}") for number in range(3 * BATCH)]))
    with Tract.open() as tract:
        other = tract.in_conversation("default")

        def write(done: int, _: int) -> None:
            if done == BATCH:
                other.user("in between")

        assert tract.import_transcript(path, progress=write).commits == 3 * BATCH
        assert len(tract.log()) == 3 * BATCH + 1
        kept = [line for line in lines_of(tract).splitlines() if b"in between" not in line]
        assert kept == path.read_bytes().splitlines()


def test_long_lines_next_to_short_ones(tract: Tract, tmp_path: Path) -> None:
    """Rows go to the store in batches of limited size in bytes."""
    path = tmp_path / "session.jsonl"
    texts = [f"{number} {'long ' * 150_000 * (number % 50 == 7)}" for number in range(250)]
    path.write_bytes(jsonl(*map(asked, texts)))
    assert tract.import_transcript(path).commits == 250
    assert lines_of(tract) == path.read_bytes()
    assert [message["content"] for message in tract.compile()] == texts


def test_messages_of_other_origin_are_exported_as_lines(tract: Tract, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(asked("one"))[:-1])
    tract.import_transcript(path)
    tract.assistant("two", tool_calls=[{"id": "t", "name": "Bash", "arguments": {}}])
    tract.tool_result("t", "Bash", "\ud800", is_error=True)
    tract.append_many([{"role": "user", "content": [{"type": "text", "text": "three"}]}])
    lines = [json.loads(line) for line in lines_of(tract).splitlines()]
    assert [line["role"] for line in lines] == ["user", "assistant", "tool", "user"]
    assert lines[2] == {"role": "tool", "tool_call_id": "t", "content": "\ud800", "is_error": True}


records = st.one_of(
    st.builds(asked, st.text(max_size=8)),
    st.just({"type": "summary"}),
    st.just(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}
    ),
).map(lambda record: json.dumps(record).encode())


@given(
    st.lists(st.one_of(records, st.binary(max_size=6)), min_size=1, max_size=8),
    st.lists(st.integers(0, 400), max_size=4),
)
def test_a_file_comes_out_however_it_grew(lines: list[bytes], ends: list[int]) -> None:
    data = b"\n".join([jsonl(asked("first")), *lines])
    with Tract.open() as tract, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "session.jsonl")
        for end in sorted({min(end, len(data)) for end in ends} | {len(data)}):
            path.write_bytes(data[:end])
            if end > len(jsonl(asked("first"))):
                tract.import_transcript(path)
                assert lines_of(tract) == data[:end]
        assert tract.verify().is_whole


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
LAST_LINES = [
    asked("two"),
    {"role": "user", "content": [IMAGE]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}, IMAGE],
    },
    {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"type": "user", "sessionId": "s", "message": asked("within")},
    [],
]


@pytest.mark.slow
@pytest.mark.parametrize("last", [json.dumps(each).encode() for each in LAST_LINES])
@pytest.mark.parametrize("around", [(b"", b""), (b" ", b"\r\n"), (b"", b"\n\n")])
def test_a_line_is_read_once_wherever_it_was_torn(
    tmp_path: Path, last: bytes, around: tuple[bytes, bytes]
) -> None:
    path = tmp_path / "session.jsonl"
    start = len(jsonl(asked("one")))
    data = jsonl(asked("one")) + around[0] + last + around[1]

    def taken_in(*ends: int) -> tuple[list[dict[str, Any]], bytes]:
        with Tract.open() as tract:
            for end in ends:
                path.write_bytes(data[:end])
                tract.import_transcript(path)
            return tract.compile(), lines_of(tract)

    at_once = taken_in(len(data))
    for end in range(start, len(data)):
        assert taken_in(end, len(data)) == at_once
        assert taken_in(end, (end + len(data)) // 2, len(data)) == at_once
    assert taken_in(*range(start, len(data) + 1)) == at_once


@pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="no real transcripts here")
def test_real_sessions() -> None:
    paths = sorted((TRANSCRIPTS / "claude_code").rglob("*.jsonl"))
    assert paths
    for path in paths:
        data = path.read_bytes()
        with Tract.open() as tract:
            try:
                tract.import_transcript(path)
            except InputError:
                with pytest.raises(InputError):
                    convert(data, to="anthropic")
                continue
            assert lines_of(tract) == data
            assert (
                tract.compile(style="anthropic")
                == convert(data, to="anthropic", repair=False).messages
            )
            assert tract.verify().is_whole
