"""``carry`` on both backends, compared with a copy of its output and with a hand-written walk: the README's table.

    python benches/compare/backends.py                      all workloads, from 20 to 20,000 messages
    python benches/compare/backends.py --workloads 20 200   some of them
    python benches/compare/backends.py --smoke              the smallest, two rounds: that it runs

The outputs of the backends are asserted equal before anything is timed. The jobs take turns in one process; a ratio
is the median over the rounds of the ratio within a round. benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from paired import Job, Rounds, backends, duration, print_origin, print_table
from reference_walk import CUT_END, END, reference_walk

from toolcarry import NO_LIMIT, CarryPolicy
from toolcarry.model.content import result_text
from toolcarry.model.dedupe import Judging
from toolcarry.model.dedupe.rules import DEFAULT_RULE_SET
from toolcarry.model.pairing import Walk
from toolcarry.model.text.truncate import cut

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import SIZES, generate, to_ascii

SETTINGS = (
    (500, NO_LIMIT),
    (500, 200_000),
    (2_000, NO_LIMIT),
    (2_000, 200_000),
    (100_000, NO_LIMIT),
    (100_000, 200_000),
)
"""Characters of one result, and of all together."""

SPEED_HEADER = (
    "workload", "per result", "total", "output", "Rust", "Python", "Python / Rust", "copy", "Rust / copy",
)  # fmt: skip
SHARE_HEADER = (
    "workload", "per result", "total", "blocks: carry", "blocks: walk", "reference walk",
    "pair + dedupe / walk", "shared steps / walk", "carry / walk", "walk / Rust",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """One workload under one setting."""

    name: str
    messages: Sequence[Any]
    limit: int
    total: int

    @property
    def policy(self) -> CarryPolicy:
        return CarryPolicy(max_chars=self.total, max_result_chars=self.limit, layout="sections")

    def labels(self) -> list[str]:
        total = "none" if self.total == NO_LIMIT else f"{self.total:,}"
        return [self.name, f"{self.limit:,}", total]


def pair_and_dedupe(messages: Sequence[Any], count: int) -> None:
    """The Python backend's walk, pairing and judging alone, of as many blocks as ``carry`` walks."""
    judge = Judging(DEFAULT_RULE_SET).judge
    for entry in islice(Walk(messages).entries(), count):
        judge(entry)


def shared_steps(messages: Sequence[Any], count: int, limit: int, total: int) -> str:
    """All that the Python backend and the reference walk both do: pair, dedupe, cut, join."""
    pieces: list[str] = []
    judge = Judging(DEFAULT_RULE_SET).judge
    for entry in islice(Walk(messages).entries(), count):
        reason, _, _ = judge(entry)
        if reason or total <= 0:
            continue
        text = result_text(entry.result.get("content")) if entry.result is not None else ""
        head, _ = cut(text, min(limit, total), "head")
        total -= head
        end = END if head == len(text) else CUT_END
        pieces += (end, text[:head], f"### {entry.name}: {entry.value}\n")
    pieces.reverse()
    return "".join(pieces)


def copy_text(text: str) -> str:
    """A new string with the same characters: one allocation and one ``memcpy``."""
    return "".join(["", text])  # noqa: FLY002 - an f-string gives the same object back


def assert_equal(found: dict[str, Any]) -> None:
    """Raise unless every backend gave the same text and the same report."""
    expected = found["python"]
    for name, result in found.items():
        if result.context != expected.context:
            raise SystemExit(f"the text of {name} is not that of python")
        if result.report != expected.report:
            raise SystemExit(f"{name} reports {result.report}, python {expected.report}")


def measure(case: Case, kernels: dict[str, Any], rounds: int) -> tuple[list[str], list[str]]:
    """The case's rows of both tables."""
    messages, limit, total, policy = case.messages, case.limit, case.total, case.policy
    found = {name: kernel.carry(messages, "", policy) for name, kernel in kernels.items()}
    assert_equal(found)
    text, report = found["python"].context, found["python"].report
    size, walked = len(text), report.walked
    del found
    jobs: dict[str, Job] = {
        "copy": partial(copy_text, text),
        "reference": partial(reference_walk, messages, limit, total),
        "pairing": partial(pair_and_dedupe, messages, walked),
        "shared": partial(shared_steps, messages, walked, limit, total),
    }
    for name, kernel in kernels.items():
        jobs[name] = partial(kernel.carry, messages, "", policy)
    result = Rounds(jobs, rounds)

    def seconds(name: str) -> str:
        return duration(result.median(name)) if name in jobs else "-"

    def ratio(name: str, other: str) -> str:
        return f"{result.ratio(name, other):.2f}" if name in jobs and other in jobs else "-"

    speed = [
        f"{size:,}",
        seconds("rust"),
        seconds("python"),
        ratio("python", "rust"),
        seconds("copy"),
        ratio("rust", "copy"),
    ]
    share = [
        f"{walked:,}",
        f"{reference_walk(messages, limit, total)[1]:,}",
        seconds("reference"),
        ratio("pairing", "reference"),
        ratio("shared", "reference"),
        ratio("python", "reference"),
        ratio("reference", "rust"),
    ]
    return case.labels() + speed, case.labels() + share


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="carry on both backends, timed in pairs")
    parser.add_argument("--workloads", type=int, nargs="+", default=SIZES, metavar="MESSAGES")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--ascii", action="store_true", help="'?' for all that is not ASCII")
    parser.add_argument("--smoke", action="store_true", help="the smallest workload, two rounds")
    options = parser.parse_args()
    if options.smoke:
        options.workloads, options.rounds = SIZES[:1], 2
    return options


def main() -> int:
    options = read_options()
    kernels = backends()
    print_origin()
    speed: list[list[str]] = []
    share: list[list[str]] = []
    for size in options.workloads:
        messages = generate(size)
        if options.ascii:
            messages = to_ascii(messages)
        for limit, total in SETTINGS:
            rows = measure(Case(f"W{size}", messages, limit, total), kernels, options.rounds)
            speed.append(rows[0])
            share.append(rows[1])
    print_table(SPEED_HEADER, speed)
    print("The Python backend and the reference walk:\n")
    print_table(SHARE_HEADER, share)
    return 0


if __name__ == "__main__":
    sys.exit(main())
