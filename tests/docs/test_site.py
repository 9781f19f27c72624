"""The site: every page is in its navigation, every public name in its API pages, and the command line on its page."""

import re
from pathlib import Path

import pytest
from support.command_line import command_line_page

import toolcarry

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAVIGATION = ROOT / "mkdocs.yml"

pytestmark = pytest.mark.skipif(not NAVIGATION.exists(), reason="the tests run without the sources")


def test_every_page_is_in_the_navigation() -> None:
    shown = NAVIGATION.read_text("utf-8").partition("\nnav:\n")[2]
    pages = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]
    numbered = re.compile(r"decisions/\d{3}-")
    assert [page for page in pages if not numbered.match(page) and page not in shown] == []


def test_every_public_name_has_one_entry() -> None:
    entries = [
        name
        for page in sorted((DOCS / "reference" / "api").glob("*.md"))
        for name in re.findall(r"^::: toolcarry\.([\w.]+)$", page.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(entries) == len(set(entries))
    assert [name for name in toolcarry.__all__ if name not in entries] == []


@pytest.mark.usefixtures("rust")
def test_the_page_has_the_command_line() -> None:
    page = (DOCS / "reference" / "command-line.md").read_text("utf-8")
    assert page == command_line_page(), (
        "run: PYTHONPATH=tests python -m support.command_line > docs/reference/command-line.md"
    )


def test_the_decisions_are_few_and_short() -> None:
    folder = DOCS / "decisions"
    records = sorted(folder.glob("[0-9]*.md"))
    listed = re.findall(
        r"^- \[\d+\]\((\S+)\): (.+)$", (folder / "README.md").read_text("utf-8"), re.MULTILINE
    )
    texts = [record.read_text("utf-8") for record in records]
    assert listed == [
        (record.name, text.partition("\n")[0].removeprefix("# "))
        for record, text in zip(records, texts, strict=True)
    ]
    assert len(records) <= 15
    assert [
        record.name for record, text in zip(records, texts, strict=True) if len(text.split()) > 550
    ] == []
