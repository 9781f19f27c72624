"""``toolcarry formats``, and the table of docs/reference/formats.md, which is its output."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from toolcarry.cli.app import app
from toolcarry.importers.catalog import FORMATS, as_markdown
from toolcarry.importers.producers import IMPORTERS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "formats.md"


def run(*options: str) -> str:
    done = CliRunner().invoke(app, ["formats", *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_page_has_the_table() -> None:
    assert as_markdown() in PAGE.read_text("utf-8"), "run `toolcarry formats --markdown`"
    assert run("--markdown") == as_markdown()


def test_the_readme_counts_the_formats() -> None:
    assert f"[{len(FORMATS)} formats]" in (ROOT / "README.md").read_text("utf-8")


def test_one_line_of_json_per_format() -> None:
    lines = [json.loads(line) for line in run("--json").splitlines()]
    assert [line["name"] for line in lines] == [each.name for each in FORMATS]
    assert all(line["producer"] and line["recognised_by"] and line["tested_with"] for line in lines)


def test_the_table_names_every_importer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = run()
    assert all(importer.NAME in shown for importer in IMPORTERS)


def test_names_are_given_once() -> None:
    names = [each.name for each in FORMATS]
    assert len(set(names)) == len(names)


def test_only_one_form_of_output() -> None:
    assert CliRunner().invoke(app, ["formats", "--json", "--markdown"]).exit_code == 2
