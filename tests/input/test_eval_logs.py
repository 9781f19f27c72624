"""Logs of Inspect AI (``.eval``): zip files with a JSON document for each sample, packed with Zstandard."""

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from support.builders.producers import ANSWER, sample
from support.rows import for_each

import toolcarry
from toolcarry import InputError
from toolcarry._input.archive import zstandard
from toolcarry._input.eval_log import ZSTANDARD_METHOD

HEADER = b'{"version": 2, "status": "success", "eval": {"model": "m"}}\n'
SAMPLE = json.dumps(sample("inspect_ai")[0]["samples"][0]).encode()


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file. ``zipfile`` writes Zstandard from Python 3.14 on, so its number is put in afterwards."""
    is_zstandard = method == ZSTANDARD_METHOD
    file = BytesIO()
    known = method if method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", known) as log:
        for name, data in members.items():
            log.writestr(name, zstandard().compress(data) if is_zstandard else data)
    found = bytearray(file.getvalue())
    number = method.to_bytes(2, "little")
    with zipfile.ZipFile(BytesIO(found)) as log:
        at = log.start_dir
        for member in log.infolist():
            found[member.header_offset + 8 : member.header_offset + 10] = number
            found[at + 10 : at + 12] = number
            at += 46 + len(member.filename.encode())
    return bytes(found)


def named(count: int) -> dict[str, bytes]:
    return {"_journal/start.json": HEADER, **{f"samples/{number}_epoch_1.json": SAMPLE for number in range(1, count + 1)}, "header.json": HEADER}  # fmt: skip


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD_METHOD])
def test_the_only_sample_is_read(
    api: ModuleType, rust: ModuleType, tmp_path: Path, method: int
) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zipped(named(1), method))
    found = rust.inspect(path)
    assert (found.shape, found.calls, found.results, found.errors) == ("inspect-ai", 2, 2, 1)
    (carried,) = toolcarry.carry_files([path])
    assert ANSWER in carried.text


def test_one_of_several_samples_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zipped(named(3)))
    for name, reason in ((path, "contains 3 samples; .*: 1_epoch_1, 2_epoch_1, 3_epoch_1"), (f"{path}#9", "has no sample '9'")):  # fmt: skip
        with pytest.raises(InputError, match=reason):
            toolcarry.Conversation.of(Path(name))
    assert len(toolcarry.extract_tool_blocks(Path(f"{path}#2_epoch_1"))) == 2


def test_a_run_that_goes_on_has_its_header_in_the_journal(tmp_path: Path) -> None:
    members = named(1)
    del members["header.json"]
    path = tmp_path / "log.eval"
    path.write_bytes(zipped(members))
    assert len(toolcarry.extract_tool_blocks(path)) == 2


@pytest.mark.parametrize("header", [b"{}", b' {"version": 2} '])
def test_a_header_without_the_run(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zipped({**named(1), "header.json": header}))
    assert len(toolcarry.extract_tool_blocks(path)) == 2
    assert toolcarry.inspect(path).shape == "inspect-ai"


@for_each(
    ("data", "reason"),
    [
        (zipped({"header.json": b"[]", "samples/1.json": SAMPLE}), "whose header is no object"),
        (zipped({"a.txt": b"hi"}), "not a log of Inspect AI"),
        (zipped({"header.json": HEADER}), "not a log of Inspect AI"),
        (zipped(named(1))[:-30], "damaged zip file"),
        (b"PK\x03\x04" + bytes(40), "damaged zip file"),
        (zipped(named(1), 97), "unknown compression 97"),
        (zipped({"header.json": HEADER, "samples/1.json": b"not JSON"}), "not JSON"),
        (zipped({"header.json": b"", "samples/1.json": SAMPLE}), "not JSON"),
    ],
)
def test_other_zip_files_are_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(data)
    with pytest.raises(InputError, match=reason):
        toolcarry.carry(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD_METHOD])
def test_damaged_bytes_are_never_a_traceback(tmp_path: Path, method: int) -> None:
    whole = zipped(named(2), method)
    path = tmp_path / "log.eval"
    for at in range(4, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            toolcarry.carry(Path(f"{path}#1_epoch_1"))
        except InputError:
            continue


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from toolcarry._input import eval_log

    monkeypatch.setattr(eval_log, "MAX_UNPACKED", 1_000)
    members = {"header.json": HEADER, "samples/1.json": bytes(5_000)}
    path = tmp_path / "log.eval"
    for method in (zipfile.ZIP_DEFLATED, ZSTANDARD_METHOD):
        path.write_bytes(zipped(members, method))
        with pytest.raises(InputError, match=r"too large|more than 1,000 bytes"):
            toolcarry.Conversation.of(path)
