"""Docstrings as the site shows them: an example is a block of code, and entries are a list."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRIES = re.compile(r"^``\w+``: .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"``\w+``: ")


class Docstrings(Extension):
    """Puts each example of a docstring into a fence, and each run of entries, ``name``: meaning, into a list."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring:
            text = ENTRIES.sub(as_list, obj.docstring.value)
            obj.docstring.value = EXAMPLE.sub(r"\n```pycon\n\g<0>\n```\n", text)


def as_list(entries: re.Match[str]) -> str:
    """Return a run of entries as a list in Markdown."""
    lines = entries.group().splitlines()
    marked = [f"- {line}" if ENTRY.match(line) else f"    {line.strip()}" for line in lines]
    return "\n" + "\n".join(marked)
