"""Finish words and commands: keywords, redirections, and what goes into a pipe.

What it does: puts a finished word where it belongs (a keyword, a redirection's target, an
argument), and hands a finished command to `judge`.

What it guarantees: a command is judged once, and a file that is written to is noticed whatever
the command is.

What it leaves out: functions called later, and input that the line does not show.
"""

from toolcarry._pure.dedupe.shell.judge import judge
from toolcarry._pure.dedupe.shell.programs import writes_file
from toolcarry._pure.dedupe.shell.scan import Feed, Heredoc, Scan
from toolcarry._pure.dedupe.shell.tables import RESERVED


def separate(scan: Scan, *, is_pipe: bool = False) -> None:
    """End the word, and the command too where an operator is one."""
    end_word(scan)
    if not scan.code.is_test() and not scan.code.is_pattern:
        end_command(scan, is_pipe=is_pipe)


def end_word(scan: Scan) -> None:
    """Put the finished word where it belongs."""
    code = scan.code
    if code.word is None:
        return
    word, is_quoted = "".join(code.word), code.is_quoted
    code.word, code.is_quoted = None, False
    if code.operator:
        redirect(scan, word, is_quoted=is_quoted)
    elif code.is_pattern:
        if word == "esac" and not is_quoted:
            code.cases, code.is_pattern = code.cases - 1, False
    elif word in RESERVED and not is_quoted and code.words in ([], ["time"]):
        code.cases -= 1 if word == "esac" and code.cases > 0 else 0
    else:
        code.words.append(word)
        check_keyword(scan, word)


def check_keyword(scan: Scan, word: str) -> None:
    """Leave the head of a `case`, a function's name, or a `[[ ... ]]` behind."""
    code = scan.code
    size = len(code.words)
    if size == 3 and word == "in" and code.words[0] == "case":
        code.words, code.cases, code.is_pattern = [], code.cases + 1, True
    elif (size == 2 and code.words[0] == "function") or (word == "]]" and code.is_test()):
        code.words = []


def redirect(scan: Scan, word: str, *, is_quoted: bool) -> None:
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
    elif operator not in ("<", "<&"):
        scan.writes |= writes_file(word)


def end_command(scan: Scan, *, is_pipe: bool = False) -> None:
    """Judge the finished command and pass on what it feeds into a pipe."""
    end_word(scan)
    code = scan.code
    code.operator = ""
    words, code.words = code.words, []
    stdin, code.stdin = code.stdin, Feed()
    if not words:
        return
    judgement = judge(words)
    scan.writes |= judgement.writes
    for script in judgement.scripts:
        scan.nest(script, is_code=True)
    if judgement.is_stdin_code:
        run_stdin(scan, stdin)
        run_stdin(scan, code.piped)
    code.piped = stdin.passed_on(words) if is_pipe else Feed()


def run_stdin(scan: Scan, stdin: Feed) -> None:
    """Count what a shell reads from its standard input as code."""
    for index in stdin.heredocs:
        scan.heredocs[index].is_code = True
    for text in stdin.texts:
        scan.nest(text, is_code=True)
