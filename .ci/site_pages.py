"""Hooks of MkDocs: add pages from outside of docs/, mend links and file names, and write llms.txt.

Pages such as SECURITY.md stay where GitHub looks for them, and are pages of the site, too. A link to a file that is no
page of the site, such as a test, becomes its path. MkDocs itself reports links that lead nowhere.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "project/security.md",
    "benches/README.md": "compare/benchmarks.md",
    "benches/fidelity/curve.png": "compare/curve.png",
    "fuzz/README.md": "project/fuzzing.md",
    "tests/cases/README.md": "project/cases.md",
}
"""The path of a file in the repository, and of its page in the site."""

INSIDE = {page: path for path, page in OUTSIDE.items() if path != "README.md"}
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s]+)\)")
NAMED = re.compile(r"^<!-- file: (\S+) -->\n```(\w+)$", re.MULTILINE)
ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and pictures from outside of docs/."""
    for page, path in INSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Show the names of files above their contents, and lead links to the pages of the site."""
    uri = page.file.src_uri
    if uri == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    text, done = [], 0
    for fence in FENCE.finditer(markdown):
        text += [mended(markdown[done : fence.start()], uri), fence.group()]
        done = fence.end()
    text.append(mended(markdown[done:], uri))
    return NAMED.sub(r'```\2 title="\1"', "".join(text))


def mended(text: str, uri: str) -> str:
    """Return a text of a page with its links as the site needs them."""
    source = INSIDE.get(uri, f"docs/{uri}")

    def link(found: re.Match[str]) -> str:
        words, target = found.groups()
        path, _, fragment = target.partition("#")
        if not path or ":" in path:
            return found.group()
        in_repository = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if in_repository in OUTSIDE:
            leads_to = OUTSIDE[in_repository]
        elif in_repository.startswith("docs/") or not (ROOT / in_repository).exists():
            leads_to = in_repository.removeprefix("docs/")
        else:
            return words if words == in_repository else f"{words} (`{in_repository}`)"
        relative = posixpath.relpath(leads_to, posixpath.dirname(uri) or ".")
        return f"[{words}]({relative}{'#' if fragment else ''}{fragment})"

    return ROW.sub(with_bars, LINK.sub(link, text))


def with_bars(row: re.Match[str]) -> str:
    """Return a row of a table with the bars in its code as Python's Markdown reads them; GitHub needs a backslash."""
    return CODE.sub(lambda code: code.group().replace(r"\|", "|"), row.group())


def on_nav(nav: Any, config: Any, **_: Any) -> Any:
    """Remember the pages in the order of the navigation."""
    config["extra"]["pages"] = nav.pages
    return nav


def on_post_build(config: Any) -> None:
    """Write llms.txt: a line for each page."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    lines += [f"- [{page.title}]({page.url})" for page in config["extra"]["pages"]]
    Path(config.site_dir, "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")
