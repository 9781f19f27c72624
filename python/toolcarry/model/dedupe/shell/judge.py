"""Judge one simple command: does it write, and does it contain commands of its own?

It looks through programs that run another (`sudo`, `env`, `xargs`, `find -exec`), and collects the
scripts in a command's words (`bash -c`, `eval`, `ssh host ...`), which `parser` reads. `programs`
knows the programs that write by themselves.

It takes time linear in the words, without recursion and without an exception.

Commands inside more than `MAX_HOPS` wrappers, and scripts in files, are ignored, but a database client
whose SQL is in a file counts as writing.
"""

import re
from dataclasses import dataclass, field

from toolcarry.model.dedupe.shell.programs import (
    FIND_RUNNING,
    PYTHON_OPTIONS,
    SHELL_OPTIONS,
    SHELLS,
    SQL_CLIENTS,
    SSH_OPTIONS,
    WRAPPERS,
    has_any,
    parse,
    program_name,
    writes,
)

MAX_HOPS = 16

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z0-9 _./=:@%+,-]*")


@dataclass(slots=True)
class Judgement:
    """The judgement of a command: it writes; the scripts in its words; its standard input is commands, or SQL."""

    writes: bool = False
    scripts: list[str] = field(default_factory=list)
    is_stdin_code: bool = False
    is_stdin_sql: bool = False


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
    """Judge one command by itself, and return the commands in its words."""
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
    judgement.is_stdin_sql |= name in SQL_CLIENTS
    return []


def skip_assignments(words: list[str]) -> list[str]:
    """Return the words without assignments such as `X=1` at the beginning."""
    for index, word in enumerate(words):
        if not is_assignment(word):
            return words[index:] if index else words
    return []


def is_assignment(word: str) -> bool:
    """Return true if a word sets a variable: `X=1`, `X+=1`, `X[0]=1`."""
    name, equals, _ = word.partition("=")
    return equals != "" and _NAME.fullmatch(name.removesuffix("+").partition("[")[0]) is not None


def is_help(words: list[str]) -> bool:
    """Return true if a command only prints its version or help: `x --version`, `x --help`, `x verb --help`."""
    size = len(words)
    return (size == 2 and words[1] == "--version") or (size in (2, 3) and words[-1] == "--help")


def wrapped(name: str, arguments: list[str]) -> list[list[str]]:
    """Return the command that a wrapper runs."""
    options, others = parse(arguments, WRAPPERS[name], stops=True)
    if name == "command" and has_any(options, ("v", "V")):
        return []
    return [others[1:] if name == "timeout" else others]


def judge_shell(arguments: list[str], judgement: Judgement) -> None:
    """Judge a shell. Its script is a word, its standard input, or a file whose content is unknown."""
    options, others = parse(arguments, SHELL_OPTIONS, stops=True)
    if has_any(options, ("c",)):
        judgement.scripts.extend(others[:1])
    elif has_any(options, ("s",)) or not others or others[0] == "-":
        judgement.is_stdin_code = True


def judge_remote(arguments: list[str], judgement: Judgement) -> list[list[str]]:
    """Judge `ssh`: the words after the host are a script; without any, its standard input is one.

    A plain command is judged here and not as a script of its own, for `ssh host bash -s <<EOF`:
    the input of `ssh` is the input of the command.
    """
    _, others = parse(arguments, SSH_OPTIONS, stops=True)
    _, command = parse(others[1:], SSH_OPTIONS, stops=True)
    script = " ".join(command)
    if not _PLAIN.fullmatch(script):
        judgement.scripts.append(script)
        return []
    judgement.is_stdin_code |= bool(others) and not command
    return [script.split()]


def found_commands(arguments: list[str], judgement: Judgement) -> list[list[str]]:
    """Return the commands that `find` runs."""
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
    """Return the command that `python -m pip` runs."""
    options, others = parse(arguments, PYTHON_OPTIONS, stops=True)
    for option, value in options:
        if option in ("c", "m"):
            return [["pip", *others]] if option == "m" and value == "pip" else []
    return []
