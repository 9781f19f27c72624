"""Show a generated request with its outputs, and what another version of toolcarry makes of it.

Run from the checkout with ``PYTHONPATH=tests``. OTHER is another checkout that holds a built extension, or the Python
of an environment in which another version is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.goldens.files import FOLDER, difference
from support.goldens.outputs import JOBS, line_of, outputs
from support.goldens.requests import COUNT, Numbered, numbered
from support.goldens.values import escaped

TESTS = Path(__file__).parents[2]
MOST = 400
"""The number of lines of a difference that are printed."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m support.goldens", description=__doc__)
    commands = parser.add_subparsers(required=True)
    show = commands.add_parser("show", help="print a request, its policies and all outputs")
    show.add_argument("number", type=int)
    show.set_defaults(run=lambda given: print_lines(shown(given.number)))
    diff = commands.add_parser("diff", help="print what OTHER makes of a request, as a difference")
    diff.add_argument("number", type=int)
    diff.add_argument("--other", type=Path, required=True)
    diff.set_defaults(run=lambda given: print_diff(given.number, given.other))
    changes = commands.add_parser(
        "changes", help="list the lines that differ from the golden files, or from OTHER's"
    )
    changes.add_argument("--other", type=Path)
    changes.add_argument("--first", type=int, default=0)
    changes.add_argument("--last", type=int, default=COUNT - 1)
    changes.set_defaults(run=lambda given: print_changes(given.first, given.last, given.other))
    lines = commands.add_parser(
        "lines", help="print the lines of numbers, as golden files have them"
    )
    lines.add_argument("first", type=int)
    lines.add_argument("last", type=int)
    lines.set_defaults(run=lambda given: print_lines(lines_of(given.first, given.last)))
    given = parser.parse_args()
    given.run(given)


def print_lines(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)  # noqa: T201  a command


def lines_of(first: int, last: int) -> Iterator[str]:
    return (line_of(numbered(number)) for number in range(first, last + 1))


def shown(number: int) -> Iterator[str]:
    """Yield the lines that describe a request and its outputs."""
    made = numbered(number)
    yield from request_lines(made)
    for jobs in JOBS.values():
        for name, output in outputs(made, jobs).items():
            yield f"\n=== {name}"
            yield in_lines(json.loads(output))


def request_lines(made: Numbered) -> Iterator[str]:
    yield f"request {made.number}, {made.shape}"
    yield f"carry: {made.carry}"
    yield f"project: {made.project}"
    yield escaped(f"recount: {made.recount}")
    yield f"summary: {made.summary!r}"
    for heading, messages in (("messages", made.messages), ("messages of the next request", made.later)):  # fmt: skip
        yield f"\n=== {heading}"
        for message in messages:
            yield escaped(json.dumps(message, ensure_ascii=False))
    yield "\n=== body"
    yield escaped(made.body.decode("utf-8", "surrogateescape"))


def in_lines(value: Any) -> str:
    """Return a value as indented JSON, with the lines of each string below one another."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return escaped(text.replace("\\n", "\\n\n"))


def run_other(other: Path, *arguments: str) -> str:
    """Run this command on another version: with these tests, and its own package."""
    is_checkout = other.is_dir()
    path = [other.resolve() / "python", TESTS] if is_checkout else [TESTS]
    command = [sys.executable if is_checkout else other, "-m", "support.goldens", *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONUTF8": "1"}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return run.stdout.decode()


def print_diff(number: int, other: Path) -> None:
    here = "".join(f"{line}\n" for line in shown(number))
    there = run_other(other, "show", str(number))
    found = difference(there, here, str(other), "here", MOST)
    print(found.strip() or "no difference")  # noqa: T201  a command


def print_changes(first: int, last: int, other: Path | None) -> None:
    if other is None:
        files = sorted((FOLDER / "requests").glob("*.txt"))
        frozen = [line for path in files for line in path.read_text("ascii").splitlines()]
        expected = [line for line in frozen if not line.startswith("#")][first : last + 1]
    else:
        expected = run_other(other, "lines", str(first), str(last)).splitlines()
    count = 0
    for before, after in zip(expected, lines_of(first, last), strict=True):
        if before != after:
            count += 1
            print(f"{before} -> {after}")  # noqa: T201  a command
    print(f"{count} of {len(expected)} requests changed")  # noqa: T201  a command


if __name__ == "__main__":
    main()
