"""Shared by the scripts of this folder: the backends, interleaved rounds, and the origin of a table."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

import toolcarry
from toolcarry.fallback import kernels as reference

Job = Callable[[], object]

SOURCES = Path(__file__).parents[1] / "rust"

LEAST_SAMPLE = 0.002
"""Seconds. A job that takes less is repeated within its round."""


def backends() -> dict[str, Any]:
    """The kernels of both implementations, by name; Rust only where the extension is installed.

    ``TOOLCARRY_REQUIRE_RUST=1`` makes a missing extension an error.
    """
    found: dict[str, Any] = {"python": reference}
    try:
        found["rust"] = importlib.import_module("toolcarry._backend._core")
    except ModuleNotFoundError as error:
        if (
            error.name != "toolcarry._backend._core"
            or os.environ.get("TOOLCARRY_REQUIRE_RUST") == "1"
        ):
            raise
    return found


def rust_backend() -> Any:
    """Rust's kernels; where they are not installed, there is nothing to measure, and the script ends."""
    rust = backends().get("rust")
    if rust is None:
        print("the extension is not installed: nothing to measure")
        raise SystemExit(0)
    return rust


def build(name: str, folder: Path) -> Path | None:
    """A library, from its source in ``benches/rust``; ``None`` where there is no compiler."""
    if shutil.which("rustc") is None:
        return None
    library = folder / f"{name}.so"
    command = ["rustc", "-O", "--edition", "2024", "--crate-type", "cdylib", "-o", str(library)]
    subprocess.run([*command, str(SOURCES / f"{name}.rs")], check=True)
    return library


def build_scan(folder: Path) -> Callable[[bytes, int], int] | None:
    """The bare scan; ``None`` where there is no compiler."""
    library = build("yardstick", folder)
    if library is None:
        return None
    found = ctypes.CDLL(str(library)).count_structure
    found.argtypes, found.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_uint64
    return found if found(b'{"a":[1]}' + b" " * 64, 73) else None


def time_once(job: Job, repetitions: int = 1) -> float:
    """Return the seconds of one run of ``job``, averaged over this many."""
    start = perf_counter()
    for _ in range(repetitions):
        job()
    return (perf_counter() - start) / repetitions


class Rounds:
    """The seconds of every job in every round. The jobs take turns, each round begins with another one.

    ``is_once``: a job is done once a round and not before, since it takes new input each time.
    """

    def __init__(self, jobs: Mapping[str, Job], count: int, *, is_once: bool = False) -> None:
        self._seconds: dict[str, list[float]] = {name: [] for name in jobs}
        repetitions = {name: 1 if is_once else repetitions_of(job) for name, job in jobs.items()}
        names = list(jobs)
        was_enabled = gc.isenabled()
        for number in range(count):
            first = number % len(names)
            gc.collect()
            gc.disable()
            for name in (*names[first:], *names[:first]):
                self._seconds[name].append(time_once(jobs[name], repetitions[name]))
            if was_enabled:
                gc.enable()

    def __contains__(self, name: str) -> bool:
        return name in self._seconds

    def median(self, name: str) -> float:
        return statistics.median(self._seconds[name])

    def ratio(self, name: str, other: str) -> float:
        """The median over the rounds of how many times as long as ``other`` a job takes."""
        pairs = zip(self._seconds[name], self._seconds[other], strict=True)
        return statistics.median([one / two for one, two in pairs])


def repetitions_of(job: Job) -> int:
    job()  # the first run fills caches
    return max(1, round(LEAST_SAMPLE / max(time_once(job), 1e-9)))


def duration(seconds: float) -> str:
    """A time in the unit that suits it, with three digits.

    >>> duration(0.00001234), duration(0.5), duration(75)
    ('12.3 us', '500 ms', '75 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def print_origin() -> None:
    """The machine, the versions and the command that a table comes from."""
    print(f"- Machine: {processor()}, {os.cpu_count()} CPUs, {platform.platform(terse=True)}")
    versions = [
        f"{platform.python_implementation()} {platform.python_version()}",
        f"toolcarry {toolcarry.__version__}",
        f"orjson {orjson.__version__}",
        rustc(),
    ]
    print(f"- Versions: {', '.join(filter(None, versions))}")
    script = Path(sys.argv[0])
    shown = "/".join(script.resolve().parts[-3:])
    print(f"- Command: `{shlex.join(['python', shown, *sys.argv[1:]])}`\n")


def processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def rustc() -> str:
    """The compiler that stands on the path: very likely the one that built the extension."""
    if shutil.which("rustc") is None:
        return ""
    found = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    return " ".join(found.stdout.split()[:2])


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A markdown table, numbers to the right."""
    print(f"| {' | '.join(header)} |")
    print(f"|---|{'--:|' * (len(header) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()
