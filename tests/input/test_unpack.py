"""Compressed files and folders of events: gzip and Zstandard, size limits, and reports of damage."""

import gzip
import json
import tracemalloc
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.rows import for_each

from toolcarry import InputError
from toolcarry._input.archive import STEP, join_events, read_file, unpack, zstandard

SESSION: list[dict[str, Any]] = [
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "Look."}},
    {
        "type": "response_item",
        "payload": {
            "type": "local_shell_call",
            "call_id": "c1",
            "action": {"type": "exec", "command": ["ls", "-l"]},
        },
    },
    {
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
    },
]
LINES = b"".join(json.dumps(record).encode() + b"\n" for record in SESSION)


def zstd(data: bytes) -> bytes:
    checked = {zstandard().CompressionParameter.checksum_flag: 1}
    packed: bytes = zstandard().compress(data, options=checked)
    return packed


PACKERS = {"gz": gzip.compress, "zst": zstd}


@pytest.mark.parametrize("kind", PACKERS)
def test_a_packed_session_is_carried(api: ModuleType, tmp_path: Path, kind: str) -> None:
    plain, packed = tmp_path / "rollout.jsonl", tmp_path / f"rollout.jsonl.{kind}"
    plain.write_bytes(LINES)
    packed.write_bytes(PACKERS[kind](LINES))
    one, other = api.carry_files([plain, packed])
    assert one.text == other.text
    assert "### ls -l\n```\na.py\n```\n" in other.text
    assert one.report == other.report


@pytest.mark.parametrize("kind", PACKERS)
def test_the_name_does_not_matter(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "session"
    path.write_bytes(PACKERS[kind](LINES))
    assert read_file(path) == LINES
    assert unpack(LINES) == LINES


@pytest.mark.parametrize("kind", PACKERS)
def test_several_frames_are_one_file(kind: str) -> None:
    pack = PACKERS[kind]
    assert unpack(pack(b"one\n") + pack(b"") + pack(b"two\n")) == b"one\ntwo\n"


@pytest.mark.parametrize("kind", PACKERS)
def test_a_missing_end_loses_nothing_before_it(kind: str) -> None:
    data = b"".join(b'{"line": %d, "text": "%d"}\n' % (line, line**9) for line in range(20_000))
    packed = PACKERS[kind](data)
    found = unpack(packed[: len(packed) // 2])
    assert data.startswith(found)
    assert len(found) > len(data) // 8


@pytest.mark.parametrize("kind", PACKERS)
def test_damage_is_reported_with_its_offset(api: ModuleType, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rollout"
    numbers = b"".join(b"%d\n" % number**7 for number in range(50_000))
    packed = bytearray(PACKERS[kind](numbers))
    middle = len(packed) // 2
    packed[middle : middle + 40] = b"\xff" * 40
    path.write_bytes(packed)
    (error,) = api.carry_files([path])
    assert isinstance(error, InputError)
    assert "damaged" in str(error)
    assert error.position is not None


@pytest.mark.parametrize("kind", PACKERS)
def test_a_bomb_stops_at_the_cap(kind: str) -> None:
    bomb = PACKERS[kind](bytes(64 << 20))
    assert len(bomb) < 1 << 17
    tracemalloc.start()
    with pytest.raises(InputError, match="unpacks to more than 1,000,000 bytes"):
        unpack(bomb, limit=1_000_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 << 20


@pytest.mark.parametrize("kind", PACKERS)
def test_as_much_as_the_cap_is_allowed(kind: str) -> None:
    packed = PACKERS[kind](b"x" * 5_000)
    assert unpack(packed, limit=5_000) == b"x" * 5_000
    with pytest.raises(InputError):
        unpack(packed, limit=4_999)


def event_file(folder: Path, number: int, event: dict[str, Any], indent: int | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"event-{number:05d}-abc.json"
    path.write_text(json.dumps(event, indent=indent), encoding="utf-8")


ACTION = {
    "kind": "ActionEvent",
    "tool_name": "terminal",
    "tool_call_id": "c1",
    "tool_call": {"id": "c1", "name": "terminal", "arguments": '{"command": "make"}'},
}
OBSERVED = {
    "kind": "ObservationEvent",
    "tool_name": "terminal",
    "tool_call_id": "c1",
    "observation": {"content": [{"type": "text", "text": "built\nin a second"}], "is_error": False},
}


def test_a_folder_of_events_is_a_conversation(api: ModuleType, tmp_path: Path) -> None:
    event_file(tmp_path / "events", 100_000, OBSERVED, indent=2)
    event_file(tmp_path / "events", 99_999, ACTION)
    (tmp_path / "base_state.json").write_text("{}", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "events"):
        (carried,) = api.carry_files([folder])
        assert "### make\n```\nbuilt\nin a second\n```\n" in carried.text
        assert carried.report.orphan_calls == 0


def test_a_bad_event_stops_no_other(api: ModuleType, tmp_path: Path) -> None:
    event_file(tmp_path, 1, ACTION)
    (tmp_path / "event-00002-x.json").write_text('{"kind": "Obs', encoding="utf-8")
    event_file(tmp_path, 3, OBSERVED)
    (carried,) = api.carry_files([tmp_path])
    assert carried.report.skipped_lines == (2,)
    assert "built" in carried.text


def test_a_folder_without_events_is_not_one(api: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        join_events(tmp_path)
    (error,) = api.carry_files([tmp_path])
    assert isinstance(error, IsADirectoryError)


def test_zeros_and_skippable_frames_are_skipped() -> None:
    skipped = b"\x5a\x2a\x4d\x18\x03\0\0\0abc"
    assert unpack(skipped + zstd(b"one") + skipped + zstd(b"two") + skipped) == b"onetwo"
    assert (
        unpack(gzip.compress(b"one") + bytes(512) + gzip.compress(b"two") + bytes(512)) == b"onetwo"
    )


SIZES = [0, 1, 1_000, STEP - 1, STEP, STEP + 1, 2 * STEP]
"""Sizes around one step of output, where the end of a member and the end of a step coincide."""


@pytest.mark.timeout(20)
@for_each("size", SIZES)
@for_each("kind", PACKERS)
def test_members_are_read_one_after_the_other(kind: str, size: int) -> None:
    pack = PACKERS[kind]
    packed = pack(b"a" * size)
    assert unpack(packed + pack(b"next")) == b"a" * size + b"next"
    assert unpack(packed + packed + pack(b"")) == b"a" * 2 * size


@pytest.mark.timeout(20)
@for_each("size", SIZES)
@for_each("rest", [b"rest", b"\0\0rest", b"\x1f", b"\x1f\x8c", b"{}\n" * 50_000])
@for_each("kind", PACKERS)
def test_bytes_after_the_end_are_an_error_with_their_place(
    kind: str, rest: bytes, size: int
) -> None:
    packed = PACKERS[kind](b"a" * size)
    if kind == "gz" and rest == b"\x1f":  # another member that is being written
        assert unpack(packed + rest) == b"a" * size
        return
    with pytest.raises(InputError, match="from byte") as caught:
        unpack(packed + rest)
    zeros = len(rest) - len(rest.lstrip(b"\0")) if kind == "gz" else 0
    assert caught.value.position == len(packed) + zeros


@pytest.mark.timeout(20)
def test_padding_takes_linear_time() -> None:
    assert unpack(gzip.compress(b"one") + bytes(50_000_000)) == b"one"


@pytest.mark.parametrize("kind", PACKERS)
def test_a_bad_end_stops_no_other_file(api: ModuleType, tmp_path: Path, kind: str) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(PACKERS[kind](LINES))
    bad.write_bytes(PACKERS[kind](b"a" * STEP * 2) + b"rest")
    carried, error = api.carry_files([good, bad])
    assert "### ls -l" in carried.text
    assert isinstance(error, InputError)


@pytest.mark.parametrize("kind", PACKERS)
def test_an_empty_file_is_empty(kind: str) -> None:
    assert unpack(PACKERS[kind](b"")) == b""


@pytest.mark.parametrize("kind", PACKERS)
def test_many_small_frames(kind: str) -> None:
    """Each line is a frame of its own, as a log is written: the bytes after a frame are not copied for each frame."""
    assert unpack(PACKERS[kind](b"line\n") * 20_000) == b"line\n" * 20_000


def test_an_end_that_is_missing_at_once() -> None:
    for packed in (gzip.compress(b"one")[:6], zstd(b"one")[:5]):
        with pytest.raises(InputError, match="the end is missing"):
            unpack(packed)
