"""Every relative link of a page leads to a file, and its fragment to a heading there."""

import re
from pathlib import Path

from markdown_it import MarkdownIt
from support.rows import for_each

ROOT = Path(__file__).parents[2]


def pages() -> list[Path]:
    """Return the pages outside of the test data."""
    folders = (
        ROOT,
        ROOT / "docs",
        ROOT / "benches",
        ROOT / "fuzz",
        ROOT / "tests",
        ROOT / "examples",
        ROOT / "tests" / "cases",
    )
    found = {page for folder in folders for page in folder.glob("*.md")}
    return sorted(found | set((ROOT / "docs").rglob("*.md")))


def parts_of(page: Path) -> tuple[list[str], set[str]]:
    """Return the targets of a page's links, and the anchors of its headings as GitHub makes them."""
    links: list[str] = []
    anchors: set[str] = set()
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            words = re.sub(r"[^\w\- ]", "", following.content.lower())
            anchors.add(words.replace(" ", "-"))
        for child in token.children or ():
            links += [str(child.attrs[name]) for name in ("href", "src") if name in child.attrs]
    return links, anchors


@for_each("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_to_files_and_headings(page: Path) -> None:
    for link in parts_of(page)[0]:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: no such file"
        if fragment:
            assert fragment in parts_of(target)[1], f"{link}: no such heading"


def test_decisions_have_numbers_of_their_own() -> None:
    folder = ROOT / "docs" / "decisions"
    names = sorted(page.name for page in folder.glob("[0-9]*.md"))
    numbers = [name[:3] for name in names]
    assert len(numbers) == len(set(numbers)), names
    listed = [link for link in parts_of(folder / "README.md")[0] if re.match(r"\d{3}-", link)]
    assert listed == names
