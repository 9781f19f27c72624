"""Shorten JSON inside of its texts and arrays, so that it stays JSON with all of its keys, numbers and short values.

Lines of JSON are shortened as the items of an array are. The text is read into spans and never decoded: what stays is
spelled as it was.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from toolcarry.fallback.shorten.kinds import ERRORS
from toolcarry.types.values import CutSide

_TOKEN: Final = re.compile(
    r'[ \t\r\n]*(?:([{}\[\],:])|("(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")'
    r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))"
)
_OPEN: Final = re.compile(r"[ \t\r\n]*(?=[{\[])")
_NEXT: Final = re.compile(r"[ \t\r]*\n[ \t\r\n]*(?=[{\[])")
_END: Final = re.compile(r"[ \t\r\n]*\Z")
_UNIT: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_STEPS: Final = (
    (100, 4_000),
    (50, 2_000),
    (30, 1_000),
    (20, 500),
    (10, 300),
    (6, 150),
    (4, 80),
    (3, 40),
    (2, 20),
)
"""The items of an array and the characters of a text that stay, from the most to the least."""
_DEEPEST: Final = 64


class _Node(NamedTuple):
    """A value: where it begins and ends, and its members or items. ``is_text`` is true for a text.

    Several values on lines of their own are the items of a list without brackets.
    """

    start: int
    end: int
    items: list[_Node]
    is_list: bool
    is_text: bool
    has_lines: bool = False


def shorten_json(text: str, room: int, side: CutSide) -> tuple[str, str, str, str] | None:
    r"""Return an object or an array in at most ``room`` characters, in two parts with a place for a marker between them, and
    what stands before and after a marker that is a part of it.

    So are objects and arrays on lines of their own if a cut would leave the first ones (``side``); the marker and the
    gaps are lines of JSON, too. ``None`` for any other text, or one that is still too long without most of its texts and
    items.

    >>> shorten_json('{"out": "' + "x" * 90 + '", "exitCode": 0}', 100, "head")
    ('{"out": "xxxxxxxxxx... 70 more characters ...xxxxxxxxxx", "exitCode": 0', '}', ',"toolcarry":"', '"')
    """
    tree = _read(text, has_lines=side == "head")
    if tree is None or not tree.items:
        return None
    opened = '\n"' if tree.has_lines else ',"' if tree.is_list else ',"toolcarry":"'
    for items, chars in _STEPS:
        parts: list[str] = []
        _write(text, tree, items, chars, parts)
        whole = "".join(parts)
        after = "" if tree.has_lines else whole[-1]
        before = whole if tree.has_lines else whole[:-1].rstrip(" \t\r\n")
        if len(before) + len(opened) + 1 + len(after) <= room:
            return before, after, opened, '"'
    return None


def _read(text: str, *, has_lines: bool) -> _Node | None:
    """Return the tree of a text that is an object or an array in JSON, or lines of these; ``None`` for any other text."""
    values: list[_Node] = []
    start = _OPEN.match(text)
    while start is not None:
        found = _value(text, start.end(), 0)
        if found is None:
            return None
        values.append(found)
        if _END.match(text, found.end):
            is_one = len(values) == 1
            return found if is_one else _Node(values[0].start, found.end, values, True, False, True)
        start = _NEXT.match(text, found.end) if has_lines else None
    return None


def _value(text: str, at: int, depth: int) -> _Node | None:
    token = _TOKEN.match(text, at)
    if token is None or depth > _DEEPEST:
        return None
    sign = token[1]
    if sign is None:
        return _Node(
            token.start(token.lastindex or 0), token.end(), [], False, token[2] is not None
        )
    if sign not in "{[":
        return None
    close = "}" if sign == "{" else "]"
    start, at = token.start(1), token.end()
    items: list[_Node] = []
    token = _TOKEN.match(text, at)
    if token is not None and token[1] == close:
        return _Node(start, token.end(), items, sign == "[", False)
    while True:
        if sign == "{":
            key = _TOKEN.match(text, at)
            colon = None if key is None or key[2] is None else _TOKEN.match(text, key.end())
            if colon is None or colon[1] != ":":
                return None
            at = colon.end()
        item = _value(text, at, depth + 1)
        token = None if item is None else _TOKEN.match(text, item.end)
        if item is None or token is None:
            return None
        items.append(item)
        at = token.end()
        if token[1] == close:
            return _Node(start, at, items, sign == "[", False)
        if token[1] != ",":
            return None


def _write(text: str, node: _Node, items: int, chars: int, parts: list[str]) -> None:
    """Write a value. Longer arrays and strings than the two limits are shortened."""
    if node.is_text:
        parts.append(_text(text[node.start : node.end], chars))
        return
    shown = _shown_items(text, node, items) if node.is_list else range(len(node.items))
    at, before = node.start, -1
    for index in shown:
        item = node.items[index]
        if index > before + 1:
            first = node.items[before + 1].start
            parts += text[at:first], _gap(index - before - 1)
            at = node.items[index - 1].end
        parts.append(text[at : item.start])
        _write(text, item, items, chars, parts)
        at, before = item.end, index
    rest = len(node.items) - before - 1
    if rest:
        first = node.items[before + 1].start
        parts += text[at:first], _gap(rest)
        at = node.items[-1].end
    parts.append(text[at : node.end])


def _shown_items(text: str, node: _Node, most: int) -> list[int]:
    """Return the indices of the items that stay: the first ones, and as many that speak of errors."""
    shown = list(range(min(most, len(node.items))))
    errors = 0
    for index in range(len(shown), len(node.items)):
        if errors == most:
            break
        item = node.items[index]
        if any(word in text[item.start : item.end] for word in ERRORS):
            shown.append(index)
            errors += 1
    return shown


def _gap(count: int) -> str:
    return f'"... {count:,} more item{"s" if count > 1 else ""}"'


def _text(quoted: str, chars: int) -> str:
    """Return a text in quotes with both ends of it, if it is much longer than it may be."""
    inner = quoted[1:-1]
    if len(inner) <= chars + 40:
        return quoted
    units = _UNIT.findall(inner)
    half = chars // 2
    left = len(units) - 2 * half
    if left <= 0:
        return quoted
    head, tail = "".join(units[:half]), "".join(units[len(units) - half :])
    return f'"{head}... {left:,} more characters ...{tail}"'
