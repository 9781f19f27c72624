"""Blind cases about the context that the next model gets: which one could it go on with?

    python benches/handover cases OUT [--tokens 5000] [--most 2] SESSION...
    python benches/handover table OUT GRADES.json...

``cases`` cuts each session, of any format, before a call at 45 % and one at 80 % of its calls, if not everything fits
there, and writes ``OUT/NN/summary.md`` (the end of the dialogue, the same for all), ``context_A.md``, ``context_B.md``
and so on in an order drawn for each case, and ``truth.md`` (the next 15 calls). ``OUT-key.json`` says which writer made
which: a reader must not see it. ``table`` prints the means of the readers' grades for each writer, the mean gain over the
last tokens with its 95 % interval, and in how many cases a writer is at or above them. ``brief.md`` is what a reader gets.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from toolcarry import (
    Conversation,
    InputError,
    carry,
    count_tokens,
    dialogue,
    extract_tool_blocks,
    truncate,
)
from toolcarry.importers.read import arguments_of, text_of_result
from toolcarry.types import ToolBlock

SHARES = (0.45, 0.8)
AHEAD = 15
SUMMARY_TOKENS = 1_200
LEAST_CALLS = 20
ASKED = ("go_on", "readable")
BASE = "last"


def shown(block: ToolBlock, most: int | None = None) -> str:
    """Return a call and its result as they came; ``most`` is the limit of the result in characters."""
    result = text_of_result(block)
    if most is not None and len(result) > most:
        result = f"{result[:most]} ..."
    arguments = json.dumps(arguments_of(block), ensure_ascii=False)
    return f"[call] {block.tool_name} {arguments}\n\n[result] {result}"


def last_tokens(_: list[Any], blocks: Sequence[ToolBlock], tokens: int, _summary: str) -> str:
    """Return the last tokens of the calls and results, as they came: what anybody can write in five lines."""
    text = "\n\n".join(map(shown, blocks))
    return truncate(text, tokens, unit="tokens", keep="tail", marker="")


def handed_over(given: list[Any], _: Sequence[ToolBlock], tokens: int, summary: str) -> str:
    """Return a hand-over next to the summary, which is not in it, but of which it knows."""
    section = carry([], summary=summary, framing=False).text
    tokens += count_tokens(section)
    text = carry(given, summary=summary, max_tokens=tokens, framing=False, layout="handover").text
    return text.replace(section.partition("\n\n")[2].rpartition("[/")[0], "", 1)


Writer = Callable[[list[Any], Sequence[ToolBlock], int, str], str]
WRITERS: Mapping[str, Writer] = {
    BASE: last_tokens,
    "handover": handed_over,
}


def blocks_in(messages: Sequence[Any]) -> list[ToolBlock]:
    """Return the blocks of the main conversation, in the order of their calls."""
    found = [block for block in extract_tool_blocks(messages) if block.notes.is_active]
    return sorted((block for block in found if not block.scope), key=lambda block: block.position)


def make_cases(out: Path, paths: Sequence[Path], tokens: int, most: int) -> None:
    """Write the cases of all sessions, and the key."""
    draw, key, number = random.Random(7), {}, 0
    for path in paths:
        try:
            messages = next(Conversation.read(path)).messages
            blocks = blocks_in(messages)
        except InputError as error:
            print(f"{path}: {error}")
            continue
        if len(blocks) < LEAST_CALLS:
            continue
        for share in SHARES[:most]:
            at = int(len(blocks) * share)
            given = messages[: blocks[at].position]
            before = blocks_in(given)
            if not before or before[-1].position != blocks[at - 1].position:
                continue  # a cut within another branch
            if count_tokens("\n".join(map(shown, before))) <= tokens:
                continue
            summary = truncate(
                dialogue(given), SUMMARY_TOKENS, unit="tokens", keep="tail", marker=""
            )
            texts = {
                name: writer(given, before, tokens, summary) for name, writer in WRITERS.items()
            }
            folder = out / f"{number:02d}"
            folder.mkdir(parents=True, exist_ok=True)
            write(folder / "summary.md", summary)
            order = list(texts)
            draw.shuffle(order)
            letters = dict(zip("ABCDEFG", order, strict=False))
            for letter, name in letters.items():
                write(folder / f"context_{letter}.md", texts[name])
            ahead = blocks[at : at + AHEAD]
            write(folder / "truth.md", "\n\n".join(shown(block, 600) for block in ahead))
            key[folder.name] = {"session": path.name, "tokens": tokens, "calls": at, **letters}
            number += 1
    write(out.with_name(f"{out.name}-key.json"), json.dumps(key, indent=2))
    print(f"{number} cases")


def write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", "replace")


def print_table(out: Path, files: Sequence[Path]) -> None:
    """Print the grades. Each file is one reader's: ``{"NN": {"A": {"go_on": 7, "readable": 6}, ...}, ...}``."""
    key = json.loads(out.with_name(f"{out.name}-key.json").read_text())
    grades: dict[tuple[str, str], list[float]] = {}
    gains: dict[tuple[str, str], list[float]] = {}
    for file in files:
        for case, given in json.loads(file.read_text()).items():
            by_writer = {key[case][letter]: each for letter, each in given.items()}
            for name, each in by_writer.items():
                for asked in ASKED:
                    grades.setdefault((name, asked), []).append(each[asked])
                    gains.setdefault((name, asked), []).append(each[asked] - by_writer[BASE][asked])
    print("| writer | asked | mean | gain | 95 % | at or above |\n|---|---|--:|--:|--:|--:|")
    for (name, asked), found in grades.items():
        gain = gains[name, asked]
        spread = 1.96 * stdev(gain) / len(gain) ** 0.5 if len(gain) > 1 else 0.0
        above = sum(each >= 0 for each in gain)
        print(
            f"| {name} | {asked} | {mean(found):.1f} | {mean(gain):+.1f} | ±{spread:.1f} | {above} of {len(gain)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    jobs = parser.add_subparsers(dest="job", required=True)
    cases = jobs.add_parser("cases")
    cases.add_argument("out", type=Path)
    cases.add_argument("sessions", type=Path, nargs="+")
    cases.add_argument("--tokens", type=int, default=5_000)
    cases.add_argument("--most", type=int, default=len(SHARES))
    table = jobs.add_parser("table")
    table.add_argument("out", type=Path)
    table.add_argument("grades", type=Path, nargs="+")
    given = parser.parse_args()
    if given.job == "cases":
        make_cases(given.out, given.sessions, given.tokens, given.most)
    else:
        print_table(given.out, given.grades)


if __name__ == "__main__":
    main()
