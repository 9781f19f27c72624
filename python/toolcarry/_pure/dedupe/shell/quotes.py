"""Take quotes and expansions: where they end, and what of them is text or code.

What it does: adds quoted text to the word being read, opens the frames of `$(...)` and `${...}`,
and puts aside what is a script of its own (backticks) or may hold one (arithmetic).

What it guarantees: what never ends reaches to the end of the text.

What it leaves out: values. A placeholder stands where one will be.
"""

import re

from toolcarry._pure.dedupe.shell.scan import (
    BRACE,
    CODE,
    INNER_QUOTE,
    PAREN,
    QUOTE,
    QUOTED_BRACE,
    Scan,
)

PARENTHESIS = re.compile(r"\\.|[()]", re.DOTALL)


def take_escape(scan: Scan) -> None:
    """Take a backslash in commands: a continued line, or the next character as it is."""
    for newline in ("\n", "\r\n"):
        if scan.text.startswith(newline, scan.position + 1):
            scan.position += 1 + len(newline)
            return
    scan.add(scan.text[scan.position + 1 : scan.position + 2] or "\\")
    scan.code.is_quoted = True
    scan.position += 2


def take_text_escape(scan: Scan) -> None:
    """Take a backslash in text, where it stays before most characters."""
    following = scan.text[scan.position + 1 : scan.position + 2]
    if scan.frames[-1] == QUOTE and following != "\n":
        is_special = following in ("$", "`", '"', "\\")
        scan.add(following if is_special else "\\" + following)
    scan.position += 2


def take_single_quote(scan: Scan) -> None:
    """Take `'...'`, or what is left where it never ends."""
    end = scan.text.find("'", scan.position + 1)
    end = len(scan.text) if end < 0 else end
    if scan.frames[-1] == CODE:
        scan.add(scan.text[scan.position + 1 : end])
        scan.code.is_quoted = True
    scan.position = end + 1


def take_ansi_quote(scan: Scan) -> None:
    """Take `$'...'`, with its line breaks and tabs decoded."""
    start = scan.position + 2
    body, scan.position = unescape(scan.text, start, "'", "")
    if scan.frames[-1] == CODE:
        scan.add(body)
        scan.code.is_quoted = True


def take_backticks(scan: Scan) -> None:
    """Put the command between backticks aside."""
    escapes = '`\\$"' if scan.frames[-1] in (QUOTE, INNER_QUOTE) else "`\\$"
    body, scan.position = unescape(scan.text, scan.position + 1, "`", escapes)
    scan.nest(body, is_code=True)
    scan.add_expansion("$()")


def take_dollar(scan: Scan) -> None:
    """Take what a dollar sign begins."""
    kind = scan.frames[-1]
    following = scan.text[scan.position + 1 : scan.position + 2]
    if following == "(":
        scan.add_expansion("$()")
        if not take_arithmetic(scan, scan.position + 1):
            scan.open_code(2)
    elif following == "{":
        scan.add_expansion("$()")
        scan.open(BRACE if kind in (CODE, BRACE, PAREN) else QUOTED_BRACE, 2)
    elif following == "'" and kind in (CODE, BRACE, PAREN):
        take_ansi_quote(scan)
    elif following == '"' and kind == CODE:
        scan.position += 1
    else:
        scan.add_expansion("$")
        scan.position += 1


def take_arithmetic(scan: Scan, start: int) -> bool:
    """Take `((...))` where one begins at `start`; only substitutions in it are code."""
    end = scan.arithmetic.get(start)
    if end is None:
        return False
    scan.nest(scan.text[start + 2 : end - 1], is_code=False)
    scan.position = end + 1
    return True


def unescape(text: str, start: int, end: str, escapes: str) -> tuple[str, int]:
    r"""Read from `start` up to `end`; the text, and the position behind it.

    A backslash before one of `escapes` goes. Without `escapes` every one goes, and `\n` and `\t`
    are what they say.
    """
    parts: list[str] = []
    position = start
    while position < len(text):
        character = text[position]
        if character == end:
            return "".join(parts), position + 1
        if character == "\\":
            following = text[position + 1 : position + 2]
            if not escapes:
                parts.append({"n": "\n", "t": "\t"}.get(following, following))
            else:
                parts.append(following if following in tuple(escapes) else "\\" + following)
            position += 2
            continue
        parts.append(character)
        position += 1
    return "".join(parts), len(text)


def find_arithmetic(text: str) -> dict[int, int]:
    """Find where `((...))` begins and ends, by the parentheses alone.

    It is found beforehand, so that the scan never goes back where `((` is two subshells.
    """
    spans: dict[int, int] = {}
    opened: list[int] = []
    last_start = last_end = -1
    for found in PARENTHESIS.finditer(text) if "((" in text else ():
        position = found.start()
        if found.group() == "(":
            opened.append(position)
        elif found.group() == ")" and opened:
            start = opened.pop()
            if last_start == start + 1 and last_end == position - 1:
                spans[start] = position
            last_start, last_end = start, position
    return spans
