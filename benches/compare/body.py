"""``carry`` from bytes: against orjson and the Python backend, a bare scan of the same bytes, and their copy.

    python benches/compare/body.py                      all workloads, from 20 to 20,000 messages, and 48 session files
    python benches/compare/body.py --workloads 20 200   some of them
    python benches/compare/body.py --smoke              the smallest, two rounds: that it runs

What both give is asserted equal before anything is timed, and all take turns in one process. The bare scan is
``benches/rust/yardstick.rs``, built with ``rustc`` where there is one. benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from paired import Job, Rounds, build_scan, duration, print_origin, print_table, rust_backend

from toolcarry import NO_LIMIT, CarryPolicy
from toolcarry.fallback.context import carry

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import SIZES, body, generate, to_jsonl

SETTINGS = ((2_000, 200_000), (500, 200_000), (2_000, NO_LIMIT), (100_000, NO_LIMIT))
"""Characters of one result, and of all together."""
FILES, FILE_SEED, FIRST_SEED = 48, 7, 1_000
FILE_TOTALS = (NO_LIMIT, 20_000)

BODY_HEADER = (
    "workload", "per result", "total", "body", "context", "Rust", "orjson + Python", "orjson + Python / Rust",
    "scan", "Rust / scan", "copy", "Rust / copy",
)  # fmt: skip
FILES_HEADER = ("files", "per result", "total", "bytes", "threads", "Rust", "orjson + Python", "orjson + Python / Rust")  # fmt: skip


def policy_of(limit: int, total: int) -> CarryPolicy:
    return CarryPolicy(max_chars=total, max_result_chars=limit, layout="sections")


def in_bytes(messages: list[Any], policy: CarryPolicy) -> bytes:
    """Return the context of the Python backend in UTF-8."""
    found: Any = carry(messages, "", policy)
    context: str = found.context
    return context.encode()


def decode_and_carry(data: bytes, policy: CarryPolicy) -> bytes:
    """The opponent: the fastest parser that Python has, and the Python backend."""
    return in_bytes(orjson.loads(data)["messages"], policy)


def carry_lines(data: bytes, policy: CarryPolicy) -> bytes:
    """The opponent for a session file."""
    records = [orjson.loads(line) for line in data.splitlines() if line]
    return in_bytes(records, policy)


def shown(number: int) -> str:
    return "none" if number == NO_LIMIT else f"{number:,}"


def measure_body(
    name: str, data: bytes, limit: int, total: int, rust: Any, scan: Any, rounds: int
) -> list[str]:
    """One row of the first table."""
    policy = policy_of(limit, total)
    context = decode_and_carry(data, policy)
    if rust.carry(data, "", policy).context != context:
        raise SystemExit(f"{name}: the contexts differ")
    jobs: dict[str, Job] = {
        "rust": partial(rust.carry, data, "", policy),
        "python": partial(decode_and_carry, data, policy),
        "copy": partial(bytearray, data),
    }
    if scan is not None:
        jobs["scan"] = partial(scan, data, len(data))
    found = Rounds(jobs, rounds)
    scans = ["-", "-"]
    if scan is not None:
        scans = [duration(found.median("scan")), f"{found.ratio('rust', 'scan'):.2f}"]
    return [
        name,
        shown(limit),
        shown(total),
        f"{len(data):,}",
        f"{len(context):,}",
        duration(found.median("rust")),
        duration(found.median("python")),
        f"{found.ratio('python', 'rust'):.1f}",
        *scans,
        duration(found.median("copy")),
        f"{found.ratio('rust', 'copy'):.2f}",
    ]


def write_sessions(folder: Path, count: int) -> list[Path]:
    """Session files of 20 to 3,000 messages, log-normally distributed."""
    dice = random.Random(FILE_SEED)
    paths = []
    for number in range(count):
        size = max(20, min(3_000, int(dice.lognormvariate(5, 0.9))))
        path = folder / f"{number:02}.jsonl"
        path.write_bytes(to_jsonl(generate(size, FIRST_SEED + number)))
        paths.append(path)
    return paths


def carry_each(paths: Sequence[Path], policy: CarryPolicy) -> list[bytes]:
    return [carry_lines(path.read_bytes(), policy) for path in paths]


def measure_files(paths: Sequence[Path], total: int, rust: Any, rounds: int) -> list[list[str]]:
    """The rows of the second table for one total: one thread, and two."""
    policy = policy_of(2_000, total)
    contexts = carry_each(paths, policy)
    if [each.context for each in rust.carry_files(list(paths), "", policy, 2)] != contexts:
        raise SystemExit("the contexts of the files differ")
    jobs: dict[str, Job] = {"python": partial(carry_each, paths, policy)}
    for threads in (1, 2):
        jobs[str(threads)] = partial(rust.carry_files, list(paths), "", policy, threads)
    found = Rounds(jobs, rounds)
    size = sum(path.stat().st_size for path in paths)
    return [
        [
            str(len(paths)),
            "2,000",
            shown(total),
            f"{size:,}",
            threads,
            duration(found.median(threads)),
            duration(found.median("python")),
            f"{found.ratio('python', threads):.1f}",
        ]
        for threads in ("1", "2")
    ]


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="carry from bytes, timed in pairs")
    parser.add_argument("--workloads", type=int, nargs="+", default=SIZES, metavar="MESSAGES")
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--smoke", action="store_true", help="the smallest workload, two rounds")
    options = parser.parse_args()
    if options.smoke:
        options.workloads, options.files, options.rounds = SIZES[:1], 2, 2
    return options


def main() -> int:
    options = read_options()
    rust = rust_backend()
    print_origin()
    with tempfile.TemporaryDirectory() as name:
        scan = build_scan(Path(name))
        rows = []
        for size in options.workloads:
            data = body(generate(size))
            for limit, total in SETTINGS:
                rows.append(
                    measure_body(f"W{size}", data, limit, total, rust, scan, options.rounds)
                )
        print_table(BODY_HEADER, rows)
        paths = write_sessions(Path(name), options.files)
        files = [
            row
            for total in FILE_TOTALS
            for row in measure_files(paths, total, rust, options.rounds)
        ]
        print("Session files, in Rust's threads:\n")
        print_table(FILES_HEADER, files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
