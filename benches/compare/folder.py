"""``toolcarry batch --job inspect`` and ``toolcarry inspect`` on a folder of sessions, compared with a bare scan.

    python benches/compare/folder.py                   1 GB of sessions, three rounds
    python benches/compare/folder.py --megabytes 150   fewer
    python benches/compare/folder.py --smoke           2 MB, one round: that it runs

The sessions are those of ``workload``, 32 messages each, written as Claude Code does; every tenth is generated, and the
others are copies in which every text begins with another word, so that no count of tokens is remembered. Each candidate
is a process of its own; they take turns, and the least time of each counts. Processor time is that of all threads.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import orjson
from paired import print_origin, print_table

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import generate

MESSAGES = 32
GENERATED = 10
"""One session in ten is generated; the others are copies of it with other texts."""
INSPECTED = 500
"""The number of files for ``toolcarry inspect``."""
HEADER = ("candidate", "files", "MB", "s", "processor s", "MB per processor s")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A command on files. It is run once in each round."""

    name: str
    files: Sequence[Path]
    command: Sequence[str]

    def run(self) -> tuple[float, float]:
        """Return the seconds of the clock, and those of the processors."""
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        done = subprocess.run(self.command, capture_output=True, check=False)
        taken = perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(done.stderr.decode())
        return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def session(number: int) -> bytes:
    """A session of Claude Code."""
    facts = {"cwd": "/w", "sessionId": f"session-{number}", "timestamp": "2026-03-14T09:12:45.605Z"}
    lines = []
    for at, message in enumerate(generate(MESSAGES, number)):
        named = {"model": "claude-sonnet-4-5"} if message["role"] == "assistant" else {}
        record = {"uuid": f"{number}-{at}", "parentUuid": f"{number}-{at - 1}" if at else None}
        lines.append(orjson.dumps({**record, **facts, "message": {**named, **message}}) + b"\n")
    return b"".join(lines)


def write_sessions(folder: Path, total: int) -> list[Path]:
    """Write sessions of ``total`` bytes."""
    found: list[Path] = []
    size, data = 0, b""
    while size < total:
        number = len(found)
        if number % GENERATED == 0:
            data = session(number // GENERATED)
        other = data
        for member in (b'"content":"', b'"text":"'):
            other = other.replace(member, b"%s%d " % (member, number))
        found.append(folder / f"{number:05}.jsonl")
        found[-1].write_bytes(other)
        size += len(other)
    return found


def scan(names: Sequence[str]) -> None:
    """Read files, and count their lines."""
    for name in names:
        with open(name, "rb") as file:  # noqa: PTH123 - as a bare program would
            file.read().count(b"\n")


def batch(files: Sequence[Path], rows: Path, jobs: int) -> list[str]:
    names = [str(path) for path in files]
    return [sys.executable, "-m", "toolcarry", "batch", *names, "--job", "inspect", "--out", str(rows), "--jobs", str(jobs)]  # fmt: skip


def candidates(files: Sequence[Path], rows: Path) -> list[Candidate]:
    many = files[:INSPECTED]
    return [
        Candidate("bare scan", files, [sys.executable, __file__, "--scan", *map(str, files)]),
        Candidate("batch --jobs 1", files, batch(files, rows, 1)),
        Candidate("batch --jobs 2", files, batch(files, rows, 2)),
        Candidate("inspect", many, [sys.executable, "-m", "toolcarry", "inspect", *map(str, many)]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--scan", action="store_true", help="the bare scan")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    if given.scan:
        scan(given.files)
    else:
        measure(2 if given.smoke else given.megabytes, 1 if given.smoke else given.rounds)


def measure(megabytes: int, rounds: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write_sessions(folder, megabytes * 1_000_000)
        tried = candidates(files, folder / "rows.jsonl")
        sizes = [sum(path.stat().st_size for path in each.files) / 1e6 for each in tried]
        times = [[each.run() for each in tried] for _ in range(rounds)]
    print_origin()
    best = [[min(times[at][place][which] for at in range(rounds)) for which in (0, 1)] for place in range(len(tried))]  # fmt: skip
    rows = []
    for each, size, (taken, processor) in zip(tried, sizes, best, strict=True):
        rows.append([each.name, f"{len(each.files):,}", f"{size:,.0f}", f"{taken:.2f}", f"{processor:.2f}", f"{size / processor:,.1f}"])  # fmt: skip
    print_table(HEADER, rows)


if __name__ == "__main__":
    main()
