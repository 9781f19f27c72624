"""The jobs in the best plain Python that a user would write instead, for Anthropic's messages: the opponent of the tables.

    python benches/compare/by_hand.py                     W66 and W200
    python benches/compare/by_hand.py --workloads 20 2000 other workloads
    python benches/compare/by_hand.py --smoke             the smallest, two rounds: that it runs

One wire format, three kinds of tools, and no more than the job: no cleaning, no fences, no failures, no shells, no
report. Bytes are read and written with orjson. Where both say the same, the texts are asserted equal before anything
is timed. `cold` is the ratio after the caches of the processor were filled with something else.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from paired import Job, Rounds, duration, print_origin, print_table, time_once
from reference_walk import END, reference_walk

import toolcarry
from toolcarry import CarryPolicy, ProjectPolicy

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import SIZES, body, generate

Message = dict[str, Any]

LIMIT, TOTAL = 2_000, 200_000
HEADER = (
    "workload", "input", "job", "by hand", "toolcarry", "toolcarry / by hand", "by hand / toolcarry", "cold",
)  # fmt: skip
CONTEXT = CarryPolicy(max_result_chars=LIMIT, max_chars=TOTAL, layout="sections", content="off")
REQUEST = ProjectPolicy(max_result_chars=LIMIT, keep="head", content="off")
SUPERSEDED = "[toolcarry: superseded"
"""The beginning of a marker that plain Python does not write."""
CACHES = 48 << 20
"""Bytes. More than the caches of one processor hold."""


class Block(NamedTuple):
    """A call with its result."""

    call: Message
    result: Message | None
    name: str
    key: str | None
    call_id: str
    position: int


def extract_by_hand(messages: Sequence[Message]) -> list[Block]:
    """Return each call with its result and the key by which a newer one supersedes it."""
    blocks: list[Block] = []
    results: dict[str, Message] = {}
    for message in messages:
        content = message["content"]
        if content.__class__ is list:
            for part in content:
                if part["type"] == "tool_result":
                    results[part["tool_use_id"]] = part
    for position, message in enumerate(messages):
        content = message["content"]
        if content.__class__ is not list:
            continue
        for part in content:
            if part["type"] == "tool_use":
                name, call_id = part["name"], part["id"]
                key = key_of(name, part["input"])
                blocks.append(Block(part, results.get(call_id), name, key, call_id, position))
    return blocks


def key_of(name: str, given: Message) -> str | None:
    if name == "Read":
        return f"read:{given['file_path']}"
    if name == "Bash":
        return f"command:{given['command']}"
    return f"edit:{given['file_path']}" if name == "Edit" else None


def deduplicate_by_hand(blocks: Sequence[Block]) -> list[Block]:
    """Return the newest block of each key, and all without one."""
    known: set[str] = set()
    kept: list[Block] = []
    for block in reversed(blocks):
        key = block.key
        if key is None:
            kept.append(block)
        elif key not in known:
            known.add(key)
            kept.append(block)
    kept.reverse()
    return kept


def project_by_hand(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with each text of a result cut to ``LIMIT`` characters; unchanged ones are the same objects."""
    found = list(messages)
    for place, message in enumerate(found):
        content = message["content"]
        if content.__class__ is not list:
            continue
        parts = None
        for number, part in enumerate(content):
            if part["type"] == "tool_result" and (new := cut_part(part)) is not part:
                if parts is None:
                    parts = content.copy()
                parts[number] = new
        if parts is not None:
            found[place] = {**message, "content": parts}
    return found


def cut_part(part: Message) -> Message:
    held = part["content"]
    text = held if held.__class__ is str else held[0]["text"]
    if len(text) <= LIMIT:
        return part
    marker = f"\n[toolcarry: {LIMIT:,} of {len(text):,} characters; whole: {part['tool_use_id']}]"
    cut = text[:LIMIT] + marker
    return {**part, "content": cut if held.__class__ is str else [{**held[0], "text": cut}]}


def inspect_by_hand(messages: Sequence[Message]) -> dict[str, list[int]]:
    """Return the calls, results, errors, bytes and characters of each tool."""
    tools: dict[str, list[int]] = {}
    names: dict[str, str] = {}
    for message in messages:
        content = message["content"]
        if content.__class__ is not list:
            continue
        for part in content:
            kind = part["type"]
            if kind == "tool_use":
                name = names[part["id"]] = part["name"]
                sizes = tools.get(name)
                if sizes is None:
                    sizes = tools[name] = [0, 0, 0, 0, 0]
                sizes[0] += 1
            elif kind == "tool_result":
                sizes = tools[names[part["tool_use_id"]]]
                held = part["content"]
                text = held if held.__class__ is str else held[0]["text"]
                sizes[1] += 1
                sizes[2] += part.get("is_error", False)
                sizes[3] += len(text) if text.isascii() else len(text.encode())
                sizes[4] += len(text)
    return tools


def recount_by_hand(messages: Sequence[Message]) -> list[Message]:
    """Return the conversation as messages of text: what was said, and a line with the result of each call."""
    results: dict[str, str] = {}
    for message in messages:
        content = message["content"]
        if content.__class__ is list:
            for part in content:
                if part["type"] == "tool_result":
                    held = part["content"]
                    results[part["tool_use_id"]] = (
                        held if held.__class__ is str else held[0]["text"]
                    )
    found: list[Message] = []
    for message in messages:
        content, role = message["content"], message["role"]
        if content.__class__ is str:
            found.append({"role": role, "content": content})
            continue
        lines: list[str] = []
        for part in content:
            if part["type"] == "text":
                lines.append(part["text"])
            elif part["type"] == "tool_use":
                given = ", ".join([f"{key}={value!r:.80}" for key, value in part["input"].items()])
                lines.append(
                    f"[{part['name']}({given})] {' '.join(results.get(part['id'], '')[:500].split())}"
                )
        if lines:
            found.append({"role": role, "content": "\n".join(lines)})
    return found


def carry_by_hand(messages: Sequence[Message]) -> str:
    return reference_walk(messages, LIMIT, TOTAL)[0]


def carry_bytes_by_hand(data: bytes) -> bytes:
    return carry_by_hand(orjson.loads(data)["messages"]).encode()


def project_bytes_by_hand(data: bytes) -> bytes:
    request = orjson.loads(data)
    return orjson.dumps({**request, "messages": project_by_hand(request["messages"])})


def texts_of(text: str) -> set[str]:
    """Return the first line of each result in a context by hand."""
    parts = [part.split("\n", 1)[-1].strip() for part in text.split(END) if part.startswith("### ")]
    return {line for part in parts if (line := part.split("\n", 1)[0].strip()) and line.isascii()}


def assert_equal(messages: Sequence[Message], data: bytes) -> None:
    """Raise unless both say the same where they should."""
    blocks, mine = toolcarry.extract_tool_blocks(messages), extract_by_hand(messages)
    pairs = [
        (block.call_id, block.tool_name, block.position, block.tool_result) for block in blocks
    ]
    if pairs != [(block.call_id, block.name, block.position, block.result) for block in mine]:
        raise SystemExit("the blocks differ")
    sizes = {
        name: [size.calls, size.results, size.errors, size.bytes, size.chars]
        for name, size in toolcarry.inspect(messages).tools.items()
    }
    by_hand = inspect_by_hand(messages)
    if {name: [found[0], found[1], found[4]] for name, found in sizes.items()} != {
        name: [found[0], found[1], found[4]] for name, found in by_hand.items()
    }:
        raise SystemExit(f"the surveys differ: {sizes}, by hand {by_hand}")
    projected = toolcarry.project(messages, policy=REQUEST).messages
    for new, own in zip(projected, project_by_hand(messages), strict=True):
        pairs = zip(starts(new), starts(own), strict=True)
        if any(one != other and not one.startswith(SUPERSEDED) for one, other in pairs):
            raise SystemExit("the projections differ")
    if orjson.loads(toolcarry.project_body(data, policy=REQUEST).body)["messages"] != projected:
        raise SystemExit("the projections of bytes and objects differ")
    text = toolcarry.carry(messages, policy=CONTEXT).text
    if toolcarry.carry(data, policy=CONTEXT).text != text:
        raise SystemExit("the contexts of bytes and objects differ")
    lines = texts_of(carry_by_hand(messages))
    missing = [line for line in lines if line not in text]
    if len(missing) > len(lines) // 10 + 10:
        raise SystemExit(f"the contexts differ: {missing[:5]}")


def starts(message: Message) -> list[str]:
    """Return the beginning of each result, which no marker reaches."""
    if isinstance(message["content"], str):
        return []
    found: list[str] = []
    for part in message["content"]:
        if part["type"] == "tool_result":
            held = part["content"]
            found.append((held if isinstance(held, str) else held[0]["text"])[: LIMIT // 2])
    return found


def jobs_of(messages: Sequence[Message], data: bytes) -> list[tuple[str, str, Job, Job]]:
    """Return the input, the name, and both ways of each job."""
    blocks, mine = toolcarry.extract_tool_blocks(messages), extract_by_hand(messages)
    small = project_by_hand(messages)
    short = ProjectPolicy(max_result_chars=2 * LIMIT, keep="head", content="off")

    def on(call: Callable[..., object], given: object, **options: object) -> Job:
        return partial(call, given, **options)

    objects = (
        ("carry", on(carry_by_hand, messages), on(toolcarry.carry, messages, policy=CONTEXT)),
        ("extract_tool_blocks", on(extract_by_hand, messages), on(toolcarry.extract_tool_blocks, messages)),
        ("deduplicate_tools", on(deduplicate_by_hand, mine), on(toolcarry.deduplicate_tools, blocks)),
        ("project, cut", on(project_by_hand, messages), on(toolcarry.project, messages, policy=REQUEST)),
        ("project, nothing to cut", on(project_by_hand, small), on(toolcarry.project, small, policy=short)),
        ("inspect", on(inspect_by_hand, messages), on(toolcarry.inspect, messages)),
        ("recount", on(recount_by_hand, messages), on(toolcarry.recount, messages)),
    )  # fmt: skip
    from_bytes = (
        ("carry", on(carry_bytes_by_hand, data), on(toolcarry.carry, data, policy=CONTEXT)),
        ("project_body", on(project_bytes_by_hand, data), on(toolcarry.project_body, data, policy=REQUEST)),
    )  # fmt: skip
    return [("objects", *job) for job in objects] + [("bytes", *job) for job in from_bytes]


def cold_ratio(by_hand: Job, own: Job, rounds: int) -> float:
    """Return the median ratio of single runs, before each of which other memory was read."""
    other = bytearray(CACHES)
    ratios = []
    for _ in range(rounds):
        times = []
        for job in (by_hand, own):
            other.count(1)
            times.append(time_once(job))
        ratios.append(times[1] / times[0])
    return statistics.median(ratios)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="toolcarry and plain Python, timed in pairs")
    parser.add_argument("--workloads", type=int, nargs="+", default=(66, 200), metavar="MESSAGES")
    parser.add_argument("--jobs", default="", help="only the jobs with this text in their name")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--smoke", action="store_true", help="the smallest workload, two rounds")
    options = parser.parse_args()
    if options.smoke:
        options.workloads, options.rounds = SIZES[:1], 2
    return options


def main() -> int:
    options = read_options()
    print_origin()
    rows: list[list[str]] = []
    for size in options.workloads:
        messages = generate(size)
        data = body(messages)
        assert_equal(messages, data)
        for given, name, by_hand, own in jobs_of(messages, data):
            if options.jobs not in f"{given} {name}":
                continue
            rounds = Rounds({"by hand": by_hand, "own": own}, options.rounds)
            times = [duration(rounds.median("by hand")), duration(rounds.median("own"))]
            ratios = [rounds.ratio("own", "by hand"), rounds.ratio("by hand", "own")]
            cold = cold_ratio(by_hand, own, options.rounds)
            rows.append(
                [f"W{size}", given, name, *times, *(f"{ratio:.2f}" for ratio in (*ratios, cold))]
            )
    print_table(HEADER, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
