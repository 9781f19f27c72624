"""``recount`` on both backends: a conversation as a text history.

    python benches/compare/recount.py             conversations of 200 and 2,000 messages, and of 10,000 and 20,000 turns
    python benches/compare/recount.py --smoke     the smallest, two rounds: that it runs

The outputs of the backends are asserted equal before anything is timed. The jobs take turns in one process; a ratio is the
median over the rounds of the ratio within a round. benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from paired import Job, Rounds, backends, duration, print_origin, print_table

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import generate

SIZES = (200, 2_000)
TURNS = (10_000, 20_000)
CALLS_A_TURN = 3
LENGTH = 500
HEADER = ("conversation", "through", "total", "history", "Rust", "Python", "Python / Rust")


def wire(size: int) -> dict[str, Any]:
    """A conversation of this many messages that hold their calls."""
    return {"messages": generate(size), "records": []}


def apart(turns: int) -> dict[str, Any]:
    """A conversation of this many turns, whose host keeps the calls separately."""
    messages: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Look at file {turn}.", "turn_id": turn})
        answer = f"<think>It may be long.</think>File {turn} holds what it should. " * 4
        messages.append({"role": "assistant", "content": answer, "turn_id": turn})
        for number in range(CALLS_A_TURN):
            given = {"path": f"src/file_{turn}_{number}.cs", "offset": number * 100}
            result = f"class File{turn} {{ int field = {number}; }}\n" * (5 + 20 * number)
            records.append(
                {"turn_id": turn, "name": "ReadFile", "arguments": given, "result": result}
            )
    return {"messages": messages, "records": records}


def jobs_of(kernel: Any, given: dict[str, Any], total: int | None, unit: str | None) -> Job:
    asked = ("turn_id", LENGTH, total, unit)
    return partial(kernel.recount, given["messages"], given["records"], *asked)


def body_jobs_of(kernel: Any, given: dict[str, Any], total: int | None, unit: str | None) -> Job:
    body = orjson.dumps({"messages": given["messages"]})
    return partial(kernel.recount_body, body, "turn_id", LENGTH, total, unit)


def measure(
    name: str,
    kernels: dict[str, Any],
    rounds: int,
    job_of: Callable[[Any], Job],
    labels: tuple[str, str],
) -> list[str]:
    """Return a row: a conversation by one input, with one total."""
    jobs = {kind: job_of(kernel) for kind, kernel in kernels.items()}
    found: dict[str, Any] = {kind: job() for kind, job in jobs.items()}
    for kind, history in found.items():
        if history != found["python"]:
            raise SystemExit(f"{name}: the history of {kind} is not that of python")
    size = sum(len(message["content"]) for message in found["python"][0])
    result = Rounds(jobs, rounds)
    has_rust = "rust" in jobs
    return [
        name,
        *labels,
        f"{size:,}",
        duration(result.median("rust")) if has_rust else "-",
        duration(result.median("python")),
        f"{result.ratio('python', 'rust'):.2f}" if has_rust else "-",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--smoke", action="store_true", help="the smallest, two rounds")
    options = parser.parse_args()
    rounds = 2 if options.smoke else options.rounds
    kernels = backends()
    sizes, turns = ((20,), (20,)) if options.smoke else (SIZES, TURNS)
    cases: dict[str, Callable[[], dict[str, Any]]] = {}
    cases |= {f"W{size}": partial(wire, size) for size in sizes}
    cases |= {f"{number:,} turns": partial(apart, number) for number in turns}
    rows: list[list[str]] = []
    for name, make in cases.items():
        given = make()  # one at a time: the collector looks at all that there is
        is_apart = bool(given["records"])
        whole = kernels["python"].recount(
            given["messages"], given["records"], "turn_id", LENGTH, None, None
        )
        half = sum(len(message["content"]) for message in whole[0]) // 2
        totals = [("none", None, None), (f"{half:,} characters", half, None)]
        if not is_apart:
            totals.append((f"{half // 4:,} tokens", half // 4, "o200k_base"))
        for label, total, unit in totals:
            job_of = partial(jobs_of, given=given, total=total, unit=unit)
            rows.append(measure(name, kernels, rounds, job_of, ("objects", label)))
        if not is_apart:
            job_of = partial(body_jobs_of, given=given, total=None, unit=None)
            rows.append(measure(name, kernels, rounds, job_of, ("bytes", "none")))
    print_table(HEADER, rows)
    print_origin()


if __name__ == "__main__":
    main()
