"""The next request of a conversation, with one new result: what shortening by content costs against a plain cut.

    python benches/compare/next_request.py            W200, and the same with its 10th and its last request
    python benches/compare/next_request.py --smoke    W20, two rounds: that it runs

The jobs take turns in one process; a time is the least of the rounds, in processor time. "Without decisions" is the ratio
for a request of which nothing is known but what the process remembers.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from paired import Job, duration, print_origin, print_table, rust_backend

from toolcarry import ProjectPolicy, project, project_body

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import generate

POLICIES: dict[str, dict[str, Any]] = {
    "nothing set": {},
    "2,000 characters": {"max_result_chars": 2_000},
    "500 tokens": {"max_result_tokens": 500},
}


def in_body(messages: list[Any]) -> bytes:
    return json.dumps({"model": "m", "messages": messages}).encode()


def least(jobs: Mapping[str, Job], rounds: int) -> dict[str, float]:
    """Return the least processor time of each job."""
    found = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        gc.collect()
        for name, job in jobs.items():
            start = process_time()
            job()
            found[name] = min(found[name], process_time() - start)
    return found


def measure(messages: list[Any], rounds: int) -> list[list[str]]:
    """Return a row for each kind of input and each policy."""
    rows: list[list[str]] = []
    doors: dict[str, Any] = {
        "objects": (project, messages[:-2], messages),
        "bytes": (project_body, in_body(messages[:-2]), in_body(messages)),
    }
    for door, (run, before, now) in doors.items():
        for name, settings in POLICIES.items():
            jobs: dict[str, Job] = {}
            size = 0
            for content in ("off", "auto"):
                policy = ProjectPolicy(content=content, **settings)
                decisions = run(before, policy=policy).decisions
                size = sum(map(len, decisions.excerpts.values())) // max(len(decisions.excerpts), 1)
                jobs[content] = partial(run, now, policy=policy, previous=decisions)
                jobs[f"{content}, alone"] = partial(run, now, policy=policy)
            found = least(jobs, rounds)
            rows.append([
                door, name, duration(found["off"]), duration(found["auto"]), f"{found['auto'] / found['off']:.2f}",
                f"{found['auto, alone'] / found['off, alone']:.2f}", f"{size:,}",
            ])  # fmt: skip
    return rows


def growth(messages: list[Any], rounds: int) -> list[list[str]]:
    """Return the time of an early and of the last request, for each megabyte of the body."""
    rows = []
    for number in (min(10, len(messages) // 4), len(messages) // 2):
        end = 2 * number
        before, now = in_body(messages[: end - 2]), in_body(messages[:end])
        decisions = project_body(before).decisions
        time = least({"": partial(project_body, now, previous=decisions)}, rounds)[""]
        size = len(now) / 1e6
        rows.append([f"{number}", f"{len(now):,}", duration(time), duration(time / size)])  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="W20, two rounds")
    is_smoke = parser.parse_args().smoke
    rust_backend()
    print_origin()
    messages, rounds = generate(20 if is_smoke else 200), 2 if is_smoke else 20
    heads = ("input", "policy", 'content="off"', "by content", "by content / off", "without decisions", "bytes of an excerpt")  # fmt: skip
    print_table(heads, measure(messages, rounds))
    print_table(("request", "bytes", "time", "for a megabyte"), growth(messages, rounds))


if __name__ == "__main__":
    main()
