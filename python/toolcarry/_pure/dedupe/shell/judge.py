"""Judge one simple command: does it write, and does it hold commands of its own?

What it does: looks behind the programs that run another (`sudo`, `env`, `xargs`, `find -exec`),
and names the scripts in a command's words (`bash -c`, `eval`, `ssh host ...`), which `parser`
reads. Whether a program by itself writes, `programs` knows.

What it guarantees: time linear in the words; no recursion; no exception.

What it leaves out: what is behind more than `MAX_HOPS` wrappers; a script in a file.
"""

import re
from dataclasses import dataclass, field

from toolcarry._pure.dedupe.shell.programs import (
    FIND_RUNNING,
    PYTHON_OPTIONS,
    SHELL_OPTIONS,
    SHELLS,
    SSH_OPTIONS,
    WRAPPERS,
    has_any,
    parse,
    program_name,
    writes,
)

MAX_HOPS = 16

NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
PLAIN = re.compile(r"[A-Za-z0-9 _./=:@%+,-]*")


@dataclass(slots=True)
class Judgement:
    """Whether a command writes, the scripts in its words, and whether it runs its input."""

    writes: bool = False
    scripts: list[str] = field(default_factory=list)
    is_stdin_code: bool = False


def judge(words: list[str]) -> Judgement:
    """Judge a simple command and every command that it runs."""
    judgement = Judgement()
    waiting = [(words, 0)]
    while waiting:
        command, hops = waiting.pop()
        inner = judge_one(command, judgement)
        if hops < MAX_HOPS:
            waiting.extend((words, hops + 1) for words in inner)
    return judgement


def judge_one(words: list[str], judgement: Judgement) -> list[list[str]]:
    """Judge one command by itself and give the commands in its words."""
    words = skip_assignments(words)
    if not words or is_help(words):
        return []
    name, arguments = program_name(words[0]), words[1:]
    if name in WRAPPERS:
        return wrapped(name, arguments)
    if name in SHELLS:
        judge_shell(arguments, judgement)
    elif name == "eval":
        judgement.scripts.append(" ".join(arguments))
    elif name == "ssh":
        return judge_remote(arguments, judgement)
    elif name == "find":
        return found_commands(arguments, judgement)
    elif name == "python":
        return python_module(arguments)
    elif writes(name, arguments):
        judgement.writes = True
    return []


def skip_assignments(words: list[str]) -> list[str]:
    """The words without the `X=1` in front."""
    for index, word in enumerate(words):
        if not is_assignment(word):
            return words[index:] if index else words
    return []


def is_assignment(word: str) -> bool:
    """Whether a word sets a variable: `X=1`, `X+=1`, `X[0]=1`."""
    name, equals, _ = word.partition("=")
    return equals != "" and NAME.fullmatch(name.removesuffix("+").partition("[")[0]) is not None


def is_help(words: list[str]) -> bool:
    """Whether a command only tells about itself: `x --version`, `x --help`, `x verb --help`."""
    size = len(words)
    return (size == 2 and words[1] == "--version") or (size in (2, 3) and words[-1] == "--help")


def wrapped(name: str, arguments: list[str]) -> list[list[str]]:
    """The command behind a program that runs it."""
    options, others = parse(arguments, WRAPPERS[name], stops=True)
    if name == "command" and has_any(options, ("v", "V")):
        return []
    return [others[1:] if name == "timeout" else others]


def judge_shell(arguments: list[str], judgement: Judgement) -> None:
    """A shell: its script is a word, its standard input, or a file that nobody knows."""
    options, others = parse(arguments, SHELL_OPTIONS, stops=True)
    if has_any(options, ("c",)):
        judgement.scripts.extend(others[:1])
    elif has_any(options, ("s",)) or not others or others[0] == "-":
        judgement.is_stdin_code = True


def judge_remote(arguments: list[str], judgement: Judgement) -> list[list[str]]:
    """`ssh`: the words behind the host are a script; without any, its standard input is one.

    A plain command is judged here and not as a script of its own, for `ssh host bash -s <<EOF`:
    what goes into `ssh` goes into the command.
    """
    _, others = parse(arguments, SSH_OPTIONS, stops=True)
    _, command = parse(others[1:], SSH_OPTIONS, stops=True)
    script = " ".join(command)
    if not PLAIN.fullmatch(script):
        judgement.scripts.append(script)
        return []
    judgement.is_stdin_code |= bool(others) and not command
    return [script.split()]


def found_commands(arguments: list[str], judgement: Judgement) -> list[list[str]]:
    """The commands that `find` runs."""
    commands: list[list[str]] = []
    is_inside = False
    for word in arguments:
        if is_inside and word not in (";", "+"):
            commands[-1].append(word)
        elif is_inside:
            is_inside = False
        elif word in FIND_RUNNING:
            commands.append([])
            is_inside = True
        elif word == "-delete":
            judgement.writes = True
    return commands


def python_module(arguments: list[str]) -> list[list[str]]:
    """The command that `python -m pip` stands for."""
    options, others = parse(arguments, PYTHON_OPTIONS, stops=True)
    for option, value in options:
        if option in ("c", "m"):
            return [["pip", *others]] if option == "m" and value == "pip" else []
    return []
