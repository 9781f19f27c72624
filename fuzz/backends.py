"""Compare both backends on random bodies: the same answer, or the same error at the same position.

    python fuzz/backends.py SECONDS [--seed 0] [--start 0]

The bodies are those of ``seeds.py`` and those that ``just fuzz inputs`` has found, with random changes: bytes are
flipped, removed, inserted and repeated, bodies are joined, hostile fragments are inserted, and values are replaced. A
case depends on the seed and its number only. Every difference is saved in ``fuzz/found``, and the exit code is 1 if
there is any.
"""

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from time import monotonic
from types import ModuleType
from typing import Any

import seeds

from toolcarry._backend import _core
from toolcarry.fallback import kernels as reference
from toolcarry.importers.kernels import ImportingKernels

sys.path.insert(0, str(seeds.ROOT / "tests"))

from mutator import Mutator
from support.builders.bodies import body_kernels

FOUND = seeds.FUZZ / "found"


def corpus() -> list[bytes]:
    """Return the first bodies, always in the same order for the same files."""
    bodies = set(seeds.bodies())
    for path in (seeds.FUZZ / "corpus" / "inputs").glob("*"):
        with suppress(FileNotFoundError):  # libFuzzer may be changing the folder
            data = path.read_bytes()
            bodies.add(data.rpartition(b"\xff")[0] or data)
    return sorted(bodies, key=lambda body: (len(body), body))


def outcome(job: Callable[[ModuleType], Any], backend: ModuleType) -> Any:
    """Return the text of a job's result, with key order and number types, or its error's type, text and position."""
    try:
        return repr(job(backend))
    except BaseException as error:  # a Rust panic is not an Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return type(error), str(error), getattr(error, "position", None)


def save(number: int, job: str, body: bytes, what: str) -> None:
    name = f"{job}-{hashlib.sha1(body, usedforsecurity=False).hexdigest()[:12]}"
    FOUND.mkdir(exist_ok=True)
    (FOUND / f"{name}.body").write_bytes(body)
    (FOUND / f"{name}.txt").write_text(what, "utf-8", "backslashreplace")
    print(f"case {number}: {job} differs, fuzz/found/{name}.body", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    given = parser.parse_args()
    mutator = Mutator(corpus())
    rust, python = ImportingKernels(_core), ImportingKernels(reference)
    counts: Counter[str] = Counter()
    end = monotonic() + given.seconds
    for number in count(given.start):
        if monotonic() > end:
            break
        body, summary, policy = mutator.case(given.seed, number)
        for job, run in body_kernels(body, summary, policy).items():
            found, expected = outcome(run, rust), outcome(run, python)
            counts[f"{job}, {'an answer' if isinstance(expected, str) else 'an error'}"] += 1
            if found != expected:
                counts["differences"] += 1
                what = f"{policy!r}\n{summary!r}\n\nRust:   {found}\n\nPython: {expected}\n"
                save(number, job, body, what)
    print(f"{number - given.start:,} cases of seed {given.seed}, from {given.start:,} on")
    for name, times in sorted(counts.items()):
        print(f"{times:>12,}  {name}")
    sys.exit(1 if counts["differences"] else 0)


if __name__ == "__main__":
    main()
