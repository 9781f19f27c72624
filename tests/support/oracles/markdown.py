"""A context as a CommonMark parser reads it."""

from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

SECTIONS = (
    "Summary",
    "Plan",
    "Open Failures",
    "Earlier",
    "Files Read",
    "Files Changed",
    "Commands Executed",
    "Other Tools",
    "Latest Steps",
    "Left Out",
)
OPEN, CLOSE = "[CONTEXT FROM PREVIOUS SESSION]", "[/CONTEXT FROM PREVIOUS SESSION]"

PARSER = MarkdownIt("commonmark", {"maxNesting": 1_000})


class Shown(NamedTuple):
    """A block in a context: its section, its heading as written, and the code blocks below it."""

    section: str
    heading: str
    fences: list[tuple[str, str]]


def tokens(text: str) -> list[Token]:
    return PARSER.parse(text)


def outline(text: str) -> list[tuple[str, str, str, str]]:
    """Every token as plain values."""
    return [(token.type, token.tag, token.info, token.content) for token in tokens(text)]


def sections(text: str) -> list[str]:
    """The headings of level two at the outermost level, in order."""
    found = tokens(text)
    return [
        following.content
        for token, following in pairwise(found)
        if token.type == "heading_open" and token.tag == "h2" and token.level == 0
    ]


def shown_blocks(text: str) -> list[Shown]:
    """The blocks of a context without summary."""
    lines = text.split("\n")
    section, blocks = "", []
    for token, following in pairwise(tokens(text)):
        if token.type == "heading_open" and token.tag == "h2":
            section = following.content
        elif token.type == "heading_open":
            assert token.tag == "h3", token
            assert token.map is not None
            blocks.append(Shown(section, lines[token.map[0]].removeprefix("### "), []))
        elif token.type == "fence":
            assert token.level == 0
            blocks[-1].fences.append((token.info, token.content))
    return blocks


def lines_between(text: str, first: str, last: str) -> list[str]:
    """Return the lines after the line ``first`` and before the next line ``last``."""
    lines = text.split("\n")
    start = lines.index(first) + 1
    return lines[start : lines.index(last, start)]
