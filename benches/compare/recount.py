"""``recount``: a conversation as a text history.

    python benches/compare/recount.py             conversations of 200 and 2,000 messages, and of 10,000 and 20,000 turns
    python benches/compare/recount.py --smoke     the smallest, two rounds: that it runs

The histories of objects and of bytes are asserted equal before anything is timed. benches/README.md says what the columns
mean.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from paired import Rounds, backends, duration, print_origin, print_table

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import generate

SIZES = (200, 2_000)
TURNS = (10_000, 20_000)
CALLS_A_TURN = 3
LENGTH = 500
HEADER = ("conversation", "total", "history", "objects", "bytes")


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


def measure(
    name: str,
    rust: Any,
    rounds: int,
    given: dict[str, Any],
    label: str,
    total: int | None,
    unit: str | None,
) -> list[str]:
    """Return a row: a conversation with one total."""
    asked = ("turn_id", LENGTH, total, unit)
    jobs = {"objects": partial(rust.recount, given["messages"], given["records"], *asked)}
    if not given["records"]:
        body = orjson.dumps({"messages": given["messages"]})
        jobs["bytes"] = partial(rust.recount, body, [], *asked)
    histories = [job() for job in jobs.values()]
    if any(history != histories[0] for history in histories):
        raise SystemExit(f"{name}: the history of the bytes is not that of the objects")
    size = sum(len(message["content"]) for message in histories[0].messages)
    result = Rounds(jobs, rounds)
    times = [duration(result.median(way)) if way in jobs else "-" for way in ("objects", "bytes")]
    return [name, label, f"{size:,}", *times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--smoke", action="store_true", help="the smallest, two rounds")
    options = parser.parse_args()
    rounds = 2 if options.smoke else options.rounds
    rust = backends()["rust"]
    sizes, turns = ((20,), (20,)) if options.smoke else (SIZES, TURNS)
    cases: dict[str, Callable[[], dict[str, Any]]] = {}
    cases |= {f"W{size}": partial(wire, size) for size in sizes}
    cases |= {f"{number:,} turns": partial(apart, number) for number in turns}
    rows: list[list[str]] = []
    for name, make in cases.items():
        given = make()  # one at a time: the collector looks at all that there is
        whole = rust.recount(given["messages"], given["records"], "turn_id", LENGTH, None, None)
        half = sum(len(message["content"]) for message in whole.messages) // 2
        totals = [("none", None, None), (f"{half:,} characters", half, None)]
        if not given["records"]:
            totals.append((f"{half // 4:,} tokens", half // 4, "o200k_base"))
        rows += [measure(name, rust, rounds, given, *total) for total in totals]
    print_table(HEADER, rows)
    print_origin()


if __name__ == "__main__":
    main()
