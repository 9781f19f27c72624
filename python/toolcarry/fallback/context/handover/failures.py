"""Failures that nothing later resolved: no success of the same command, or of the same tool on the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from toolcarry.fallback.context.handover.kinds import (
    FILE_KINDS,
    PATH_KEYS,
    QUERY_KEYS,
    first_text,
    words,
)
from toolcarry.fallback.context.handover.other_changes import name_of
from toolcarry.fallback.context.handover.outcomes import telling_line
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.fallback.shorten.kinds import KINDS, words_of

_PROBES: Final = frozenset(words("probes"))
_WITH_SUBCOMMANDS: Final = frozenset(words("with_subcommands"))
_INTERPRETERS: Final = frozenset(words("interpreters"))
_PREFIXES: Final = frozenset(words("prefixes"))
_RUNNERS: Final = frozenset(
    name for kind in KINDS if kind.name == "tests" for name in kind.commands
)
_PARSE_ERRORS: Final = words("parse_errors")
_REDIRECTIONS: Final = words("redirections")
_WRAPPERS: Final = tuple(tuple(runner.split()) for runner in words("runners"))
_SINGLE: Final = frozenset(words("single"))
_MISUSES: Final = words("misuses")
_URL_KEYS: Final = ("url",)
_SOON: Final = 3
"""The steps in which a command is redone that a shell could not read."""
_COUNTED: Final = words("counted")
_SUMMARY: Final = 400
"""The characters at the end of an output in which a test runner counts failures."""
_LOCATORS: Final = words("locators")
_KEYS: Final = words("terminal_keys")
_COMPILING: Final = words("compiling")
_RUNNING: Final = words("running")
_LONGEST_MISUSE: Final = 600
_NO_FILE, _NOT_FOUND = "No such file or directory", "not found"
_SEPARATORS: Final = words("separators")
_VIEWERS: Final = frozenset(words("viewers"))
_READERS: Final = _VIEWERS | {"sed", "awk", "stat"}
_SCRIPT_RUNNERS: Final = words("script_runners")
_RECENT: Final = 5
"""The steps before the hand-over in which a failure of an unknown tool is open: nothing says what would settle it."""
_MOST_LOOKED_AT: Final = 40
"""The steps before the hand-over in which a failure may be open; one that was left longer ago was worked around."""


def own_words(part: str) -> list[str]:
    """Return the words of a command without its settings, what it is piped into, and the programs that only run it.

    >>> own_words("CI=1 uv run python3.11 -m pytest -q a.py 2>&1 | tail")
    ['pytest', '-q', 'a.py']
    """
    found = [word for word in part.partition(" | ")[0].split() if word not in _REDIRECTIONS]
    at = 0
    while at < len(found):
        program = _plain(found[at])
        wrapper = next(
            (each for each in _WRAPPERS if (program, *found[at + 1 : at + len(each)]) == each), ()
        )
        if wrapper:
            at += len(wrapper)
        elif (
            program in _PREFIXES
            or ("=" in found[at].partition("/")[0] and not found[at].startswith("."))
            or (at and (program.startswith("-") or program[0] in "0123456789"))
        ):
            at += 1
        else:
            return [program, *found[at + 1 :]]
    return found


def _plain(word: str) -> str:
    """Return the name of a program, without its folder, and that of an interpreter without its version."""
    name = name_of(word.strip("'\"(")) or word
    bare = name.rstrip("0123456789.")
    return bare if bare in _INTERPRETERS or bare == "pip" else name


class Run(NamedTuple):
    """A command that ran: its program, with a sub-command, a script or a module, and what it was about."""

    program: str
    targets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.program.partition(" ")[0]


def run_of(part: str) -> Run:
    """Return what one command runs, and about what: words that are no options and no numbers.

    >>> run_of("cargo +nightly test -q core"), run_of("python -m pytest -x"), run_of("npm run build")
    (Run(program='cargo test', targets=('core',)), Run(program='pytest', targets=()), Run(program='npm run build', targets=()))
    """
    found = [
        word.strip("'\"(")
        for word in own_words(part.replace("\n", " "))
        if not word.startswith(("-", "+", "'-", '"-'))
    ]
    if not found or not found[0]:
        return Run("")
    program, rest = found[0], found[1:]
    if (
        (program in _WITH_SUBCOMMANDS or program in _INTERPRETERS)
        and rest
        and rest[0] not in _SEPARATORS
    ):
        is_script = rest[0] == "run" and program in _SCRIPT_RUNNERS and len(rest) > 1
        count = 2 if is_script else 1
        program, rest = " ".join([program, *rest[:count]]), rest[count:]
    targets = [
        word.partition("::")[0]
        for word in rest
        if word and not (word.isascii() and word.isdecimal()) and "=" not in word
    ]
    return Run(program, tuple(targets))


def main_part(command: str) -> str:
    """Return the part of a command that failed, most likely: the last of those that ``&&`` joins, before its pipes."""
    return command.strip().rpartition("&&")[2].partition("|")[0].strip() or command


def parts_of(command: str) -> list[str]:
    """Return the commands joined by ``&&``, without flags and without parts that only show their output. A command that
    would be reduced to its program keeps its flags.

    >>> parts_of("npm ci && cargo test -q 2>&1 | tail -3"), parts_of("netstat -an | grep 53 | head")
    (['npm ci', 'cargo test'], ['netstat -an | grep 53'])
    """
    found = []
    for part in command.split("&&"):
        words = own_words(part)
        kept = [word for word in words if not word.startswith("-")]
        kept = kept if len(kept) > 1 else words
        filters = [own_words(each) for each in part.split(" | ")[1:]]
        while filters and (not filters[-1] or filters[-1][0] in _VIEWERS):
            filters.pop()
        found.append(" | ".join([" ".join(kept), *map(" ".join, filters)]))
    return found


def signs_of(step: Step) -> list[str]:
    """Return what a step shows to work if it succeeds."""
    if step.entry.call is None:
        return []
    reads = [f"read {key}" for key in step.keys]
    if step.kind == "command":
        return [*[f"command {part}" for part in parts_of(step.command) if part], *reads]
    if step.kind in FILE_KINDS and step.keys:
        return [*reads, *(wanted_by(step) if step.is_change else [])]
    given = step.entry.given
    about = [first_text(given, keys) for keys in (_URL_KEYS, PATH_KEYS, QUERY_KEYS)]
    if given and not any(about):
        return []
    return [f"tool {step.entry.tool_name} {' '.join(about)}"]


def wanted_by(step: Step) -> list[str]:
    """Return what has to work later, so that the failure of a step is resolved: one of these."""
    if step.is_change and step.entry.call is not None:
        return [f"change {key}" for key in step.keys]
    return signs_of(step)[-1:]


def is_parse_error(step: Step) -> bool:
    """Return true if a shell could not read a command, so that nothing ran."""
    return step.kind == "command" and any(word in step.ends().text for word in _PARSE_ERRORS)


def is_answer(step: Step) -> bool:
    """Return true if a failure is an answer: that what was looked for is not there, or a no by the exit code of a command."""
    output = step.ends().text
    if step.kind != "command":
        is_lookup = step.kind in ("search", "listing", "read", "web", "question", "plan")
        return is_lookup or (step.kind == "other" and _NOT_FOUND in output[:_LONGEST_MISUSE])
    part = main_part(step.command)
    if part in _KEYS:
        return True
    if step.command.startswith(_LOCATORS) and "\n" not in output and not output.startswith("/"):
        return True  # the program that it looked for is not there, and the rest did not run
    programs = {run_of(part).name, *part.split()[:1]}
    if _NO_FILE in output and not programs.isdisjoint(_READERS):
        return True
    return not programs.isdisjoint(_PROBES) or part.startswith(("[", "test ", "!"))


def failed_tests(step: Step) -> str:
    """Return the line in which a test runner counts failures, although nothing calls its run a failure, as where its
    output goes through a pipe; empty if there is none.
    """
    if (
        step.kind != "command"
        or not step.has_succeeded
        or words_of(step.command).isdisjoint(_RUNNERS)
    ):
        return ""
    for line in reversed(step.text[-_SUMMARY:].split("\n")):
        found = line.replace(",", " ").replace(";", " ").split()
        for number, word in pairwise(found):
            if word in _COUNTED and number.isdecimal() and number.strip("0"):
                return line.strip(" =")
    return ""


def has_worked(step: Step) -> bool:
    """Return true if a step succeeded, and no exit code and no count of a test runner says otherwise."""
    return step.has_succeeded and step.ends().code in ("", "0") and not failed_tests(step)


def find_resolved(steps: Sequence[Step]) -> dict[int, int]:
    """Return the numbers of failures, each with that of the next success of the same thing.

    A command that a shell could not read is resolved by one of the same program soon after it.
    """
    later: dict[str, int] = {}
    programs: dict[str, int] = {}
    found: dict[int, int] = {}
    for step in reversed(steps):
        program = run_of(step.command).program if step.kind == "command" else ""
        if has_worked(step):
            later.update(dict.fromkeys(signs_of(step), step.number))
            programs[program] = step.number
        elif step.state == "failed":
            numbers = [later[sign] for sign in wanted_by(step) if sign in later]
            redone = programs.get(program, 0)
            if program and redone and redone - step.number <= _SOON and is_parse_error(step):
                numbers.append(redone)
            if numbers:
                found[step.number] = min(numbers)
    return found


class _Later:
    """What succeeded later, while the steps are read from the last one on: as much of it as may settle a failure."""

    def __init__(self) -> None:
        self.signs: set[str] = set()
        self.runs: list[Run] = []
        self.edited: dict[str, set[Run]] = {}
        """What succeeded after a change of a file, by the name of the file."""

    def note(self, step: Step) -> None:
        """Note a success."""
        self.signs |= {*signs_of(step), *_names_of(step), f"called {step.entry.tool_name}"}
        if step.kind == "command":
            self.runs += [run for run in map(run_of, step.command.split("&&")) if run.program]
        if step.is_change:
            for key in step.keys:
                self.edited.setdefault(name_of(key), set()).update(self.runs)

    def settles(self, step: Step) -> bool:
        """Return true if a failure is over, most likely: what it was about works in another form."""
        output = step.ends().text
        is_misuse = any(word in output[:_LONGEST_MISUSE] for word in _MISUSES)
        if step.kind != "command":
            signs = {*_names_of(step), *([f"called {step.entry.tool_name}"] if is_misuse else [])}
            return not signs.isdisjoint(self.signs)
        failed = run_of(main_part(step.command))
        for run in self.runs:
            if _covers(run, failed, output) or (is_misuse and run.name == failed.name):
                return True
        return any(
            name in output and any(_proves(run, failed) for run in runs)
            for name, runs in self.edited.items()
        )


def _names_of(step: Step) -> list[str]:
    """Return the names of the files that a step read or changed: another file of the same name may have been meant."""
    return [f"{'changed' if step.is_change else 'read'} {name_of(key)}" for key in step.keys]


def _proves(run: Run, failed: Run) -> bool:
    """Return true if a success shows that a file has no error any more, on which a run of the same program had failed."""
    if run.program == failed.program:
        return True
    verb, failed_verb = (each.program.rpartition(" ")[2] for each in (run, failed))
    is_compiled = failed_verb in _COMPILING and (verb in _COMPILING or verb in _RUNNING)
    return run.name == failed.name and (is_compiled or run.name in _INTERPRETERS)


def _covers(run: Run, failed: Run, output: str) -> bool:
    """Return true if a success of the same program was about the same, or about all, or about what the failure names."""
    if run.program != failed.program or not failed.program:
        return False
    if run.program in _SINGLE or not run.targets:
        return True
    if not failed.targets:
        return any(name_of(target) in output for target in run.targets)
    return any(_is_within(one, other) for one in failed.targets for other in run.targets)


def _is_within(path: str, folder: str) -> bool:
    return (
        path == folder
        or folder.rstrip("/") in (".", "./...")
        or path.startswith(f"{folder.rstrip('/')}/")
    )


def open_failures(steps: Sequence[Step], resolved: dict[int, int]) -> list[Step]:
    """Return the failures of the current request that nothing settled, each kind once, oldest first."""
    if not steps:
        return []
    found: list[Step] = []
    later = _Later()
    turn = steps[-1].turn
    for step in reversed(steps[-_MOST_LOOKED_AT:]):
        if step.turn != turn:
            break
        if has_worked(step):
            later.note(step)  # what came before is resolved
            continue
        is_failure = step.state == "failed" or failed_tests(step) != ""
        is_left = step.kind == "other" and step.number + _RECENT < steps[-1].number
        if not is_failure or is_left or step.number in resolved or is_answer(step):
            continue
        signs = {*wanted_by(step), telling_line(step.ends().text)} - {""}
        if later.signs.isdisjoint(signs) and not later.settles(step):
            found.append(step)
        later.signs |= signs
    found.reverse()
    return found
