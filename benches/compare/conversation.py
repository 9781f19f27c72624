"""Tokens of whole conversations: a context under budgets in tokens, and a conversation that is counted every turn.

    python benches/compare/conversation.py               W20 to W2000
    python benches/compare/conversation.py --smoke       the smallest, two rounds: that it runs

The opponents are what one writes by hand with orjson and tiktoken. The counts are asserted equal before anything is
timed, and so are the contexts of both backends. benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from paired import Rounds, duration, print_origin, print_table, rust_backend

from toolcarry import CarryPolicy
from toolcarry.fallback.context import carry
from toolcarry.fallback.tokens.count import encoding_of

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import Message, body, generate

ENCODING = encoding_of("o200k_base")
PER_RESULT, TOTAL = 500, 50_000
POLICY = CarryPolicy(max_tokens=TOTAL, max_result_tokens=PER_RESULT, layout="sections")
MEMO = 16 << 20
TURNS = 32
MARKER = "\n... [truncated]"

CONTEXT_HEADER = ("workload", "body", "context", "tokens", "Rust", "orjson + tiktoken", "orjson + tiktoken / Rust")  # fmt: skip
GROWTH_HEADER = (
    "workload", "tokens", "first count", "again", "again / first", "a turn", "tiktoken, a turn", "tiktoken / Rust",
)  # fmt: skip


def context_by_hand(data: bytes) -> bytes:
    """The newest results, the last of each file, each cut to its tokens, as far as the total reaches."""
    calls: dict[str, Message] = {}
    results: list[Message] = []
    for message in orjson.loads(data)["messages"]:
        for block in blocks_of(message):
            if block["type"] == "tool_use":
                calls[block["id"]] = block
            elif block["type"] == "tool_result":
                results.append(block)
    shown: list[str] = []
    seen: set[str] = set()
    left = TOTAL
    for result in reversed(results):
        call = calls[result["tool_use_id"]]
        given = call["input"]
        title = given.get("file_path") or given.get("command") or given.get("pattern") or ""
        if call["name"] == "Read":
            if title in seen:
                continue
            seen.add(title)
        text = text_of(result["content"])
        tokens = ENCODING.encode_ordinary(text)
        if len(tokens) > PER_RESULT:
            del tokens[PER_RESULT:]
            text = ENCODING.decode(tokens) + MARKER
        left -= len(tokens) + len(ENCODING.encode_ordinary(title)) + 12
        if left < 0:
            break
        shown.append(f"### {title}\n```\n{text}\n```\n\n")
    return "".join(reversed(shown)).encode()


def blocks_of(message: Message) -> list[Message]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join([part["text"] for part in content])


def count_by_hand(messages: Sequence[Message]) -> int:
    """The tokens of all texts, names, arguments and results, by tiktoken."""
    texts: list[str] = []
    for message in messages:
        blocks = blocks_of(message)
        texts.append("\n".join([block["text"] for block in blocks if block["type"] == "text"]))
        for block in blocks:
            if block["type"] == "tool_use":
                texts += (block["name"], orjson.dumps(block["input"]).decode())
            elif block["type"] == "tool_result":
                texts.append(text_of(block["content"]))
    return sum([len(ENCODING.encode_ordinary(text)) for text in texts])


def measure_context(name: str, data: bytes, rust: Any, rounds: int) -> list[str]:
    """One row of the first table."""
    wanted: Any = carry(orjson.loads(data)["messages"], "", POLICY)
    if rust.carry(data, "", POLICY).context != wanted.context.encode():
        raise SystemExit(f"{name}: the contexts differ")
    found = Rounds(
        {
            "rust": partial(rust.carry, data, "", POLICY),
            "hand": partial(context_by_hand, data),
        },
        rounds,
    )
    return [
        name,
        f"{len(data):,}",
        f"{len(wanted.context.encode()):,}",
        f"{wanted.report.tokens_after:,}",
        duration(found.median("rust")),
        duration(found.median("hand")),
        f"{found.ratio('hand', 'rust'):.1f}",
    ]


def measure_growth(name: str, messages: list[Message], rust: Any, rounds: int) -> list[str]:
    """One row of the second table."""
    step = -(-len(messages) // TURNS)
    turns = [messages[:end] for end in range(step, len(messages) + step, step)]

    def count(kernels: Any, given: Sequence[Message]) -> int:
        return sum(kernels.message_tokens(given, "o200k_base"))

    def forget() -> None:
        rust.resize_token_memo(0)
        rust.resize_token_memo(MEMO)

    def count_again() -> int:
        forget()
        return count(rust, messages)

    def count_turns() -> list[int]:
        forget()
        return [count(rust, turn) for turn in turns]

    def count_turns_by_hand() -> list[int]:
        return [count_by_hand(turn) for turn in turns]

    if count_turns() != count_turns_by_hand():
        raise SystemExit(f"{name}: the counts differ")
    hand = Rounds({"rust": count_turns, "hand": count_turns_by_hand}, rounds)
    first = Rounds({"first": count_again}, rounds)
    again = Rounds({"again": partial(count, rust, messages)}, rounds)
    return [
        name,
        f"{count(rust, messages):,}",
        duration(first.median("first")),
        duration(again.median("again")),
        f"{again.median('again') / first.median('first'):.1%}",
        duration(hand.median("rust") / len(turns)),
        duration(hand.median("hand") / len(turns)),
        f"{hand.ratio('hand', 'rust'):.1f}",
    ]


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="tokens of whole conversations, timed in pairs")
    parser.add_argument("--workloads", type=int, nargs="+", default=[20, 66, 200, 2_000])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--smoke", action="store_true", help="the smallest workload, two rounds")
    options = parser.parse_args()
    if options.smoke:
        options.workloads, options.rounds = [20], 2
    return options


def main() -> int:
    options = read_options()
    rust = rust_backend()
    print_origin()
    workloads = {f"W{size}": generate(size) for size in options.workloads}
    rounds = options.rounds
    print_table(
        CONTEXT_HEADER,
        [measure_context(name, body(given), rust, rounds) for name, given in workloads.items()],
    )
    print(f"A conversation that grows in {TURNS} turns:\n")
    print_table(
        GROWTH_HEADER,
        [measure_growth(name, given, rust, rounds) for name, given in workloads.items()],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
