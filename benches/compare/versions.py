"""Two installed versions, timed in pairs: contexts, projections, surveys, text histories, token counts, the history.

    python benches/compare/versions.py OLD NEW                      W66, W200 and W2000
    python benches/compare/versions.py OLD NEW --workloads 20 200   other workloads
    python benches/compare/versions.py --smoke                      the smallest, two rounds, with itself: that it runs

``OLD`` and ``NEW`` are the interpreters of two environments, each with a wheel that was built for release. Each version
runs in a process of its own (``versions_worker.py``), which uses public functions only; the two take turns, and every
round begins with the other one. Their outputs are compared before anything is timed. A difference is printed below the
table, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from paired import duration, print_origin, print_table
from versions_worker import JOBS

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import body, generate

WORKLOADS = (66, 200, 2_000)
WORKER = Path(__file__).with_name("versions_worker.py")
HEADER = ("workload", "job", "old", "new", "new / old")
CONTEXT = 40
"""The characters of each output that are printed on either side of a difference."""


class Version:
    """A version of the package in a process of its own."""

    def __init__(self, interpreter: str) -> None:
        self._process = subprocess.Popen(
            [interpreter, "-I", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.name: str = self.ask("version")

    def ask(self, *command: object) -> Any:
        """Send a command, and return the answer."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(command) + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise SystemExit(f"the worker ended with code {self._process.wait()}")
        return json.loads(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def measure(old: Version, new: Version, job: str, rounds: int) -> list[str]:
    """Return the medians of both versions, and the median ratio over the rounds."""
    seconds: dict[Version, list[float]] = {old: [], new: []}
    repetitions = old.ask("repetitions", job)
    new.ask("repetitions", job)  # the first runs fill caches
    for number in range(rounds):
        for version in (old, new) if number % 2 else (new, old):
            seconds[version].append(version.ask("time", job, repetitions))
    ratios = [after / before for before, after in zip(seconds[old], seconds[new], strict=True)]
    medians = [statistics.median(seconds[version]) for version in (old, new)]
    return [*map(duration, medians), f"{statistics.median(ratios):.3f}"]


def difference(old: bytes, new: bytes) -> str:
    """Return the place of the first difference, and the text on either side of it; empty if there is none."""
    if old == new:
        return ""
    place = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), -1)
    place = min(len(old), len(new)) if place < 0 else place
    start, end = max(place - CONTEXT, 0), place + CONTEXT
    shown = [each[start:end].decode(errors="replace") for each in (old, new)]
    return f"byte {place:,} of {len(old):,} and {len(new):,}: {shown[0]!r}, now {shown[1]!r}"


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="two installed versions, timed in pairs")
    parser.add_argument("old", nargs="?", default=sys.executable, metavar="OLD")
    parser.add_argument("new", nargs="?", default=sys.executable, metavar="NEW")
    parser.add_argument("--workloads", type=int, nargs="+", default=WORKLOADS, metavar="MESSAGES")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--smoke", action="store_true", help="the smallest workload, two rounds")
    options = parser.parse_args()
    if options.smoke:
        options.workloads, options.rounds = (20,), 2
    return options


def compare(
    old: Version, new: Version, workloads: Sequence[int], rounds: int
) -> tuple[list[list[str]], list[str]]:
    """Return a row for each job on each workload, and the differences of the outputs."""
    rows, differences = [], []
    with tempfile.TemporaryDirectory() as name:
        given, outputs = Path(name) / "body.json", [Path(name) / "old", Path(name) / "new"]
        for size in workloads:
            given.write_bytes(body(generate(size)))
            for version in (old, new):
                version.ask("load", str(given))
            for job in JOBS:
                for version, output in zip((old, new), outputs, strict=True):
                    version.ask("write", job, str(output))
                found = difference(*[output.read_bytes() for output in outputs])
                if found:
                    differences.append(f"- W{size}, {job}: the outputs differ at {found}")
                rows.append([f"W{size}", job, *measure(old, new, job, rounds)])
    return rows, differences


def main() -> int:
    options = read_options()
    print_origin()
    with Version(options.old) as old, Version(options.new) as new:
        print(f"Old: {old.name}. New: {new.name}.\n")
        rows, differences = compare(old, new, options.workloads, options.rounds)
    print_table(HEADER, rows)
    print("\n".join(differences) or "The outputs are equal.")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
