"""Tell whether a shell command line has side effects: whether any simple command in it writes.

What it does: reads the line as a POSIX shell with the common bash additions would (quotes,
expansions, redirections, here-documents, keywords), without running or expanding anything, and
hands every simple command to `shell_commands`. Code inside code (backticks, `bash -c`, `eval`,
a here-document for a shell) is read as a script of its own, from an explicit stack.

What it guarantees: any text has an answer, in time linear in its length, without recursion and
without an exception. Only ASCII characters mean anything. Lone surrogates count as U+FFFD.

What it leaves out: values of variables, aliases, functions called later, the insides of programs
in other languages. What is unknown reads. So does what is nested deeper than `MAX_SCRIPTS`
scripts, `MAX_FRAMES` brackets in one script, or `MAX_HOPS` wrappers around one command.
"""

import re
from dataclasses import dataclass, field

from toolcarry._pure.shell_commands import Code, Feed, Heredoc, judge, names, writes_file

MAX_SCRIPTS = 16
MAX_FRAMES = 100

# What the innermost open bracket or quote is. CODE and TEXT can also be the whole script.
CODE = 0  # commands: the script, a substitution, a subshell
TEXT = 1  # a here-document's body or arithmetic: only substitutions in it are code
QUOTE = 2  # "..." that is part of a word
INNER_QUOTE = 3  # "..." inside ${...} or a list in parentheses
BRACE = 4  # ${...}
QUOTED_BRACE = 5  # ${...} where a single quote is no quote
PAREN = 6  # the list of an array or of an extended pattern

RESERVED = names("if then elif else fi do done while until { } ! esac coproc")
OPERATORS = ("<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">")
LIST_OPENERS = "=?*+@!"
PLAIN_CODE = re.compile(r"""[^ \t\r\n\\'"`$#<>&|;()]+""")
PLAIN_TEXT = re.compile(r"""[^\\'"`$}()]+""")
BLANKS = re.compile(r"[ \t\r]+")
PARENTHESIS = re.compile(r"\\.|[()]", re.DOTALL)
SURROGATE = re.compile("[\ud800-\udfff]")


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

    def run(self) -> bool:
        """Read the whole script and say whether a command in it writes."""
        size = len(self.text)
        while self.position < size and not self.writes and len(self.frames) <= MAX_FRAMES:
            if self.frames[-1] == CODE:
                self.step_code()
            else:
                self.step_text()
        self.end_command()
        while self.outer and not self.writes:
            self.code = self.outer.pop()
            self.end_command()
        return self.writes

    def step_code(self) -> None:
        """Take the next token, or a part of one, of commands."""
        match self.text[self.position]:
            case " " | "\t" | "\r":
                self.end_word()
                self.position = end_of(BLANKS, self.text, self.position)
            case "\n":
                self.take_newline()
            case "\\":
                self.take_escape()
            case "'":
                self.take_single_quote()
            case '"':
                self.add("")
                self.code.is_quoted = True
                self.open(QUOTE, 1)
            case "`":
                self.take_backticks()
            case "$":
                self.take_dollar()
            case "#":
                self.take_hash()
            case "<" | ">":
                self.take_angle()
            case "&":
                self.take_ampersand()
            case "|":
                self.take_bar()
            case ";":
                self.take_semicolon()
            case "(":
                self.take_open()
            case ")":
                self.take_close()
            case _:
                end = end_of(PLAIN_CODE, self.text, self.position)
                self.add(self.text[self.position : end])
                self.position = end

    def step_text(self) -> None:
        """Take the next part of quoted or bracketed text."""
        kind = self.frames[-1]
        match self.text[self.position]:
            case "\\":
                self.take_text_escape(kind)
            case "`":
                self.take_backticks()
            case "$":
                self.take_dollar()
            case '"' if kind in (QUOTE, INNER_QUOTE):
                self.close()
            case '"' if kind in (BRACE, QUOTED_BRACE, PAREN):
                self.open(INNER_QUOTE, 1)
            case "'" if kind in (BRACE, PAREN):
                self.take_single_quote()
            case "}" if kind in (BRACE, QUOTED_BRACE):
                self.close()
            case "(" if kind == PAREN:
                self.open(PAREN, 1)
            case ")" if kind == PAREN:
                self.close()
            case '"' | "'" | "}" | "(" | ")":
                self.take_text(self.position + 1)
            case _:
                self.take_text(end_of(PLAIN_TEXT, self.text, self.position))

    def add(self, text: str) -> None:
        """Add to the word being read; an empty text begins one."""
        if self.code.word is None:
            self.code.word = []
        if text:
            self.code.word.append(text)

    def add_expansion(self, placeholder: str) -> None:
        """Put a placeholder where a value will stand, unless the text around it is not kept."""
        if self.frames[-1] in (CODE, QUOTE):
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
        """Put a text aside to be scanned by itself."""
        if text:
            self.nested.append((text, is_code))

    def take_text(self, end: int) -> None:
        """Take plain text, keeping it only in a quote that is part of a word."""
        if self.frames[-1] == QUOTE:
            self.add(self.text[self.position : end])
        self.position = end

    def take_escape(self) -> None:
        """Take a backslash in commands: a continued line, or the next character as it is."""
        for newline in ("\n", "\r\n"):
            if self.text.startswith(newline, self.position + 1):
                self.position += 1 + len(newline)
                return
        self.add(self.text[self.position + 1 : self.position + 2] or "\\")
        self.code.is_quoted = True
        self.position += 2

    def take_text_escape(self, kind: int) -> None:
        """Take a backslash in text, where it stays before most characters."""
        following = self.text[self.position + 1 : self.position + 2]
        if kind == QUOTE and following != "\n":
            is_special = following in ("$", "`", '"', "\\")
            self.add(following if is_special else "\\" + following)
        self.position += 2

    def take_single_quote(self) -> None:
        """Take `'...'`, or what is left where it never ends."""
        end = self.text.find("'", self.position + 1)
        end = len(self.text) if end < 0 else end
        if self.frames[-1] == CODE:
            self.add(self.text[self.position + 1 : end])
            self.code.is_quoted = True
        self.position = end + 1

    def take_ansi_quote(self) -> None:
        """Take `$'...'`, with its line breaks and tabs decoded."""
        start = self.position + 2
        body, self.position = unescape(self.text, start, "'", "")
        if self.frames[-1] == CODE:
            self.add(body)
            self.code.is_quoted = True

    def take_backticks(self) -> None:
        """Put the command between backticks aside."""
        escapes = '`\\$"' if self.frames[-1] in (QUOTE, INNER_QUOTE) else "`\\$"
        body, self.position = unescape(self.text, self.position + 1, "`", escapes)
        self.nest(body, is_code=True)
        self.add_expansion("$()")

    def take_dollar(self) -> None:
        """Take what a dollar sign begins."""
        kind = self.frames[-1]
        following = self.text[self.position + 1 : self.position + 2]
        if following == "(":
            self.add_expansion("$()")
            if not self.take_arithmetic(self.position + 1):
                self.open_code(2)
        elif following == "{":
            self.add_expansion("$()")
            self.open(BRACE if kind in (CODE, BRACE, PAREN) else QUOTED_BRACE, 2)
        elif following == "'" and kind in (CODE, BRACE, PAREN):
            self.take_ansi_quote()
        elif following == '"' and kind == CODE:
            self.position += 1
        else:
            self.add_expansion("$")
            self.position += 1

    def take_arithmetic(self, start: int) -> bool:
        """Take `((...))` where one begins at `start`; only substitutions in it are code."""
        end = self.arithmetic.get(start)
        if end is None:
            return False
        self.nest(self.text[start + 2 : end - 1], is_code=False)
        self.position = end + 1
        return True

    def take_hash(self) -> None:
        """Take a comment where a word could begin."""
        if self.code.word is not None:
            self.add("#")
            self.position += 1
            return
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def take_newline(self) -> None:
        """End the command, then read the here-documents that begin on the next line."""
        self.position += 1
        self.separate()
        while self.heredocs_read < len(self.heredocs):
            self.read_heredoc(self.heredocs[self.heredocs_read])
            self.heredocs_read += 1

    def read_heredoc(self, heredoc: Heredoc) -> None:
        """Read one body up to its delimiter: code for a shell, else text, else nothing."""
        start = line = self.position
        size = len(self.text)
        while line < size:
            end = self.text.find("\n", line)
            end = size if end < 0 else end
            content = self.text[line:end].rstrip("\r")
            self.position = min(end + 1, size)
            if (content.lstrip("\t") if heredoc.has_tabs else content) == heredoc.delimiter:
                break
            line = self.position
        if heredoc.is_code or not heredoc.is_quoted:
            self.nest(self.text[start:line], is_code=heredoc.is_code)

    def take_angle(self) -> None:
        """Take a redirection's operator or open a process substitution."""
        if self.code.is_test():
            self.end_word()
            self.position += 1
            return
        if self.text.startswith("(", self.position + 1):
            self.add(">()")
            self.open_code(2)
            return
        if self.code.has_descriptor():
            self.code.word = None
        self.end_word()
        for operator in OPERATORS:
            if self.text.startswith(operator, self.position):
                self.code.operator = operator
                self.position += len(operator)
                return

    def take_ampersand(self) -> None:
        """Take `&>`, `&>>`, `&&` or `&`."""
        if self.text.startswith("&>", self.position) and not self.code.is_test():
            self.end_word()
            self.code.operator = ">"
            self.position += 3 if self.text.startswith(">>", self.position + 1) else 2
            return
        self.position += 2 if self.text.startswith("&&", self.position) else 1
        self.separate()

    def take_bar(self) -> None:
        """Take `|`, `|&` or `||`."""
        is_or = self.text.startswith("||", self.position)
        self.position += 2 if is_or or self.text.startswith("|&", self.position) else 1
        self.separate(is_pipe=not is_or)

    def take_semicolon(self) -> None:
        """Take `;`, or the end of a `case` branch, after which a pattern stands."""
        self.position += 1
        is_branch_end = self.text[self.position : self.position + 1] in (";", "&")
        self.position += 1 if is_branch_end else 0
        self.separate()
        if is_branch_end and self.code.cases > 0:
            self.code.is_pattern = True

    def separate(self, *, is_pipe: bool = False) -> None:
        """End the word, and the command too where an operator is one."""
        self.end_word()
        if not self.code.is_test() and not self.code.is_pattern:
            self.end_command(is_pipe=is_pipe)

    def take_open(self) -> None:
        """Take an opening parenthesis: arithmetic, a list, a function's `()`, or a subshell."""
        code = self.code
        if code.word and code.word[-1][-1] in LIST_OPENERS and (code.words or code.word != ["!"]):
            self.add("()")
            self.open(PAREN, 1)
        elif code.is_test() or code.is_pattern:
            self.end_word()
            self.position += 1
        elif self.text.startswith("()", self.position) and (code.words or code.word):
            code.words, code.word = [], None
            self.position += 2
        elif code.word is not None or not self.take_arithmetic(self.position):
            self.end_command()
            self.open_code(1)

    def take_close(self) -> None:
        """Take a closing parenthesis: the end of a pattern or of a frame of commands."""
        self.position += 1
        self.end_word()
        if self.code.is_test():
            return
        if self.code.is_pattern:
            self.code.is_pattern = False
            return
        self.end_command()
        if self.outer:
            self.frames.pop()
            self.code = self.outer.pop()

    def end_word(self) -> None:
        """Put the finished word where it belongs."""
        code = self.code
        if code.word is None:
            return
        word, is_quoted = "".join(code.word), code.is_quoted
        code.word, code.is_quoted = None, False
        if code.operator:
            self.redirect(word, is_quoted=is_quoted)
        elif code.is_pattern:
            if word == "esac" and not is_quoted:
                code.cases, code.is_pattern = code.cases - 1, False
        elif word in RESERVED and not is_quoted and code.words in ([], ["time"]):
            code.cases -= 1 if word == "esac" and code.cases > 0 else 0
        else:
            code.words.append(word)
            self.check_keyword(word)

    def check_keyword(self, word: str) -> None:
        """Leave the head of a `case`, a function's name, or a `[[ ... ]]` behind."""
        code = self.code
        size = len(code.words)
        if size == 3 and word == "in" and code.words[0] == "case":
            code.words, code.cases, code.is_pattern = [], code.cases + 1, True
        elif (size == 2 and code.words[0] == "function") or (word == "]]" and code.is_test()):
            code.words = []

    def redirect(self, word: str, *, is_quoted: bool) -> None:
        """Apply the pending redirection to its target."""
        code = self.code
        operator, code.operator = code.operator, ""
        if operator in ("<<", "<<-"):
            code.stdin.heredocs.append(len(self.heredocs))
            self.heredocs.append(Heredoc(word, is_quoted, operator == "<<-"))
        elif operator == "<<<":
            code.stdin.texts.append(word)
        elif operator == ">&":
            is_descriptor = not word.strip("0123456789-") or word.startswith("$")
            self.writes |= not is_descriptor and writes_file(word)
        elif operator not in ("<", "<&"):
            self.writes |= writes_file(word)

    def end_command(self, *, is_pipe: bool = False) -> None:
        """Judge the finished command and pass on what it feeds into a pipe."""
        self.end_word()
        code = self.code
        code.operator = ""
        words, code.words = code.words, []
        stdin, code.stdin = code.stdin, Feed()
        if not words:
            return
        judgement = judge(words)
        self.writes |= judgement.writes
        for script in judgement.scripts:
            self.nest(script, is_code=True)
        if judgement.is_stdin_code:
            self.run_stdin(stdin)
            self.run_stdin(code.piped)
        code.piped = stdin.passed_on(words) if is_pipe else Feed()

    def run_stdin(self, stdin: Feed) -> None:
        """Count what a shell reads from its standard input as code."""
        for index in stdin.heredocs:
            self.heredocs[index].is_code = True
        for text in stdin.texts:
            self.nest(text, is_code=True)


def end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Find the end of the pattern's match at `position`, which always has one."""
    found = pattern.match(text, position)
    return found.end() if found else position + 1


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


def has_side_effects(command: str) -> bool:
    """Whether any simple command in a shell command line writes.

    >>> has_side_effects("cargo test 2>&1 | tail -n 5")
    False
    >>> has_side_effects("cd src && sudo rm -rf build")
    True
    >>> has_side_effects('echo "rm -rf"')
    False
    """
    waiting = [(SURROGATE.sub("\ufffd", command), True, 0)]
    while waiting:
        text, is_code, depth = waiting.pop()
        scan = Scan(text, [CODE if is_code else TEXT], find_arithmetic(text))
        if scan.run():
            return True
        if depth < MAX_SCRIPTS:
            waiting.extend((*inner, depth + 1) for inner in scan.nested)
    return False
