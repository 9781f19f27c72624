"""Time is linear in the input, for every input: T(2n) / T(n) of what might not be.

    python benches/compare/linear.py            a million and two million characters; 100,000 and 200,000 messages
    python benches/compare/linear.py --smoke    small sizes: that it runs, and that nothing is quadratic

Every cell is the smallest time of several runs at 2n, and its ratio to that at n. A ratio of 2.5 or more is measured
again and longer; one that stays is a finding, and the exit code 1. Times of a few nanoseconds per character are not judged: there
the caches of the machine make the ratio. The output of the backends is asserted equal at n.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import process_time
from typing import Any

import orjson
from growth import MESSAGES, RESULTS, TEXTS, Message, one_result
from paired import Job, backends, duration, print_origin, print_table

from toolcarry import NO_LIMIT, CarryPolicy, ProjectPolicy
from toolcarry.types.policy import DEFAULT_RULES

WHOLE = CarryPolicy(max_chars=NO_LIMIT)
TOKENS = CarryPolicy(max_tokens=120)
"""So few that every text is cut at both sizes: one that fits at the smaller is another job at the larger."""
ON_RUST = ("Tokens", "Texts on Rust", "Messages on Rust")
"""The tables of Rust alone: of jobs that exist only there, and of tokens, since the fallback's tiktoken is quadratic on some texts."""
CUT = CarryPolicy(max_chars=8_000)

PROJECTED = ProjectPolicy(max_result_chars=2_000, max_all_results_chars=8_000, repair=True)

ATTEMPTS = 6
LEAST_RUNS = 2
LEAST_SECONDS = 0.02
UNJUDGED = 5e-9
"""Seconds per character below which a ratio says nothing."""

Jobs = Callable[[Any, int], dict[str, Job]]
"""From a backend's kernels and a size to the jobs, by name."""


def carry(kernels: Any, messages: Sequence[Message], policy: CarryPolicy, summary: str = "") -> Job:
    return partial(kernels.carry, messages, summary, policy)


def project(kernels: Any, messages: Sequence[Message]) -> Job:
    return partial(kernels.project, messages, PROJECTED, None)


def recount(kernels: Any, messages: Sequence[Message], total: int | None = None) -> Job:
    return partial(kernels.recount, messages, (), "turn_id", 500, total, None)


def project_body(kernels: Any, messages: Sequence[Message]) -> Job:
    body = orjson.dumps({"messages": messages})
    return partial(kernels.project_body, body, PROJECTED, None)


def steps(kernels: Any, messages: Sequence[Message]) -> Job:
    """The three steps that ``carry`` is made of, one after the other."""

    def run() -> str:
        blocks = kernels.extract_tool_blocks(messages)
        kept = kernels.deduplicate_tools(blocks, DEFAULT_RULES)
        text: str = kernels.format_tool_context(kept, "", CUT)
        return text

    return run


def text_jobs(kernels: Any, text: str) -> dict[str, Job]:
    """A text in every place where it can stand."""
    result = one_result("Grep", {"pattern": "x"}, text)
    command = one_result("Bash", {"command": text}, "output")
    path = one_result("Read", {"file_path": text}, "output")
    argument = one_result("Grep", {"pattern": text}, "output")
    half = len(text) // 2
    return {
        "result": carry(kernels, result, WHOLE),
        "result, cut": carry(kernels, result, CUT),
        "command": carry(kernels, command, WHOLE),
        "command, cut": carry(kernels, command, CUT),
        "path": carry(kernels, path, WHOLE),
        "argument": carry(kernels, argument, WHOLE),
        "summary": carry(kernels, [], WHOLE, text),
        "summary, cut": carry(kernels, [], CUT, text),
        "truncate": partial(kernels.truncate, text, half, keep="ends", marker="..."),
        "side effects": partial(kernels.has_side_effects, text),
    }


def token_jobs(kernels: Any, text: str) -> dict[str, Job]:
    def cut(limit: int, keep: str) -> Job:
        return partial(
            kernels.truncate_tokens, text, limit, keep=keep, marker="...", encoding="o200k_base"
        )

    result = one_result("Bash", {"command": "ls"}, text)
    return {
        "o200k_base": partial(kernels.count_tokens, text, "o200k_base"),
        "cl100k_base": partial(kernels.count_tokens, text, "cl100k_base"),
        "head of 500": cut(500, "head"),
        "tail of 500": cut(500, "tail"),
        "ends, an eighth": cut(len(text) // 8, "ends"),
        "result, cut": carry(kernels, result, TOKENS),
    }


def message_jobs(kernels: Any, messages: Sequence[Message]) -> dict[str, Job]:
    return {
        "carry": carry(kernels, messages, WHOLE),
        "carry, cut": carry(kernels, messages, CUT),
        "steps": steps(kernels, messages),
    }


def rust_text_jobs(kernels: Any, text: str) -> dict[str, Job]:
    return {
        "result, projected": project(kernels, one_result("Grep", {"pattern": "x"}, text)),
        "said": recount(kernels, [{"role": "assistant", "content": text}]),
    }


def rust_message_jobs(kernels: Any, messages: Sequence[Message]) -> dict[str, Job]:
    return {
        "project": project(kernels, messages),
        "project body": project_body(kernels, messages),
        "recount": recount(kernels, messages),
        "recount, cut": recount(kernels, messages, 8_000),
    }


def joined(
    builders: Mapping[str, Callable[[int], Any]], jobs: Callable[[Any, Any], dict[str, Job]]
) -> dict[str, Jobs]:
    """For each kind of input, its jobs at any size."""

    def at_size(build: Callable[[int], Any], kernels: Any, size: int) -> dict[str, Job]:
        return jobs(kernels, build(size))

    return {kind: partial(at_size, build) for kind, build in builders.items()}


def grow(small: Job, large: Job, most: float, unjudged: float) -> tuple[float, float, bool]:
    """The time of ``large``, its ratio to that of ``small``, and whether that is a finding.

    Counts the processor's time, which other programs don't add to. The jobs take turns; each attempt after the
    first takes twice as long, so that a slow moment of the machine passes. Times of different attempts are not compared:
    the machine may have been faster during one of them.
    """
    patience = LEAST_SECONDS
    for _ in range(ATTEMPTS):
        one = two = float("inf")
        spent, runs = 0.0, 0
        gc.collect()
        gc.disable()
        while runs < LEAST_RUNS or spent < patience:
            seconds = [cpu_time(small), cpu_time(large)]
            one, two = min(one, seconds[0]), min(two, seconds[1])
            spent += sum(seconds)
            runs += 1
        gc.enable()
        # The processor's clock may stand still over a run of a few microseconds.
        ratio = two / one if one else 1.0
        if ratio < most or two < unjudged:
            return two, ratio, False
        patience *= 2
    return two, ratio, True


def keep_freed_memory() -> None:
    """Restart with an allocator that keeps freed memory (glibc; others ignore it).

    Otherwise blocks of more than 32 MB are mapped again in each run, and new pages, not the work, make
    the ratio of a job that holds 30 MB for n and 60 MB for 2n.
    """
    if "GLIBC_TUNABLES" not in os.environ:
        keeping = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=8589934592"
        command = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, command, {**os.environ, "GLIBC_TUNABLES": keeping})


def cpu_time(job: Job) -> float:
    start = process_time()
    job()
    return process_time() - start


class Table:
    """The ratios of every kind of input under every job."""

    def __init__(self, title: str, kernels: Mapping[str, Any], most: float) -> None:
        self._title = title
        self._kernels = kernels
        self._most = most
        self._rows: dict[str, list[list[str]]] = {name: [] for name in kernels}
        self._header: list[str] = []
        self.findings: list[str] = []

    def add(self, kind: str, jobs: Jobs, size: int) -> None:
        """Measure one kind of input on all backends."""
        sizes = {
            name: (jobs(kernel, size), jobs(kernel, 2 * size))
            for name, kernel in self._kernels.items()
        }
        self._header = list(next(iter(sizes.values()))[0])
        for job in self._header:
            first, *others = [small[job]() for small, _ in sizes.values()]
            if any(other != first for other in others):
                self.findings.append(f"{self._title}, {kind}, {job}: the backends differ")
        for name, (small, large) in sizes.items():
            cells = []
            for job in self._header:
                unjudged = 2 * size * UNJUDGED
                seconds, ratio, is_finding = grow(small[job], large[job], self._most, unjudged)
                cells.append(f"{ratio:.2f} ({duration(seconds)})")
                if is_finding:
                    cells[-1] = f"**{cells[-1]}**"
                    self.findings.append(f"{self._title}, {kind}, {job}, {name}: {ratio:.2f}")
            self._rows[name].append([kind, *cells])

    def print(self) -> None:
        for name, rows in self._rows.items():
            print(f"{self._title}, {name}:\n")
            print_table(["input", *self._header], rows)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="T(2n) / T(n) of awkward inputs")
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--backend", choices=("python", "rust"), help="one only")
    parser.add_argument("--only", nargs="+", default=[], metavar="KIND", help="kinds of input")
    parser.add_argument("--most", type=float, default=2.5, help="the ratio that is a finding")
    parser.add_argument("--smoke", action="store_true", help="small sizes, a ratio of 3.5")
    options = parser.parse_args()
    known = {*TEXTS, *MESSAGES, *RESULTS}
    if unknown := set(options.only) - known:
        parser.error(f"unknown kinds {sorted(unknown)}; known are {sorted(known)}")
    if options.smoke:
        options.characters, options.messages, options.most = 20_000, 2_000, 3.5
    return options


def main() -> int:
    options = read_options()
    keep_freed_memory()
    kernels = backends()
    if options.backend:
        kernels = {options.backend: kernels[options.backend]}
    print_origin()
    sources: dict[str, tuple[int, Mapping[str, Jobs]]] = {
        "Characters": (options.characters, joined(TEXTS, text_jobs)),
        "Tokens": (options.characters, joined(TEXTS, token_jobs)),
        "Texts on Rust": (options.characters, joined(TEXTS, rust_text_jobs)),
        "Messages on Rust": (options.messages, joined(MESSAGES | RESULTS, rust_message_jobs)),
        "Messages": (options.messages, joined(MESSAGES, message_jobs)),
        "Results of one file": (options.messages, joined(RESULTS, message_jobs)),
    }
    findings: list[str] = []
    for title, (size, kinds) in sources.items():
        of_kind = {
            name: own for name, own in kernels.items() if title not in ON_RUST or name == "rust"
        }
        if not of_kind:
            continue
        table = Table(f"{title}, {size:,} and {2 * size:,}", of_kind, options.most)
        for kind, jobs in kinds.items():
            if not options.only or kind in options.only:
                table.add(kind, jobs, size)
        table.print()
        findings.extend(table.findings)
    for finding in findings:
        print(f"FINDING: {finding}")
    if not findings:
        print(f"every ratio is below {options.most}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
