"""Measure what is between the canonical history and its projections: the guard, previews in a stream, and hydration.

    python benches/compare/canonical.py             texts of 1 MB, 1,000 events, 1,000 messages
    python benches/compare/canonical.py --smoke     once, and little of each: that it runs

The guard takes turns with ``str.find`` of a text that is not there. Outputs are compared before anything is timed. Nothing
here waits, so the times are the processor's, which other processes lengthen least.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from functools import partial
from time import thread_time
from typing import Any

from paired import duration, print_origin, print_table

from toolcarry import limit_events
from toolcarry.tract import Tract, hydrate
from toolcarry.tract.truncation import is_truncated

LINE = "def add(first, second): return first + second  # line {number}\n"
MARK = "\n... [truncated]"
CLEARED = "[Old tool result content cleared]"


def text_of(size: int, extra: str = "") -> str:
    """A text of this many characters; ``extra`` makes it wider than Latin-1."""
    lines = (LINE.format(number=number) for number in range(size // 50))
    return (extra + "".join(lines))[:size]


def seconds(job: Callable[[], object]) -> float:
    start = thread_time()
    job()
    return thread_time() - start


def guard_row(name: str, text: str, rounds: int) -> list[str]:
    """Measure the guard on a text without a mark, in turns with ``str.find``."""
    assert not is_truncated(text)
    assert is_truncated(text + MARK)
    guard, find = [], []
    for _ in range(rounds):
        guard.append(seconds(partial(is_truncated, text)))
        find.append(seconds(partial(text.find, "\0no such text")))
    ratio = statistics.median(own / other for own, other in zip(guard, find, strict=True))
    speed = len(text) / statistics.median(guard) / 1e9
    return [name, f"{len(text):,}", f"{speed:.2f} GB/s", f"{ratio:.2f}"]


def stream_of(events: int, size: int) -> list[dict[str, Any]]:
    """The events of one result in a stream of Anthropic, in deltas of this many characters."""
    block = {"type": "mcp_tool_result", "tool_use_id": "t1", "content": []}
    delta = {"type": "text_delta", "text": text_of(size)}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    deltas = [{"type": "content_block_delta", "index": 0, "delta": delta}] * events
    return [start, *deltas, {"type": "content_block_stop", "index": 0}]


def stream_row(events: int, size: int, rounds: int) -> list[str]:
    """Measure the limiter on a result that is larger than its limit."""
    stream = stream_of(events, size)
    sent = list(limit_events(iter(stream), 10 * size))
    assert len(str(sent)) < len(str(stream))
    time = statistics.median(
        seconds(lambda: list(limit_events(iter(stream), 10 * size))) for _ in range(rounds)
    )
    return [f"{events:,}", f"{size:,}", duration(time), f"{events * size / time / 1e6:,.0f} MB/s"]


def hydration_row(messages: int, rounds: int) -> list[str]:
    """Measure the hydration of this many cleared results."""
    wires: list[dict[str, Any]] = []
    with Tract.open() as tract:
        for number in range(messages):
            tract.tool_result(f"t{number}", "Read", text_of(2_000))
            wires.append({"role": "tool", "tool_call_id": f"t{number}", "content": CLEARED})
        done = hydrate(wires, tract)
        assert all(message["content"] == text_of(2_000) for message in done.messages)
        time = statistics.median(seconds(partial(hydrate, wires, tract)) for _ in range(rounds))
    return [f"{messages:,}", duration(time)]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="once, and little of each")
    rounds, scale = (1, 100) if parser.parse_args().smoke else (31, 1)
    print_origin()
    size = 1_000_000 // scale
    texts = {"Latin-1": text_of(size, "\xe9"), "two bytes": text_of(size, "\u0142")}
    rows = [guard_row(name, text, rounds) for name, text in texts.items()]
    print_table(("text", "characters", "guard", "guard / find"), rows)
    print()
    rows = [stream_row(1_000 // scale + 20, each, rounds) for each in (400, 20_000)]
    print_table(("events", "characters each", "time", "speed"), rows)
    print()
    print_table(("messages", "hydration"), [hydration_row(1_000 // scale, rounds)])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
