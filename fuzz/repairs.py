"""Project random requests with repair and totals, twice: the second projection changes nothing, no total is exceeded.

    python fuzz/repairs.py COUNT [--seed 0] [--start 0] [--backend rust]

A case depends on the seed and its number only. Each failure is printed with its number, and the exit code is 1 if there
is any.
"""

import argparse
import sys
from collections import Counter
from random import Random
from typing import Any

import seeds

import toolcarry
from toolcarry import _backend

sys.path.insert(0, str(seeds.ROOT / "tests"))

from support.builders.random_requests import policies, requests


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    parser.add_argument("--backend", default="rust", choices=("python", "rust"))
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with _backend.using(given.backend):
        for number in range(given.start, given.start + given.count):
            random = Random(f"{given.seed}/{number}")
            for fault in faults_of(requests(random), policies(random)):
                counts[fault] += 1
                if counts[fault] <= 20:
                    print(f"case {number}: {fault}", flush=True)
    print(f"{given.count:,} cases of seed {given.seed}, from {given.start:,} on")
    for name, times in sorted(counts.items()):
        print(f"{times:>12,}  {name}")
    sys.exit(1 if counts else 0)


def faults_of(messages: list[Any], policy: toolcarry.ProjectPolicy) -> list[str]:
    """Return what is wrong with the projection of a request."""
    once = toolcarry.project(messages, policy=policy)
    if once.report.over_request or once.report.over_budget:
        return []
    faults = list(excesses(once.messages, policy))
    twice = toolcarry.project(once.messages, policy=policy)
    if twice.messages != once.messages:
        faults.append(f"another second projection, {policy_kind(policy)}")
    again = toolcarry.project(messages, policy=policy, previous=once.decisions)
    if again.messages != once.messages:
        faults.append(f"other messages with its own decisions, {policy_kind(policy)}")
    return faults


TOTALS = ("max_all_results_chars", "max_all_results_tokens", "max_request_tokens")


def policy_kind(policy: toolcarry.ProjectPolicy) -> str:
    names = (*TOTALS, "keep_last_results", "keep_last_turns")
    return " ".join(name for name in names if getattr(policy, name) not in (None, 0))


def excesses(messages: list[Any], policy: toolcarry.ProjectPolicy) -> list[str]:
    """Return the totals that a projected request exceeds, although the report says nothing of it."""
    totals = {name: getattr(policy, name) for name in TOTALS}
    measure = toolcarry.ProjectPolicy(
        **totals, exclude_tools=("*",), rules=()
    )  # it keeps everything
    report = toolcarry.project(messages, policy=measure).report
    found = {"over a total": report.over_budget, "over a request": report.over_request}
    return [name for name, over in found.items() if over]


if __name__ == "__main__":
    main()
