"""Foreign text in a line of markdown: HTML, images and links in it are shown as text, and don't act.

A backslash is put only before what would act: a ``<`` that may open a tag or an automatic link, and the ``]`` between
a link's text and its destination. All else stays, so that most headings are the text itself.
"""

from __future__ import annotations

import re
from typing import Final

_ACTIVE: Final = re.compile(
    r"(\\*)"
    r"(<(?=[a-zA-Z/!?].*>)"  # a tag, a comment or another kind of HTML, or <http://...>
    r"|<(?=[^ <>]*@[^ <>]*>)"  # <name@example.org>
    r"|\](?=[(\[]))"
)
"""Backslashes before it would escape the one that is put in, and are doubled."""


def inert(line: str) -> str:
    """Return the markdown that shows ``line``.

    >>> inert("![seen](http://x.org/a.png)"), inert("a < b"), inert("<b>")
    ('![seen\\\\](http://x.org/a.png)', 'a < b', '\\\\<b>')
    """
    if "<" not in line and "]" not in line:
        return line
    return _ACTIVE.sub(r"\1\1\\\2", line)


def inert_item(line: str) -> str:
    """Return the markdown of a list item that shows ``line``, and begins no block of markdown."""
    shown = inert(line)
    first = shown[:1]
    is_plain = not first.isascii() or first.isalpha() or first in ("", "_", "\\")
    return shown if is_plain else "\\" + shown
