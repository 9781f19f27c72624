"""The most memory that ``carry`` takes beside a body, in a process of its own for each row.

    python benches/compare/memory.py                      all workloads, with and without a total
    python benches/compare/memory.py --workloads 20 200   some of them
    python benches/compare/memory.py --smoke              the smallest

Linux tells the most that a process ever held and lets it be reset; elsewhere there is nothing to measure.
benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from paired import backends, print_origin, print_table

from toolcarry import NO_LIMIT, Policy

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import SIZES, body, generate

HEADER = ("workload", "total", "context", "most beside the body", "context and 32 bytes a message")
TOTALS = (200_000, NO_LIMIT)
STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


def status(name: str) -> int:
    """A line of the process's status, in bytes."""
    found = re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())
    return int(found[1]) * 1_024 if found else 0


def measure(path: Path, total: int) -> tuple[int, int]:
    """The bytes of the context, and the most that the process held beside the body while it was made."""
    kernel = backends()["rust"]
    policy = Policy(max_tool_context_chars=total, max_tool_result_chars=2_000)
    data = path.read_bytes()
    # What is loaded once, code above all, is no part of it; what a thread keeps for its next scan goes with the thread.
    warming = threading.Thread(target=kernel.carry_body, args=(data, "", policy))
    warming.start()
    warming.join()
    ctypes.CDLL(None).malloc_trim(0)  # what is free, and would be used again, is given back
    before = status("VmRSS")
    RESET.write_text("5")
    context = kernel.carry_body(data, "", policy)[0]
    return len(context), status("VmHWM") - before


def rows_of(messages: int, path: Path) -> list[list[str]]:
    """A row for each total, measured in a process of its own that never held anything but the body."""
    path.write_bytes(body(generate(messages)))
    rows = []
    for total in TOTALS:
        command = [sys.executable, __file__, "--one", str(path), str(total)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        context, most = map(int, found)
        shown = "none" if total == NO_LIMIT else f"{total:,}"
        allowed = context + 32 * messages
        rows.append([f"W{messages}", shown, f"{context:,}", f"{most:,}", f"{allowed:,}"])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description="the most memory that carry takes beside a body")
    parser.add_argument("--workloads", type=int, nargs="+", default=SIZES, metavar="MESSAGES")
    parser.add_argument("--smoke", action="store_true", help="the smallest workload")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, total = options.one
        print(*measure(Path(path), int(total)))
        return 0
    if "rust" not in backends() or not RESET.exists():
        print("the extension is not installed, or this is not Linux: nothing to measure")
        return 0
    print_origin()
    workloads = SIZES[:1] if options.smoke else options.workloads
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "body.json"
        print_table(HEADER, [row for size in workloads for row in rows_of(size, path)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
