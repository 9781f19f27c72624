"""``toolcarry formats``: list every format that is read."""

from __future__ import annotations

import sys

from toolcarry.cli.io import Output, json_line
from toolcarry.cli.terminal import render
from toolcarry.importers.catalog import FORMATS, as_markdown


def list_formats(*, is_json: bool, is_markdown: bool) -> int:
    """Write the catalog and return the exit code."""
    out = Output()
    if is_json:
        for each in FORMATS:
            out.write(json_line(each.to_dict()))
    elif is_markdown:
        out.write(as_markdown().encode())
    else:
        from toolcarry.cli.tables import format_table  # noqa: PLC0415 - imports rich

        out.draw(render([format_table(FORMATS)], sys.stdout).encode())
    return 0
