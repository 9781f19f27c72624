"""``carry_table`` and ``inspect_table``: rows of Arrow tables, equal to those of ``toolcarry batch``."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from toolcarry import CarryPolicy, ConfigError
from toolcarry.cli import main
from toolcarry.tables import carry_table, inspect_table

pa = pytest.importorskip(
    "pyarrow", reason="pyarrow is not installed; it is part of the extra batch"
)
EXAMPLE = Path(__file__).parents[2] / "examples" / "session.jsonl"

pytestmark = [
    pytest.mark.slow,  # the core suite has no pyarrow
    pytest.mark.usefixtures("rust"),
]

HELLO = '[{"role": "user", "content": "hi"}]'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a session, a packed one, and files that are no conversations."""
    made = tmp_path / "in"
    made.mkdir()
    (made / "a.jsonl").write_bytes(EXAMPLE.read_bytes())
    (made / "b.jsonl.gz").write_bytes(gzip.compress(EXAMPLE.read_bytes()))
    (made / "c.json").write_text(HELLO)
    for name, text in (("bad", "{"), ("blank", " \n"), ("empty", ""), ("nothing", "{ }"), ("long", "x" * 900)):  # fmt: skip
        (made / f"{name}.json").write_text(text)
    (made / "wrong.json.gz").write_bytes(b"\x1f\x8b\x08broken")
    return made


def paths_of(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.iterdir())]


def batch_rows(folder: Path, job: str, *args: str, names: list[str]) -> list[dict[str, object]]:
    out = folder.parent / f"{job}.jsonl"
    main(["batch", *names, "--job", job, "--out", str(out), *args])
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_rows_of_paths_are_those_of_batch(folder: Path) -> None:
    names = [*paths_of(folder), str(folder.parent / "absent.json")]
    table = pa.table({"path": names})
    assert inspect_table(table).to_pylist() == batch_rows(folder, "inspect", names=names)
    policy = CarryPolicy(max_chars=900)
    carried = carry_table(table, policy=policy, threads=3)
    assert carried.to_pylist() == batch_rows(folder, "carry", "--max-chars", "900", names=names)
    assert carried["error"].null_count == 3


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string()])  # fmt: skip
def test_rows_of_contents_are_those_of_paths(folder: Path, kind: pa.DataType) -> None:
    is_text = kind in (pa.string(), pa.large_string())
    names = [name for name in paths_of(folder) if not (is_text and name.endswith(".gz"))]
    contents = [Path(name).read_bytes() for name in names]
    column = pa.array([each.decode() if is_text else each for each in contents], kind)
    for function in (carry_table, inspect_table):
        found = function(pa.table({"content": column, "path": names})).drop_columns(["modified"])
        expected = function(pa.table({"path": names})).drop_columns(["modified"])
        assert found.to_pylist() == expected.to_pylist()
        assert found.schema == expected.schema


def test_a_parquet_file_of_batch_has_the_same_columns(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = folder.parent / "rows.parquet"
    names = paths_of(folder)
    assert main(["batch", *names, "--job", "carry", "--out", str(out)]) == 1
    assert parquet.read_table(out) == carry_table(pa.table({"path": names}))


def test_a_bad_row_stops_no_other_row() -> None:
    table = pa.table({"content": [HELLO, None, "{", "", HELLO], "path": ["a", "b", None, "d", "e"]})
    rows = carry_table(table).to_pylist()
    assert [row["file"] for row in rows] == ["a", "b", None, "d", "e"]
    assert [row["size"] for row in rows] == [len(HELLO), None, 1, 0, len(HELLO)]
    assert [row["error"] is None for row in rows] == [True, False, False, False, True]
    assert (rows[1]["error"], rows[3]["error"]) == ("is null", "is empty")
    rows = carry_table(pa.table({"path": [None, "", "a\0b", "no/file", "."]})).to_pylist()
    assert [row["error"] for row in rows[:4]] == ["no such file"] * 4
    assert rows[4]["error"] == "is a directory without events"


def test_other_columns_stay_and_names_may_differ() -> None:
    batches = [{"id": [1, 2], "bytes": [HELLO, "{"]}, {"id": [], "bytes": []}, {"id": [3], "bytes": [HELLO]}]  # fmt: skip
    schema = pa.schema([("id", pa.int32()), ("bytes", pa.string())])
    table = pa.concat_tables([pa.table(each, schema) for each in batches])
    found = inspect_table(table, content="bytes")
    assert found.column_names[:5] == ["id", "file", "size", "modified", "error"]
    assert found["id"].to_pylist() == [1, 2, 3]
    assert found["messages"].to_pylist() == [1, None, 1]
    empty = inspect_table(table.slice(0, 0), content="bytes")
    assert (empty.num_rows, empty.schema) == (0, found.schema)


def test_a_record_batch_and_a_reader_are_tables() -> None:
    batch = pa.record_batch({"content": [HELLO]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    assert inspect_table(batch) == inspect_table(reader) == inspect_table(pa.table(batch))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([{"content": HELLO}], "list is not allowed; allowed: an object with __arrow_c_stream__"),
        (pa.table({"a": [1], "b": [2]}), "has no column 'content' or 'path'; it has a, b"),
        (pa.table({"content": [1]}), "column 'content': int64 is not allowed; allowed: binary, string"),
        (pa.table({"path": [b"a"]}), "column 'path': binary is not allowed; allowed: string"),
        (pa.table({"path": ["a"], "text": ["b"]}), "column 'text': the result has a column with this name"),
        (pa.table([["a"], [1], [2]], ["path", "x", "x"]), "column 'x': appears twice; rename one of them"),
    ],
)  # fmt: skip
def test_other_tables_are_refused(table: object, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        carry_table(table)  # type: ignore[arg-type]
    assert reason in str(caught.value)


@pytest.mark.parametrize("threads", [0, -1, True, 1.5])
def test_threads_are_checked(threads: int) -> None:
    with pytest.raises(ConfigError, match="threads"):
        carry_table(pa.table({"content": [HELLO]}), threads=threads)


def test_the_examples_of_the_docstrings() -> None:
    import doctest

    from toolcarry import tables

    assert doctest.testmod(tables) == (0, 5)


def test_without_pyarrow_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import toolcarry.tables\n"
        "try: toolcarry.tables.carry_table(object())\n"
        "except toolcarry.ConfigError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'toolcarry[batch]'" in done.stdout


def test_importing_the_package_does_not_import_pyarrow() -> None:
    code = "import sys, toolcarry.tables; toolcarry.tables.carry_table; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
