"""Importers of other packages: the complete example of the how-to page is built, installed and used."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from flit_core import buildapi
from support.rows import for_each

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-an-importer.md"


def blocks(language: str) -> list[str]:
    """The code blocks of the page in a language."""
    found = PAGE.read_text("utf-8").split(f"```{language}\n")[1:]
    return [each.partition("```")[0] for each in found]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for packages with the example in it, as its own build makes it."""
    project, site = tmp_path / "project", tmp_path / "site"
    project.mkdir()
    (project / "pyproject.toml").write_text(*blocks("toml"))
    (project / "acme_importer.py").write_text(*blocks("python"))
    monkeypatch.chdir(project)
    wheel = buildapi.build_wheel(str(tmp_path))
    with zipfile.ZipFile(tmp_path / wheel) as file:
        file.extractall(site)
    return site


USE = """
import logging, sys, pathlib
logging.basicConfig(format="%(message)s")
import toolcarry
from toolcarry import metrics
found = pathlib.Path(sys.argv[1])
print([(each.tool_name, each.tool_result["gave"]) for each in toolcarry.extract_tool_blocks(found)])
print(toolcarry.carry(found).report.shown, metrics.process_counts()["importers_left_out"])
from toolcarry.importers.catalog import FORMATS
print([each.producer for each in FORMATS if each.name == "acme"])
for wrong in ({}, [1], 1, None):
    run = {"event": "run", "by": wrong, "run_id": wrong, "tool": wrong, "given": wrong}
    toolcarry.carry([run, {"event": "ran", "run_id": wrong, "gave": wrong}, {"event": "ask", "by": wrong}])
"""


def run(site: Path, tmp_path: Path, backend: str) -> subprocess.CompletedProcess[str]:
    """Use the package in a new process, on the file of the page."""
    log = tmp_path / "log.jsonl"
    log.write_text(*blocks("json"))
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n{USE}"
    return subprocess.run(
        [sys.executable, "-c", code, str(log)],
        capture_output=True, text=True, check=True, env={"TOOLCARRY_BACKEND": backend},
    )  # fmt: skip


@pytest.mark.parametrize("backend", ["python", pytest.param("rust", marks=pytest.mark.rust)])
def test_the_example_of_the_page(site: Path, tmp_path: Path, backend: str) -> None:
    found = run(site, tmp_path, backend)
    assert found.stdout.splitlines() == [
        "[('shell', 'a.py')]",
        "1 0",
        "['Acme, ~/.acme/*.jsonl']",
    ]
    assert found.stderr == ""


BROKEN = {
    "NAME = 7": "NAME must be a str",
    "SIGNS = ()": "SIGNS must be a Signs",
    "SIGNS = Signs(('é',))": "SIGNS must be ASCII",
    "del claims, call": "has no function claims, call",
    "raise ValueError('no such day')": "no such day",
}


@for_each("line", BROKEN)
def test_a_broken_importer_is_left_out(site: Path, line: str) -> None:
    (whole,) = blocks("python")
    (site / "acme_importer.py").write_text(f"{whole}\n{line}\n", "utf-8")
    code = run_broken(site)
    assert code.stdout.splitlines() == ["1"]
    assert code.stderr == f"importer acme (acme_importer) is ignored: {BROKEN[line]}\n"


def run_broken(site: Path) -> subprocess.CompletedProcess[str]:
    code = f"""
import logging, sys
sys.path.insert(0, {str(site)!r})
logging.basicConfig(format="%(message)s")
import toolcarry
from toolcarry import metrics
assert toolcarry.carry([{{"run_id": 1}}]).report.unread
print(metrics.process_counts()["importers_left_out"])
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_the_lines_of_the_page_are_json() -> None:
    (lines,) = blocks("json")
    assert [json.loads(line)["event"] for line in lines.splitlines()] == ["ask", "run", "ran"]
