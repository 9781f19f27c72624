"""The recipes of docs/how-to/read-many-sessions.md run on the local runners of the engines, and give the rows of ``toolcarry batch``."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from toolcarry.cli import main

ROOT = Path(__file__).parents[2]
RECIPE = re.compile(r"^<!-- needs: (\S+) -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPES = RECIPE.findall((ROOT / "docs" / "how-to" / "read-many-sessions.md").read_text("utf-8"))

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rust")]


@pytest.mark.timeout(600)  # some engines start slowly
@pytest.mark.filterwarnings("default")  # theirs are not ours
@pytest.mark.parametrize(("needed", "code"), RECIPES, ids=[name for name, _ in RECIPES])
def test_a_recipe(needed: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = needed.partition(".")[0]
    pytest.importorskip(needed, reason=f"{engine} is not installed; `just tables` installs it")
    if engine == "pyspark" and shutil.which("java") is None:
        pytest.skip("java is not installed")
    examples = tmp_path / "examples"
    examples.mkdir()
    session = (ROOT / "examples" / "session.jsonl").read_bytes()
    (examples / "a.jsonl").write_bytes(session)
    (examples / "b.jsonl.gz").write_bytes(gzip.compress(session))
    (examples / "bad.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # Ray would write a token into the home folder
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    namespace: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(code, "docs/how-to/read-many-sessions.md", "exec"), namespace)
    if "examples/" not in code:
        shown = code.rpartition("  # ")[2]
        assert namespace["found"].slice(0, 1).to_pylist() == eval(shown)
        return
    assert main(["batch", "examples", "--job", "inspect", "--out", "rows.jsonl"]) == 1
    expected = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert len(expected) == 3
    assert rows_in(namespace["found"], "content" in code) == [
        row | {"modified": None} if "content" in code else row for row in expected
    ]


def rows_in(found: Any, is_content: bool) -> list[dict[str, Any]]:
    """Return the rows of a table; of contents, the time of their files is not known."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = pa.table(found).to_pylist()
    assert all(row["modified"] is None for row in rows) or not is_content
    return sorted(rows, key=lambda row: str(row["file"]))
