"""Read a script and every script inside it.

What it does: scans one script to its end, then what the scan put aside (backticks, `bash -c`,
`eval`, a here-document for a shell, arithmetic), from an explicit stack.

What it guarantees: an answer for any text, without recursion.

What it leaves out: what is nested deeper than `MAX_SCRIPTS` scripts, or `MAX_FRAMES` brackets in
one script.
"""

import re

from toolcarry._pure.dedupe.shell.lexer import step_code, step_text
from toolcarry._pure.dedupe.shell.quotes import find_arithmetic
from toolcarry._pure.dedupe.shell.scan import CODE, TEXT, Scan
from toolcarry._pure.dedupe.shell.words import end_command

MAX_SCRIPTS = 16
MAX_FRAMES = 100

SURROGATE = re.compile("[\ud800-\udfff]")


def run(scan: Scan) -> bool:
    """Read the whole script and say whether a command in it writes."""
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
    """Whether any simple command in a shell command line writes."""
    waiting = [(SURROGATE.sub("\ufffd", command), True, 0)]
    while waiting:
        text, is_code, depth = waiting.pop()
        scan = Scan(text, [CODE if is_code else TEXT], find_arithmetic(text))
        if run(scan):
            return True
        if depth < MAX_SCRIPTS:
            waiting.extend((*inner, depth + 1) for inner in scan.nested)
    return False
