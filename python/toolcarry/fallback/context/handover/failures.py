"""Failures that nothing later resolved: no success of the same command, or of the same tool on the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from toolcarry.fallback.context.handover.files import name_of
from toolcarry.fallback.context.handover.kinds import (
    FILE_KINDS,
    PATH_KEYS,
    QUERY_KEYS,
    first_text,
    words,
)
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
_URL_KEYS: Final = ("url",)
_SOON: Final = 3
"""The steps in which a command is redone that a shell could not read."""
_COUNTED: Final = words("counted")
_SUMMARY: Final = 400
"""The characters at the end of an output in which a test runner counts failures."""
_MOST_LOOKED_AT: Final = 40
"""The steps before the hand-over in which a failure may be open; one that was left longer ago was worked around."""


def program_of(command: str) -> str:
    """Return the program that a command runs, with its sub-command, or with the script or module that it interprets.

    >>> program_of("CI=1 cargo +nightly test -q | tail"), program_of("python -m pytest -x"), program_of("make")
    ('cargo test', 'python pytest', 'make')
    """
    found = [
        word
        for word in command.replace("\n", " ").split()
        if word not in _PREFIXES and not word.startswith(("-", "+", "'-", '"-'))
        and ("=" not in word or word.startswith(("/", ".")))
    ]  # fmt: skip
    if not found:
        return ""
    program = name_of(found[0].strip("'\"("))
    takes_more = program in _WITH_SUBCOMMANDS or program in _INTERPRETERS
    if takes_more and len(found) > 1 and found[1] not in ("|", "&&", ";", ">"):
        second = found[1].strip("'\"")
        if program in ("npm", "pnpm", "yarn", "bun") and second == "run" and len(found) > 2:
            second = f"run {found[2]}"
        return f"{program} {second}"
    return program


def main_part(command: str) -> str:
    """Return the part of a command that failed, most likely: the last of those that ``&&`` joins, before its pipes."""
    return command.strip().rpartition("&&")[2].partition("|")[0].strip() or command


def parts_of(command: str) -> list[str]:
    """Return the commands that ``&&`` joins, without their flags and what they are piped into. One of which only the program
    is left keeps its flags.

    >>> parts_of("npm ci && cargo test -q 2>&1 | tail -3")
    ['npm ci', 'cargo test']
    """
    found = []
    for part in command.split("&&"):
        words = [word for word in part.partition(" | ")[0].split() if word not in _REDIRECTIONS]
        kept = [word for word in words if not word.startswith("-")]
        found.append(" ".join(kept if len(kept) > 1 else words))
    return found


def signs_of(step: Step) -> list[str]:
    """Return what a step shows to work if it succeeds."""
    if step.entry.call is None:
        return []
    reads = [f"read {key}" for key in step.keys]
    if step.kind == "command":
        return [*[f"command {part}" for part in parts_of(step.command)], *reads]
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
    """Return true if a command says no by its exit code, and so did not fail: a search without hits, a test, a probe."""
    if step.kind != "command":
        return step.kind in ("search", "listing", "question", "plan")
    program = program_of(main_part(step.command)).partition(" ")[0]
    return program in _PROBES or main_part(step.command).startswith(("[", "test ", "!"))


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


def find_resolved(steps: Sequence[Step]) -> dict[int, int]:
    """Return the numbers of failures, each with that of the next success of the same thing.

    A command that a shell could not read is resolved by one of the same program soon after it.
    """
    later: dict[str, int] = {}
    programs: dict[str, int] = {}
    found: dict[int, int] = {}
    for step in reversed(steps):
        program = program_of(step.command) if step.kind == "command" else ""
        if step.has_succeeded and not failed_tests(step):
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


def open_failures(steps: Sequence[Step], resolved: dict[int, int]) -> list[Step]:
    """Return the failures of the current request that are not resolved, each kind once, oldest first."""
    if not steps:
        return []
    found: list[Step] = []
    known: set[str] = set()
    turn = steps[-1].turn
    for step in reversed(steps[-_MOST_LOOKED_AT:]):
        if step.turn != turn:
            break
        counted = failed_tests(step)
        if step.has_succeeded and not counted:
            known |= set(signs_of(step))  # what came before is resolved
            continue
        is_failure = step.state == "failed" or counted != ""
        if not is_failure or step.number in resolved or is_answer(step):
            continue
        lines = [line for line in step.ends().text.split("\n") if line.strip()]
        signs = {*wanted_by(step), telling_line(lines).strip() if lines else ""} - {""}
        if known.isdisjoint(signs):
            found.append(step)
        known |= signs
    found.reverse()
    return found
