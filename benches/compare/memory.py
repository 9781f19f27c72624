"""The peak memory of jobs on a body without the body, measured in a process of its own for each row.

    python benches/compare/memory.py                      all workloads
    python benches/compare/memory.py --workloads 20 200   some of them
    python benches/compare/memory.py --smoke              the smallest

All that is allocated is counted, Python's objects too, by ``benches/rust/heap.rs``, which is built with ``rustc`` and
loaded before the C library: what the system says of a process is wrong by up to 128 kB. It needs Linux and its GNU
library. benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from paired import backends, build, print_origin, print_table

from toolcarry import NO_LIMIT, CarryPolicy, ProjectPolicy

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import SIZES, body, generate

HEADER = (
    "workload",
    "job",
    "output",
    "peak without the body",
    "without the output",
    "peak / output",
)
LIMIT = 2_000
JOBS: dict[str, tuple[str, tuple[object, ...]]] = {
    "carry, 200,000": ("carry", ("", CarryPolicy(max_chars=200_000, max_result_chars=LIMIT, layout="sections"))),
    "carry": ("carry", ("", CarryPolicy(max_chars=NO_LIMIT, max_result_chars=LIMIT))),
    "project_body": ("project_body", (ProjectPolicy(max_result_chars=LIMIT), None)),
    "extract_tool_blocks": ("extract_tool_blocks", ()),
}  # fmt: skip


def measure(path: Path, job: str) -> tuple[int, int]:
    """The bytes of the output, and the peak memory of the process without the body.

    The output of ``extract_tool_blocks`` is objects, which hold nearly all of the body: it counts as one of its size.
    """
    name, options = JOBS[job]
    data = path.read_bytes()
    kernel = getattr(backends()["rust"], name)

    def run() -> object:
        return kernel(data, *options)

    run()  # tables and other values that are made once and kept don't count
    heap = ctypes.CDLL(None)
    heap.heap_most.restype = ctypes.c_ssize_t
    heap.heap_start()
    made = run()
    most = heap.heap_most()
    return len(made[0] if isinstance(made, tuple) else data), most


def rows_of(messages: int, heap: Path, path: Path) -> list[list[str]]:
    """A row for each job, measured in a process of its own."""
    path.write_bytes(body(generate(messages)))
    environment = {**os.environ, "LD_PRELOAD": str(heap), "PYTHONMALLOC": "malloc"}
    rows = []
    for job in JOBS:
        command = [sys.executable, __file__, "--one", str(path), job]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        output, most = map(int, done.stdout.split())
        figures = [f"{number:,}" for number in (output, most, most - output)]
        rows.append([f"W{messages}", job, *figures, f"{most / output:.2f}"])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description="measure the peak memory of a job without the body"
    )
    parser.add_argument("--workloads", type=int, nargs="+", default=SIZES, metavar="MESSAGES")
    parser.add_argument("--smoke", action="store_true", help="the smallest workload")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, job = options.one
        print(*measure(Path(path), job))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        is_glibc = platform.libc_ver()[0] == "glibc"
        heap = build("heap", folder) if is_glibc and "rust" in backends() else None
        if heap is None:
            print("needs the extension, the GNU C library, and rustc: nothing to measure")
            return 0
        print_origin()
        workloads = SIZES[:1] if options.smoke else options.workloads
        rows = [row for size in workloads for row in rows_of(size, heap, folder / "body.json")]
        print_table(HEADER, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
