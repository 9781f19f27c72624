"""Tell the tokens of a script: what every character means where it stands.

What it does: takes one token, or a part of one, from the current position on: operators,
comments, brackets, here-documents. Quotes and expansions are `quotes`' work; what a finished word
or command means is `words`'.

What it guarantees: every step moves the position forwards.

What it leaves out: aliases and options of the shell, which could change what a token is.
"""

import re

from toolcarry._pure.dedupe.shell.quotes import (
    take_arithmetic,
    take_backticks,
    take_dollar,
    take_escape,
    take_single_quote,
    take_text_escape,
)
from toolcarry._pure.dedupe.shell.scan import (
    BRACE,
    INNER_QUOTE,
    PAREN,
    QUOTE,
    QUOTED_BRACE,
    Heredoc,
    Scan,
)
from toolcarry._pure.dedupe.shell.words import end_command, end_word, separate

OPERATORS = ("<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">")
LIST_OPENERS = "=?*+@!"
PLAIN_CODE = re.compile(r"""[^ \t\r\n\\'"`$#<>&|;()]+""")
PLAIN_TEXT = re.compile(r"""[^\\'"`$}()]+""")
BLANKS = re.compile(r"[ \t\r]+")


def step_code(scan: Scan) -> None:
    """Take the next token, or a part of one, of commands."""
    match scan.text[scan.position]:
        case " " | "\t" | "\r":
            end_word(scan)
            scan.position = end_of(BLANKS, scan.text, scan.position)
        case "\n":
            take_newline(scan)
        case "\\":
            take_escape(scan)
        case "'":
            take_single_quote(scan)
        case '"':
            scan.add("")
            scan.code.is_quoted = True
            scan.open(QUOTE, 1)
        case "`":
            take_backticks(scan)
        case "$":
            take_dollar(scan)
        case "#":
            take_hash(scan)
        case "<" | ">":
            take_angle(scan)
        case "&":
            take_ampersand(scan)
        case "|":
            take_bar(scan)
        case ";":
            take_semicolon(scan)
        case "(":
            take_open(scan)
        case ")":
            take_close(scan)
        case _:
            end = end_of(PLAIN_CODE, scan.text, scan.position)
            scan.add(scan.text[scan.position : end])
            scan.position = end


def step_text(scan: Scan) -> None:
    """Take the next part of quoted or bracketed text."""
    kind = scan.frames[-1]
    match scan.text[scan.position]:
        case "\\":
            take_text_escape(scan)
        case "`":
            take_backticks(scan)
        case "$":
            take_dollar(scan)
        case '"' if kind in (QUOTE, INNER_QUOTE):
            scan.close()
        case '"' if kind in (BRACE, QUOTED_BRACE, PAREN):
            scan.open(INNER_QUOTE, 1)
        case "'" if kind in (BRACE, PAREN):
            take_single_quote(scan)
        case "}" if kind in (BRACE, QUOTED_BRACE):
            scan.close()
        case "(" if kind == PAREN:
            scan.open(PAREN, 1)
        case ")" if kind == PAREN:
            scan.close()
        case '"' | "'" | "}" | "(" | ")":
            take_text(scan, scan.position + 1)
        case _:
            take_text(scan, end_of(PLAIN_TEXT, scan.text, scan.position))


def take_text(scan: Scan, end: int) -> None:
    """Take plain text, keeping it only in a quote that is part of a word."""
    if scan.frames[-1] == QUOTE:
        scan.add(scan.text[scan.position : end])
    scan.position = end


def take_hash(scan: Scan) -> None:
    """Take a comment where a word could begin."""
    if scan.code.word is not None:
        scan.add("#")
        scan.position += 1
        return
    end = scan.text.find("\n", scan.position)
    scan.position = len(scan.text) if end < 0 else end


def take_newline(scan: Scan) -> None:
    """End the command, then read the here-documents that begin on the next line."""
    scan.position += 1
    separate(scan)
    while scan.heredocs_read < len(scan.heredocs):
        read_heredoc(scan, scan.heredocs[scan.heredocs_read])
        scan.heredocs_read += 1


def read_heredoc(scan: Scan, heredoc: Heredoc) -> None:
    """Read one body up to its delimiter: code for a shell, else text, else nothing."""
    start = line = scan.position
    size = len(scan.text)
    while line < size:
        end = scan.text.find("\n", line)
        end = size if end < 0 else end
        content = scan.text[line:end].rstrip("\r")
        scan.position = min(end + 1, size)
        if (content.lstrip("\t") if heredoc.has_tabs else content) == heredoc.delimiter:
            break
        line = scan.position
    if heredoc.is_code or not heredoc.is_quoted:
        scan.nest(scan.text[start:line], is_code=heredoc.is_code)


def take_angle(scan: Scan) -> None:
    """Take a redirection's operator or open a process substitution."""
    if scan.code.is_test():
        end_word(scan)
        scan.position += 1
        return
    if scan.text.startswith("(", scan.position + 1):
        scan.add(">()")
        scan.open_code(2)
        return
    if scan.code.has_descriptor():
        scan.code.word = None
    end_word(scan)
    for operator in OPERATORS:
        if scan.text.startswith(operator, scan.position):
            scan.code.operator = operator
            scan.position += len(operator)
            return


def take_ampersand(scan: Scan) -> None:
    """Take `&>`, `&>>`, `&&` or `&`."""
    if scan.text.startswith("&>", scan.position) and not scan.code.is_test():
        end_word(scan)
        scan.code.operator = ">"
        scan.position += 3 if scan.text.startswith(">>", scan.position + 1) else 2
        return
    scan.position += 2 if scan.text.startswith("&&", scan.position) else 1
    separate(scan)


def take_bar(scan: Scan) -> None:
    """Take `|`, `|&` or `||`."""
    is_or = scan.text.startswith("||", scan.position)
    scan.position += 2 if is_or or scan.text.startswith("|&", scan.position) else 1
    separate(scan, is_pipe=not is_or)


def take_semicolon(scan: Scan) -> None:
    """Take `;`, or the end of a `case` branch, after which a pattern stands."""
    scan.position += 1
    is_branch_end = scan.text[scan.position : scan.position + 1] in (";", "&")
    scan.position += 1 if is_branch_end else 0
    separate(scan)
    if is_branch_end and scan.code.cases > 0:
        scan.code.is_pattern = True


def take_open(scan: Scan) -> None:
    """Take an opening parenthesis: arithmetic, a list, a function's `()`, or a subshell."""
    code = scan.code
    if code.word and code.word[-1][-1] in LIST_OPENERS and (code.words or code.word != ["!"]):
        scan.add("()")
        scan.open(PAREN, 1)
    elif code.is_test() or code.is_pattern:
        end_word(scan)
        scan.position += 1
    elif scan.text.startswith("()", scan.position) and (code.words or code.word):
        code.words, code.word = [], None
        scan.position += 2
    elif code.word is not None or not take_arithmetic(scan, scan.position):
        end_command(scan)
        scan.open_code(1)


def take_close(scan: Scan) -> None:
    """Take a closing parenthesis: the end of a pattern or of a frame of commands."""
    scan.position += 1
    end_word(scan)
    if scan.code.is_test():
        return
    if scan.code.is_pattern:
        scan.code.is_pattern = False
        return
    end_command(scan)
    if scan.outer:
        scan.frames.pop()
        scan.code = scan.outer.pop()


def end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Find the end of the pattern's match at `position`, which always has one."""
    found = pattern.match(text, position)
    return found.end() if found else position + 1
