"""Read the tokens of a script, character by character, and build words and commands.

``Scan`` is the state in the middle of a script: the open brackets, and the command being read. Each step takes one
token, or a part of one, from the current position on, and always moves forwards; a token without an end extends to the
end of the text. A finished command is judged once, and a file that is written to is noticed whatever the command is.
Values are replaced by placeholders. Aliases and options of the shell, and functions called later, are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolcarry._data import read_table
from toolcarry.model.dedupe.shell.judge import judge
from toolcarry.model.dedupe.shell.programs import (
    DEVICES,
    RESERVED,
    is_query,
    program_name,
    writes_file,
)

# The kinds of open brackets and quotes. CODE and TEXT can also be the whole script.
CODE = 0  # commands: the script, a substitution, a subshell
TEXT = 1  # a here-document's body or arithmetic: only substitutions in it are code
_QUOTE = 2  # "..." that is part of a word
_INNER_QUOTE = 3  # "..." inside ${...} or a list in parentheses
_BRACE = 4  # ${...}
_QUOTED_BRACE = 5  # ${...} where a single quote is no quote
_PAREN = 6  # the list of an array or of an extended pattern


@dataclass(slots=True)
class Heredoc:
    """A here-document whose body follows the next newline."""

    delimiter: str
    is_quoted: bool
    has_tabs: bool
    is_code: bool = False
    is_sql: bool = False


@dataclass(slots=True)
class Feed:
    """The standard input of a command, as far as the line itself shows it.

    It holds here-documents, by their numbers, and texts. `is_hidden` is true if there is more: a file, or the output of
    another program.
    """

    heredocs: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    is_hidden: bool = False

    def passed_on(self, words: list[str]) -> Feed:
        """Return the output into a pipe of the command with these words, if this is its input."""
        match program_name(words[0]):
            case "cat":
                has_files = any(word[:1] != "-" for word in words[1:])
                return Feed(self.heredocs, self.texts, is_hidden=self.is_hidden or has_files)
            case "echo" | "printf":
                text = " ".join(word for word in words[1:] if word[:1] != "-")
                return Feed([], [text.replace("\\n", "\n")])
            case _:
                return Feed(is_hidden=True)


@dataclass(slots=True)
class Code:
    """A command while it is being read.

    It holds the words so far, the parts of the word being read, the redirection that waits for its
    target, and the position in a `case`.
    """

    words: list[str] = field(default_factory=list)
    word: list[str] | None = None
    is_quoted: bool = False
    operator: str = ""
    stdin: Feed = field(default_factory=Feed)
    piped: Feed = field(default_factory=Feed)
    cases: int = 0
    is_pattern: bool = False

    def is_test(self) -> bool:
        """Return true if an open `[[` makes operators plain text."""
        return bool(self.words) and self.words[0] == "[["

    def has_descriptor(self) -> bool:
        """Return true if the word before a redirection is its number (`2>`) or its variable (`{fd}>`)."""
        word = "".join(self.word or ())
        if self.is_quoted or not word:
            return False
        return not word.strip("0123456789") or (word[0] == "{" and word[-1] == "}")


@dataclass(slots=True)
class Scan:
    """One pass over one script.

    `nested` collects the texts to scan next: code (True), or text with substitutions (False).
    """

    text: str
    frames: list[int]
    arithmetic: dict[int, int]
    position: int = 0
    code: Code = field(default_factory=Code)
    outer: list[Code] = field(default_factory=list)
    heredocs: list[Heredoc] = field(default_factory=list)
    heredocs_read: int = 0
    nested: list[tuple[str, bool]] = field(default_factory=list)
    writes: bool = False

    def add(self, text: str) -> None:
        """Add to the word being read; an empty text begins one."""
        if self.code.word is None:
            self.code.word = []
        if text:
            self.code.word.append(text)

    def add_expansion(self, placeholder: str) -> None:
        """Add a placeholder for a value, unless the text around it is not kept."""
        if self.frames[-1] in (CODE, _QUOTE):
            self.add(placeholder)

    def open(self, kind: int, size: int) -> None:
        """Enter a frame whose opening has `size` characters."""
        self.position += size
        self.frames.append(kind)

    def open_code(self, size: int) -> None:
        """Enter a frame of commands; the command around it waits."""
        self.open(CODE, size)
        self.outer.append(self.code)
        self.code = Code()

    def close(self) -> None:
        """Leave a frame of text by its closing character."""
        self.position += 1
        self.frames.pop()

    def nest(self, text: str, *, is_code: bool) -> None:
        """Collect a string that is scanned later by itself."""
        if text:
            self.nested.append((text, is_code))


def _separate(scan: Scan, *, is_pipe: bool = False) -> None:
    """End the word, and the command too if the operator is a separator."""
    _end_word(scan)
    if not scan.code.is_test() and not scan.code.is_pattern:
        end_command(scan, is_pipe=is_pipe)


def _end_word(scan: Scan) -> None:
    """Add the finished word to the command, or use it as a redirection's target."""
    code = scan.code
    if code.word is None:
        return
    word, is_quoted = "".join(code.word), code.is_quoted
    code.word, code.is_quoted = None, False
    if code.operator:
        _redirect(scan, word, is_quoted=is_quoted)
    elif code.is_pattern:
        if word == "esac" and not is_quoted:
            code.cases, code.is_pattern = code.cases - 1, False
    elif word in RESERVED and not is_quoted and code.words in ([], ["time"]):
        code.cases -= 1 if word == "esac" and code.cases > 0 else 0
    else:
        code.words.append(word)
        _check_keyword(scan, word)


def _check_keyword(scan: Scan, word: str) -> None:
    """Drop the words of a finished `case` head, function name, or `[[ ... ]]`."""
    code = scan.code
    size = len(code.words)
    if size == 3 and word == "in" and code.words[0] == "case":
        code.words, code.cases, code.is_pattern = [], code.cases + 1, True
    elif (size == 2 and code.words[0] == "function") or (word == "]]" and code.is_test()):
        code.words = []


def _redirect(scan: Scan, word: str, *, is_quoted: bool) -> None:
    """Apply the pending redirection to its target."""
    code = scan.code
    operator, code.operator = code.operator, ""
    if operator in ("<<", "<<-"):
        code.stdin.heredocs.append(len(scan.heredocs))
        scan.heredocs.append(Heredoc(word, is_quoted, operator == "<<-"))
    elif operator == "<<<":
        code.stdin.texts.append(word)
    elif operator == ">&":
        is_descriptor = not word.strip("0123456789-") or word.startswith("$")
        scan.writes |= not is_descriptor and writes_file(word)
    elif operator == "<":
        code.stdin.is_hidden |= word not in DEVICES
    elif operator != "<&":
        scan.writes |= writes_file(word)


def end_command(scan: Scan, *, is_pipe: bool = False) -> None:
    """Judge the finished command and pass on its output into a pipe."""
    _end_word(scan)
    code = scan.code
    code.operator = ""
    words, code.words = code.words, []
    stdin, code.stdin = code.stdin, Feed()
    if not words:
        if is_pipe:
            code.piped = Feed(is_hidden=True)  # the output of a subshell, or of a loop
        return
    judgement = judge(words)
    scan.writes |= judgement.writes
    for script in judgement.scripts:
        scan.nest(script, is_code=True)
    if judgement.is_stdin_code:
        _run_stdin(scan, stdin)
        _run_stdin(scan, code.piped)
    if judgement.is_stdin_sql:
        _read_sql(scan, stdin)
        _read_sql(scan, code.piped)
    code.piped = stdin.passed_on(words) if is_pipe else Feed()


def _run_stdin(scan: Scan, stdin: Feed) -> None:
    """Count the standard input of a shell as code."""
    for index in stdin.heredocs:
        scan.heredocs[index].is_code = True
    for text in stdin.texts:
        scan.nest(text, is_code=True)


def _read_sql(scan: Scan, stdin: Feed) -> None:
    """Judge the standard input of a client of a database: it writes unless it is certainly a query."""
    for index in stdin.heredocs:
        scan.heredocs[index].is_sql = True
    scan.writes |= stdin.is_hidden or not all(is_query(text) for text in stdin.texts)


_PARENTHESIS = re.compile(r"\\.|[()]", re.DOTALL)


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
    if scan.frames[-1] == _QUOTE and following != "\n":
        is_special = following in ("$", "`", '"', "\\")
        scan.add(following if is_special else "\\" + following)
    scan.position += 2


def take_single_quote(scan: Scan) -> None:
    """Take `'...'`, or the rest of the text if the quote never ends."""
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
    escapes = '`\\$"' if scan.frames[-1] in (_QUOTE, _INNER_QUOTE) else "`\\$"
    body, scan.position = unescape(scan.text, scan.position + 1, "`", escapes)
    scan.nest(body, is_code=True)
    scan.add_expansion("$()")


def take_dollar(scan: Scan) -> None:
    """Take an expansion, or a dollar sign alone."""
    kind = scan.frames[-1]
    following = scan.text[scan.position + 1 : scan.position + 2]
    if following == "(":
        scan.add_expansion("$()")
        if not take_arithmetic(scan, scan.position + 1):
            scan.open_code(2)
    elif following == "{":
        scan.add_expansion("$()")
        scan.open(_BRACE if kind in (CODE, _BRACE, _PAREN) else _QUOTED_BRACE, 2)
    elif following == "'" and kind in (CODE, _BRACE, _PAREN):
        take_ansi_quote(scan)
    elif following == '"' and kind == CODE:
        scan.position += 1
    else:
        scan.add_expansion("$")
        scan.position += 1


def take_arithmetic(scan: Scan, start: int) -> bool:
    """Take `((...))` if one begins at `start`; only substitutions in it are code."""
    end = scan.arithmetic.get(start)
    if end is None:
        return False
    scan.nest(scan.text[start + 2 : end - 1], is_code=False)
    scan.position = end + 1
    return True


def unescape(text: str, start: int, end: str, escapes: str) -> tuple[str, int]:
    r"""Read from `start` up to `end`, and return the text and the position after it.

    A backslash before one of `escapes` is removed. Without `escapes` every backslash is removed, and
    `\n` and `\t` become a newline and a tab.
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
    """Find the beginnings and ends of `((...))`, by the parentheses alone.

    This is done beforehand, so that the scan never goes back if `((` is two subshells.
    """
    spans: dict[int, int] = {}
    opened: list[int] = []
    last_start = last_end = -1
    for found in _PARENTHESIS.finditer(text) if "((" in text else ():
        position = found.start()
        if found.group() == "(":
            opened.append(position)
        elif found.group() == ")" and opened:
            start = opened.pop()
            if last_start == start + 1 and last_end == position - 1:
                spans[start] = position
            last_start, last_end = start, position
    return spans


OPERATORS: tuple[str, ...] = tuple(read_table("shell")["operators"])
LIST_OPENERS = "=?*+@!"
_PLAIN_CODE = re.compile(r"""[^ \t\r\n\\'"`$#<>&|;()]+""")
_PLAIN_TEXT = re.compile(r"""[^\\'"`$}()]+""")
_BLANKS = re.compile(r"[ \t\r]+")


def step_code(scan: Scan) -> None:
    """Take the next token, or a part of one, of commands."""
    match scan.text[scan.position]:
        case " " | "\t" | "\r":
            _end_word(scan)
            scan.position = end_of(_BLANKS, scan.text, scan.position)
        case "\n":
            take_newline(scan)
        case "\\":
            take_escape(scan)
        case "'":
            take_single_quote(scan)
        case '"':
            scan.add("")
            scan.code.is_quoted = True
            scan.open(_QUOTE, 1)
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
            end = end_of(_PLAIN_CODE, scan.text, scan.position)
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
        case '"' if kind in (_QUOTE, _INNER_QUOTE):
            scan.close()
        case '"' if kind in (_BRACE, _QUOTED_BRACE, _PAREN):
            scan.open(_INNER_QUOTE, 1)
        case "'" if kind in (_BRACE, _PAREN):
            take_single_quote(scan)
        case "}" if kind in (_BRACE, _QUOTED_BRACE):
            scan.close()
        case "(" if kind == _PAREN:
            scan.open(_PAREN, 1)
        case ")" if kind == _PAREN:
            scan.close()
        case '"' | "'" | "}" | "(" | ")":
            take_text(scan, scan.position + 1)
        case _:
            take_text(scan, end_of(_PLAIN_TEXT, scan.text, scan.position))


def take_text(scan: Scan, end: int) -> None:
    """Take plain text, keeping it only in a quote that is part of a word."""
    if scan.frames[-1] == _QUOTE:
        scan.add(scan.text[scan.position : end])
    scan.position = end


def take_hash(scan: Scan) -> None:
    """Take a comment if a word could begin here."""
    if scan.code.word is not None:
        scan.add("#")
        scan.position += 1
        return
    end = scan.text.find("\n", scan.position)
    scan.position = len(scan.text) if end < 0 else end


def take_newline(scan: Scan) -> None:
    """End the command, then read the here-documents that begin on the next line."""
    scan.position += 1
    _separate(scan)
    while scan.heredocs_read < len(scan.heredocs):
        read_heredoc(scan, scan.heredocs[scan.heredocs_read])
        scan.heredocs_read += 1


def read_heredoc(scan: Scan, heredoc: Heredoc) -> None:
    """Read one body up to its delimiter: code for a shell, SQL for a client, else text, else nothing."""
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
    scan.writes |= heredoc.is_sql and not is_query(scan.text[start:line])
    if heredoc.is_code or not heredoc.is_quoted:
        scan.nest(scan.text[start:line], is_code=heredoc.is_code)


def take_angle(scan: Scan) -> None:
    """Take a redirection's operator or open a process substitution."""
    if scan.code.is_test():
        _end_word(scan)
        scan.position += 1
        return
    if scan.text.startswith("(", scan.position + 1):
        scan.add(">()")
        scan.open_code(2)
        return
    if scan.code.has_descriptor():
        scan.code.word = None
    _end_word(scan)
    for operator in OPERATORS:
        if scan.text.startswith(operator, scan.position):
            scan.code.operator = operator
            scan.position += len(operator)
            return


def take_ampersand(scan: Scan) -> None:
    """Take `&>`, `&>>`, `&&` or `&`."""
    if scan.text.startswith("&>", scan.position) and not scan.code.is_test():
        _end_word(scan)
        scan.code.operator = ">"
        scan.position += 3 if scan.text.startswith(">>", scan.position + 1) else 2
        return
    scan.position += 2 if scan.text.startswith("&&", scan.position) else 1
    _separate(scan)


def take_bar(scan: Scan) -> None:
    """Take `|`, `|&` or `||`."""
    is_or = scan.text.startswith("||", scan.position)
    scan.position += 2 if is_or or scan.text.startswith("|&", scan.position) else 1
    _separate(scan, is_pipe=not is_or)


def take_semicolon(scan: Scan) -> None:
    """Take `;`, or the end of a `case` branch, which a pattern follows."""
    scan.position += 1
    is_branch_end = scan.text[scan.position : scan.position + 1] in (";", "&")
    scan.position += 1 if is_branch_end else 0
    _separate(scan)
    if is_branch_end and scan.code.cases > 0:
        scan.code.is_pattern = True


def take_open(scan: Scan) -> None:
    """Take an opening parenthesis: arithmetic, a list, a function's `()`, or a subshell."""
    code = scan.code
    if code.word and code.word[-1][-1] in LIST_OPENERS and (code.words or code.word != ["!"]):
        scan.add("()")
        scan.open(_PAREN, 1)
    elif code.is_test() or code.is_pattern:
        _end_word(scan)
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
    _end_word(scan)
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
