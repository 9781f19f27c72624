"""``project`` and ``project_body``: against decoding and encoding, a bare scan of the same bytes, and their copy.

The bodies are those of the generator, and all requests of real conversations, where those are.

    python benches/compare/project.py                      all workloads, from 20 to 2,000 messages
    python benches/compare/project.py --workloads 20 200   some of them
    python benches/compare/project.py --smoke              the smallest, two rounds: that it runs

What both give is asserted equal before anything is timed, and all take turns in one process. The opponent of a body is
``orjson.loads``, ``project`` on objects, and ``orjson.dumps``. benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import orjson
from paired import Job, Rounds, build_scan, duration, print_origin, print_table, rust_backend

import toolcarry
from toolcarry import ProjectPolicy
from toolcarry.types import Decisions

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.transcripts import TRANSCRIPTS, growing, real_conversations
from workload import body, generate

WORKLOADS = (20, 66, 200, 2_000)
POLICIES = {
    "superseded": ProjectPolicy(),
    "2,000 characters": ProjectPolicy(max_result_chars=2_000),
    "the same, repaired": ProjectPolicy(max_result_chars=2_000, repair=True),
}
DISTINCT = "superseded, nothing to change"
UNCHANGED = "repaired, nothing to change"
REPLAYED = ProjectPolicy(max_result_chars=2_000, repair=True)
FEWEST = 10
"""Requests that a conversation has to be a row of its own."""
SIZES = ((50_000, 10), (1_000_000, 100))
"""The bodies whose slowest calls are measured: their messages, by their approximate sizes in bytes."""
CALLS = 2_000

BODY_HEADER = (
    "workload", "policy", "body", "projected", "bytes", "decoded", "decoded / bytes",
    "scan", "bytes / scan", "scan + copy", "bytes / scan + copy",
)  # fmt: skip
REPLAYED_HEADER = (
    "conversation", "requests", "bodies", "projected", "bytes", "decoded", "decoded / bytes",
    "scan", "bytes / scan", "scan + copy", "bytes / scan + copy",
)  # fmt: skip
OBJECTS_HEADER = ("workload", "policy", "objects")
SLOWEST_HEADER = ("body", "median", "99 of 100 within")


def project_decoded(
    rust: Any, data: bytes, previous: Decisions | None, policy: ProjectPolicy
) -> bytes:
    """The opponent: decode, project the objects, and encode all of it."""
    document = orjson.loads(data)
    new = rust.project(document["messages"], policy, previous).messages
    if new is not None:
        document["messages"] = new
    return orjson.dumps(document)


def project_bytes(
    rust: Any, data: bytes, previous: Decisions | None, policy: ProjectPolicy
) -> bytes:
    new: bytes | None = rust.project_body(data, policy, previous).body
    return data if new is None else new


def scan_and_copy(scan: Callable[[bytes, int], int], data: bytes) -> None:
    scan(data, len(data))
    bytearray(data)


Request = tuple[bytes, Decisions | None]
"""A body, and what was decided for the request before it."""


def measure_bodies(
    shown: Sequence[str],
    requests: Sequence[Request],
    policy: ProjectPolicy,
    rust: Any,
    scan: Any,
    rounds: int,
) -> list[str]:
    """Return one row of a table of bodies, for one job."""
    new = [project_bytes(rust, *request, policy) for request in requests]
    if any(
        orjson.loads(projected) != orjson.loads(project_decoded(rust, *request, policy))
        for projected, request in zip(new, requests, strict=True)
    ):
        raise SystemExit(f"{shown[0]}: the projections differ")
    jobs: dict[str, Job] = {
        "bytes": lambda: [project_bytes(rust, *request, policy) for request in requests],
        "decoded": lambda: [project_decoded(rust, *request, policy) for request in requests],
    }
    if scan is not None:
        jobs["scan"] = lambda: [scan(data, len(data)) for data, _ in requests]
        jobs["scan + copy"] = lambda: [scan_and_copy(scan, data) for data, _ in requests]
    found = Rounds(jobs, rounds)
    sizes = [sum(len(data) for data, _ in requests), sum(map(len, new))]
    row = [*shown, *(f"{size:,}" for size in sizes), duration(found.median("bytes"))]
    row += [duration(found.median("decoded")), f"{found.ratio('decoded', 'bytes'):.1f}"]
    for other in ("scan", "scan + copy"):
        if scan is None:
            row += ["-", "-"]
        else:
            row += [duration(found.median(other)), f"{found.ratio('bytes', other):.2f}"]
    return row


def replayed(messages: Sequence[Any]) -> list[Request]:
    """The requests of a conversation in their order, each with what the last one's projection decided."""
    requests: list[Request] = []
    previous: Decisions | None = None
    for sent in growing(messages):
        data = orjson.dumps({"messages": sent})
        requests.append((data, previous))
        previous = toolcarry.project_body(data, policy=REPLAYED, previous=previous).decisions
    return requests


def distinct(data: bytes) -> bytes:
    """The same body with calls that differ each from all others, so that no result supersedes another."""
    document = orjson.loads(data)
    parts = [
        part for message in document["messages"] for part in message["content"] if part != str(part)
    ]
    for number, part in enumerate(part for part in parts if part["type"] == "tool_use"):
        part["input"] = {name: f"{value} {number}" for name, value in part["input"].items()}
    return orjson.dumps(document)


def measure_objects(
    name: str, shown: str, messages: list[Any], policy: ProjectPolicy, rust: Any, rounds: int
) -> list[str]:
    """One row of the table of objects."""
    found = Rounds({"objects": partial(rust.project, messages, policy, None)}, rounds)
    return [name, shown, duration(found.median("objects"))]


def measure_slowest(data: bytes, rust: Any, calls: int) -> list[str]:
    """The time within which all but one of a hundred calls are done."""
    policy = POLICIES["the same, repaired"]
    times = []
    for _ in range(calls):
        start = perf_counter_ns()
        rust.project_body(data, policy, None)
        times.append((perf_counter_ns() - start) / 1e9)
    times.sort()
    slowest = times[min(len(times) * 99 // 100, len(times) - 1)]
    return [f"{len(data):,}", duration(times[len(times) // 2]), duration(slowest)]


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="the projection, timed in pairs")
    parser.add_argument("--workloads", type=int, nargs="+", default=WORKLOADS, metavar="MESSAGES")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--smoke", action="store_true", help="the smallest workload, two rounds")
    options = parser.parse_args()
    options.calls = CALLS
    if options.smoke:
        options.workloads, options.rounds, options.calls = WORKLOADS[:1], 2, 10
    return options


def main() -> int:
    options = read_options()
    rust = rust_backend()
    print_origin()
    bodies, objects = [], []
    with tempfile.TemporaryDirectory() as folder:
        scan = build_scan(Path(folder))
        for size in options.workloads:
            name, data = f"W{size}", body(generate(size))
            messages = orjson.loads(data)["messages"]
            measure = partial(measure_bodies, rust=rust, scan=scan, rounds=options.rounds)
            for shown, policy in POLICIES.items():
                bodies.append(measure((name, shown), [(data, None)], policy))
                objects.append(measure_objects(name, shown, messages, policy, rust, options.rounds))
            bodies.append(
                measure((name, DISTINCT), [(distinct(data), None)], POLICIES["superseded"])
            )
            projected = project_bytes(rust, data, None, policy)
            bodies.append(measure((name, UNCHANGED), [(projected, None)], policy))
        rows = [
            measure((name[:8], f"{len(requests):,}"), requests, REPLAYED)
            for name, messages in ([] if options.smoke else real_conversations(TRANSCRIPTS))
            if len(requests := replayed(messages)) >= FEWEST
        ]
    print_table(BODY_HEADER, bodies)
    if rows:
        print_table(REPLAYED_HEADER, rows)
    else:
        print("no real conversations: those in the project's pages are no part of it\n")
    print_table(OBJECTS_HEADER, objects)
    slowest = [measure_slowest(body(generate(count)), rust, options.calls) for _, count in SIZES]
    print_table(SLOWEST_HEADER, slowest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
