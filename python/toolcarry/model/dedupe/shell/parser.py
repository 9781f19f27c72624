"""Scan a script and every script inside it.

One script is scanned to its end, then the scripts that the scan put aside (backticks, `bash -c`, `eval`, a
here-document for a shell, arithmetic), from an explicit stack: there is an answer for any text, without recursion. Code
that is nested deeper than `MAX_SCRIPTS` scripts, or `MAX_FRAMES` brackets in one script, is ignored.
"""

from __future__ import annotations

import re

from toolcarry.model.dedupe.shell.lexer import (
    CODE,
    TEXT,
    Scan,
    end_command,
    find_arithmetic,
    step_code,
    step_text,
)

MAX_SCRIPTS = 16
MAX_FRAMES = 100

_SURROGATE = re.compile("[\ud800-\udfff]")


def run(scan: Scan) -> bool:
    """Read the whole script, and return true if a command in it writes."""
    size = len(scan.text)
    while scan.position < size and not scan.writes and len(scan.frames) <= MAX_FRAMES:
        if scan.frames[-1] == CODE:
            step_code(scan)
        else:
            step_text(scan)
    end_command(scan)
    while scan.outer and not scan.writes:
        scan.code = scan.outer.pop()
        end_command(scan)
    return scan.writes


def has_side_effects(command: str) -> bool:
    """Return true if any simple command in a shell command line writes."""
    waiting = [(_SURROGATE.sub("\ufffd", command), True, 0)]
    while waiting:
        text, is_code, depth = waiting.pop()
        scan = Scan(text, [CODE if is_code else TEXT], find_arithmetic(text))
        if run(scan):
            return True
        if depth < MAX_SCRIPTS:
            waiting.extend((*inner, depth + 1) for inner in scan.nested)
    return False
