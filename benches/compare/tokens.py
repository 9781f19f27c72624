"""Counting and cutting by tokens, against tiktoken: texts of many kinds, rows of one character, 500 tokens of a text.

    python benches/compare/tokens.py                       everything, in both encodings
    python benches/compare/tokens.py --only code log       some kinds of text
    python benches/compare/tokens.py --smoke               little text, one round: that it runs

Every round has text that the process has not seen, for what a tokenizer remembers flatters it. That both give the same
is asserted on another text before, and on each text once it is timed. benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import thread_time
from typing import Any

import tiktoken
from growth import TEXTS
from paired import Job, duration, print_origin, print_table, rust_backend

from toolcarry.api.tokens import ENCODINGS
from toolcarry.fallback import kernels as reference
from toolcarry.fallback.tokens.count import encoding_of
from toolcarry.types.values import CutSide, EncodingName

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from corpus import texts
from unseen import KINDS

MARKER = "... [truncated]"
CUT_TO = 500
CUT_SIZES = (50_000, 1_000_000)
CUTS = 40
"""The number of texts of each size that are cut in a round."""
KEEPS: tuple[CutSide, ...] = ("head", "tail", "ends")
ROWS = (
    "a",
    "spaces",
    "newlines",
    "backticks",
    "ideographs",
    "regional indicators",
    "joined emoji",
    "combining marks",
)
COUNT_HEADER = (
    "text",
    "encoding",
    "characters",
    "Rust",
    "MB/s",
    "tiktoken",
    "tiktoken MB/s",
    "tiktoken / Rust",
)
ROW_HEADER = ("row", "encoding", "bytes", "Rust", "twice as long", "tiktoken", "tiktoken / Rust")
CUT_HEADER = ("text", "keep", "of 50 kB", "of 1 MB", "1 MB / 50 kB", "tiktoken, 50 kB", "tiktoken / Rust, 50 kB", "1 MB")  # fmt: skip


def time_once(job: Job) -> float:
    """Processor time, so that other processes don't count."""
    start = thread_time()
    job()
    return thread_time() - start


def time_in_turn(jobs: dict[str, Job], first: int) -> dict[str, float]:
    """The seconds of each job, run once, another one first each time."""
    names = list(jobs)
    turn = first % len(names)
    gc.collect()
    gc.disable()
    seconds = {name: time_once(jobs[name]) for name in (*names[turn:], *names[:turn])}
    gc.enable()
    return seconds


def count_all(count: Callable[[str], int], found: list[str], into: list[int]) -> Job:
    return lambda: into.append(sum(map(count, found)))


def assert_same(counts: Sequence[int], what: str) -> None:
    if len(set(counts)) != 1:
        raise SystemExit(f"{what}: the counts differ: {counts}")


def count_row(kernels: Any, kind: str, name: EncodingName, size: int, rounds: int) -> list[str]:
    """Time both as they count new texts of one kind."""
    encoding = encoding_of(name)

    def ours(text: str) -> int:
        return int(kernels.count_tokens(text, name))

    def theirs(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    other = KINDS[kind if kind != "W2000" else "W200"](rounds, size)
    assert_same([sum(map(count, other)) for count in (ours, theirs)], kind)
    seconds: list[dict[str, float]] = []
    sizes: list[int] = []
    characters = 0
    for number in range(rounds):
        found = KINDS[kind](number, size)
        counts: list[int] = []
        jobs = {
            "rust": count_all(ours, found, counts),
            "tiktoken": count_all(theirs, found, counts),
        }
        seconds.append(time_in_turn(jobs, number))
        assert_same(counts, kind)
        characters = sum(map(len, found))
        sizes.append(sum(len(text.encode()) for text in found))
    rust, other_one = ([row[job] for row in seconds] for job in ("rust", "tiktoken"))
    speeds = [
        statistics.median([size / time / 1e6 for size, time in zip(sizes, times, strict=True)])
        for times in (rust, other_one)
    ]
    ratio = statistics.median([two / one for one, two in zip(rust, other_one, strict=True)])
    cells = [duration(statistics.median(rust)), f"{speeds[0]:.1f}"]
    cells += [duration(statistics.median(other_one)), f"{speeds[1]:.1f}", f"{ratio:.1f}"]
    return [kind, name, f"{characters:,}", *cells]


def row_row(kernels: Any, kind: str, name: EncodingName, size: int, rounds: int) -> list[str]:
    """Time a row of one kind, and one twice as long. tiktoken is asked by the fallback, which keeps it
    from overflowing its stack."""
    text = TEXTS[kind](size)
    text = text[: size * len(text) // len(text.encode())]
    row, twice = text, text + text
    assert_same([kernel.count_tokens(row[:5_000], name) for kernel in (kernels, reference)], kind)
    least = [
        min(time_once(lambda text=text: kernels.count_tokens(text, name)) for _ in range(rounds))
        for text in (row, twice)
    ]
    other = time_once(lambda: reference.count_tokens(row, name))
    cells = [duration(least[0]), f"{least[1] / least[0]:.2f}", duration(other)]
    return [kind, name, f"{len(row.encode()):,}", *cells, f"{other / least[0]:.1f}"]


def cut_row(kernels: Any, kind: str, keep: CutSide, name: EncodingName, rounds: int) -> list[str]:
    """Time a cut to 500 tokens, and the encoding of the whole text with the decoding of its tokens."""
    encoding = encoding_of(name)

    def cut(text: str, kernels: Any = kernels) -> str:
        found = kernels.truncate_tokens(text, CUT_TO, keep=keep, marker=MARKER, encoding=name)
        return str(found)

    def cut_theirs(text: str) -> str:
        return encode_and_decode(encoding, text, keep)

    seconds: list[dict[str, float]] = []
    for number in range(rounds):
        small, large = (cut_texts(kind, number, size) for size in CUT_SIZES)
        seen = small[0][::-1]
        if cut(seen) != cut(seen, reference):
            raise SystemExit(f"{kind}, {keep}: the cuts differ")
        jobs = {"small": cut_all(cut, small), "large": cut_all(cut, large)}
        jobs["theirs, small"] = cut_all(cut_theirs, small)
        counts = dict.fromkeys(jobs, CUTS)
        if number == 0:
            jobs["theirs, large"] = cut_all(cut_theirs, large[:1])
        times = time_in_turn(jobs, number)
        seconds.append({job: time / counts.get(job, 1) for job, time in times.items()})

    def median(job: str) -> float:
        return statistics.median([row[job] for row in seconds if job in row])

    ratios = [median(f"theirs, {size}") / median(size) for size in ("small", "large")]
    cells = [duration(median("small")), duration(median("large"))]
    cells += [f"{median('large') / median('small'):.2f}", duration(median("theirs, small"))]
    return [kind, keep, *cells, *(f"{ratio:,.0f}" for ratio in ratios)]


def cut_texts(kind: str, number: int, size: int) -> list[str]:
    """Texts of a size, each from another place of the corpus on."""
    source = random.Random(f"{kind} {number} {size}")
    text = texts()[kind]
    starts = [source.randrange(len(text)) for _ in range(CUTS)]
    return [(text[start:] + text * (size // len(text) + 1))[:size] for start in starts]


def cut_all(cut: Callable[[str], str], found: Sequence[str]) -> Job:
    return lambda: [cut(text) for text in found]


def encode_and_decode(encoding: tiktoken.Encoding, text: str, keep: CutSide) -> str:
    tokens = encoding.encode_ordinary(text)
    head = CUT_TO if keep == "head" else CUT_TO // 2 if keep == "ends" else 0
    tail = len(tokens) - (CUT_TO - head)
    return encoding.decode(tokens[:head]) + MARKER + encoding.decode(tokens[tail:])


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="tokens, against tiktoken")
    parser.add_argument(
        "--only", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND"
    )
    parser.add_argument("--encodings", nargs="+", choices=ENCODINGS, default=list(ENCODINGS))
    parser.add_argument("--size", type=int, default=100_000, help="characters of a text")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--smoke", action="store_true", help="little text, one round")
    options = parser.parse_args()
    options.row = 1_000_000
    if options.smoke:
        options.size, options.rounds, options.row = 5_000, 1, 20_000
        options.only = [kind for kind in options.only if kind != "W2000"]
    return options


def main() -> int:
    options = read_options()
    kernels = rust_backend()
    print_origin()
    print(f"tiktoken {tiktoken.__version__}\n")
    rounds = {kind: 3 if kind == "W2000" else options.rounds for kind in options.only}
    names: list[EncodingName] = options.encodings
    print_table(
        COUNT_HEADER,
        [
            count_row(kernels, kind, name, options.size, rounds[kind])
            for kind in options.only
            for name in names
        ],
    )
    print_table(
        ROW_HEADER,
        [
            row_row(kernels, row, name, options.row, options.rounds)
            for row in ROWS
            for name in names
        ],
    )
    kinds = [kind for kind in ("code", "prose", "log", "cjk") if kind in options.only]
    print_table(
        CUT_HEADER,
        [
            cut_row(kernels, kind, keep, names[0], options.rounds)
            for kind in kinds
            for keep in KEEPS
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
