"""An interrupt at every moment of writing a file: the old one or the new one stays, whole, and nothing next to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.examples import IS_LONG
from support.interrupts import interrupted

from toolcarry.cli.batch import Job, batch_files
from toolcarry.cli.io import Output
from toolcarry.cli.rows import RowFile

pytestmark = [
    pytest.mark.usefixtures("rust"),
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning"
    ),  # an interrupted file is closed when it is collected
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
EVERY = 1 if IS_LONG else 11
FILES = ("cli/io.py", "cli/rows.py", "cli/replacement.py", "pathlib.py", "tempfile.py")


def at_every_moment(
    work: Callable[[], object], check: Callable[[], object], *files: str, every: int = 1
) -> int:
    """Interrupt ``work`` at one moment after another, check what it left, and return the number of moments."""
    step = 0
    while interrupted(work, step, *files):
        check()
        step += every
    check()
    return step


@pytest.mark.parametrize("old", [None, b"old"], ids=["a new file", "a file that is replaced"])
def test_an_output_is_old_or_new(tmp_path: Path, old: bytes | None) -> None:
    target = tmp_path / "out.md"

    def begin() -> None:
        target.unlink(missing_ok=True)
        if old is not None:
            target.write_bytes(old)

    def work() -> None:
        with Output(str(target)) as out:
            out.write(b"new")

    def check() -> None:
        found = [(path.name, path.read_bytes()) for path in tmp_path.iterdir()]
        assert found in ([("out.md", b"new")], [] if old is None else [("out.md", old)])
        begin()

    begin()
    assert at_every_moment(work, check, *FILES) > 30


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_rows_are_old_or_new(tmp_path: Path, name: str) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip(
            "pyarrow", reason="pyarrow is not installed; it is part of the extra batch"
        )
    target = tmp_path / name

    def work() -> None:
        with RowFile(target, {"file": str}) as rows:
            rows.write({"file": "one"})

    def check() -> None:
        assert [path.name for path in tmp_path.iterdir()] in ([], [name])
        target.unlink(missing_ok=True)

    assert at_every_moment(work, check, "cli/rows.py", "cli/replacement.py", "pathlib.py") > 30


def test_a_batch_resumes_after_every_interrupt(tmp_path: Path) -> None:
    """No file is without its row in the end, and none has two."""
    source, target = tmp_path / "in", tmp_path / "rows.jsonl"
    source.mkdir()
    for number in range(2):
        message = {"role": "user", "content": f"question {number}"}
        (source / f"{number}.json").write_text(json.dumps({"messages": [message]}))

    def work(*, is_resumed: bool) -> None:
        batch_files(
            [str(source)],
            job=Job("inspect"),
            out=str(target),
            jobs=1,
            since=None,
            is_resumed=is_resumed,
        )

    def check() -> None:
        left = {path.name for path in tmp_path.iterdir()} - {"in", "rows.jsonl"}
        assert left <= {"rows.jsonl.manifest.jsonl"}
        work(is_resumed=True)
        rows = [json.loads(line) for line in target.read_text().splitlines()]
        assert sorted(Path(row["file"]).name for row in rows) == ["0.json", "1.json"]

    files = ("cli/batch.py", "cli/rows.py", "cli/replacement.py")
    assert at_every_moment(lambda: work(is_resumed=True), check, *files, every=EVERY) > 30
    for path in tmp_path.glob("rows*"):
        path.unlink()
    assert at_every_moment(lambda: work(is_resumed=False), check, *files, every=EVERY) > 30
