"""Make the picture of a report for the README: ``PYTHONPATH=tests python -m support.report_image FILE.png``."""

from __future__ import annotations

import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from support.browser import browser
from support.builders.claude_session import claude_session

from toolcarry.cli import main

WIDTH, HEIGHT = 1_000, 2_180


def make(image: Path) -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        Path(folder, "session.jsonl").write_bytes(claude_session())
        with chdir(folder):  # the page names the file
            code = main(["report", "session.jsonl", "-o", str(page)])
        if code:
            sys.exit(code)
        with browser(Path(folder, "profile")) as opened:
            opened.open(page, width=WIDTH)
            opened.screenshot(image, height=HEIGHT)


if __name__ == "__main__":
    make(Path(sys.argv[1]).absolute())
