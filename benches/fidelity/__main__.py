"""Fidelity: the share of what an agent uses next that a context still holds.

Each session is cut before a call. From the next 25 calls it takes the words of the arguments, and the lines of the text
that edits replace, if the agent had learned them from results before the cut alone: no message, and no argument
before, has them. Fidelity is the share of these that the context of the messages before the cut contains.

    python benches/fidelity FOLDER [--half tuned|other] [--budgets 2000,4000]

It reads all session files of a folder, draws nothing by chance, and prints a table for each policy: the mean over the
cuts for words and for lines, the tokens used and the milliseconds. Sessions are halved by the hash of their names.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from toolcarry import (
    InputError,
    Policy,
    ToolBlock,
    carry,
    count_tokens,
    dialogue,
    extract_tool_blocks,
    truncate,
)

BUDGETS = (2_000, 4_000, 8_000, 16_000, 32_000)
AHEAD = 25
"""The calls after a cut whose needs count."""
EVERY = 6
"""The calls between two cuts of a session."""
LEAST_RESULTS = 10_000
"""The characters of results before a cut. With fewer, every policy holds nearly all."""
LEAST_LINE = 8

WORD = re.compile(r"[^\W\d][\w./:@#-]{5,}")
OLD_KEYS = ("old_string", "old_str", "oldText", "old_text", "search")


@dataclass(frozen=True, slots=True)
class Cut:
    """The messages before a cut, and what the agent needs after it."""

    name: str
    body: bytes
    blocks: tuple[ToolBlock, ...]
    words: frozenset[str]
    lines: frozenset[str]


def texts_in(value: object) -> Iterator[str]:
    """Yield every text of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


def arguments_of(block: ToolBlock) -> dict[str, Any]:
    """Return the arguments of a call."""
    call: Any = block.tool_use or {}
    given = call.get("input", call.get("arguments", call.get("function", {})))
    if isinstance(given, dict) and isinstance(given.get("arguments"), (str, dict)):
        given = given["arguments"]
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = {"": given}
    return given if isinstance(given, dict) else {}


def result_of(block: ToolBlock) -> str:
    """Return the text of a result."""
    result: Any = block.tool_result or {}
    content = result.get("content", result.get("output", ""))
    if isinstance(content, list):
        content = "\n".join(
            part["text"]
            for part in content
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return content if isinstance(content, str) else json.dumps(content)


def old_lines(arguments: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that an edit replaces."""
    edits = [arguments, *(edit for edit in arguments.get("edits") or [] if isinstance(edit, dict))]
    for edit in edits:
        for key in OLD_KEYS:
            if isinstance(edit.get(key), str):
                yield from map(str.strip, edit[key].split("\n"))


def read_json(data: bytes) -> Any:
    """Return the value of a document; None if it is not one."""
    try:
        return json.loads(data)
    except ValueError:
        return None


def messages_of(path: Path) -> list[Any] | None:
    """Return the messages of a session file; None if it is none."""
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        return [line for line in map(read_json, data.split(b"\n")) if isinstance(line, dict)]
    found = read_json(data)
    if isinstance(found, dict):
        found = next((found[key] for key in ("messages", "history") if key in found), None)
    return (
        found if isinstance(found, list) and all(isinstance(item, dict) for item in found) else None
    )


def cuts_of(path: Path, messages: list[Any], every: int) -> Iterator[Cut]:
    """Yield the cuts of a session that have needs."""
    blocks = [block for block in extract_tool_blocks(messages) if block.notes.is_active]
    blocks.sort(key=lambda block: block.position)
    arguments = [arguments_of(block) for block in blocks]
    results = [result_of(block) for block in blocks]
    for at in range(every, len(blocks) - 1, every):
        position = blocks[at].position
        before = [index for index in range(at) if blocks[index].position < position]
        learned = "\n".join(results[index] for index in before)
        if len(learned) < LEAST_RESULTS:
            continue
        given = messages[:position]
        known_texts = [
            dialogue(given),
            *(text for index in before for text in texts_in(arguments[index])),
        ]
        known = "\n".join(known_texts)
        known_words, learned_words = set(WORD.findall(known)), set(WORD.findall(learned))
        known_lines = set(map(str.strip, known.split("\n")))
        learned_lines = {
            re.sub(r"^ *\d+(?:\u2192|\t|\||: ?)", "", line).strip() for line in learned.split("\n")
        }
        ahead = arguments[at : at + AHEAD]
        words = {word for item in ahead for text in texts_in(item) for word in WORD.findall(text)}
        lines = {line for item in ahead for line in old_lines(item) if len(line) >= LEAST_LINE}
        words = {word for word in words & learned_words if word not in known_words}
        lines = {line for line in lines & learned_lines if line not in known_lines}
        if words:
            body = json.dumps(given).encode()
            if path.suffix == ".jsonl":
                body = "\n".join(map(json.dumps, given)).encode()
            yield Cut(
                path.name,
                body,
                tuple(blocks[i] for i in before),
                frozenset(words),
                frozenset(lines),
            )


def last_tokens(cut: Cut, budget: int) -> str:
    """Return the last tokens of all calls and results, as text."""
    text = "\n".join(
        f"{block.tool_name} {json.dumps(arguments_of(block), ensure_ascii=False)}\n{result_of(block)}"
        for block in cut.blocks
    )
    return truncate(text, budget, unit="tokens", keep="tail", marker="")


def carried(fill: Any) -> Callable[[Cut, int], str]:
    """Return the policy that carries results in this order."""
    return lambda cut, budget: (
        carry(cut.body, policy=Policy(max_tool_context_tokens=budget, fill=fill)).text
    )


POLICIES: dict[str, Callable[[Cut, int], str]] = {
    "last N tokens": last_tokens,
    "newest": carried("newest"),
    "novel": carried("novel"),
}


def shares(cut: Cut, text: str) -> tuple[float, float | None]:
    """Return the shares of the needed words and lines that a text holds."""
    words = cut.words & set(WORD.findall(text))
    lines = [line in text for line in cut.lines]
    return len(words) / len(cut.words), sum(lines) / len(lines) if lines else None


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def is_tuned(name: str) -> bool:
    """Return true for the half of the sessions that rules were tuned on."""
    return hashlib.sha1(name.encode()).digest()[0] % 2 == 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("tuned", "other"))
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--every", type=int, default=EVERY)
    options = parser.parse_args()
    cuts: list[Cut] = []
    for path in sorted(options.folder.rglob("*")):
        if not path.is_file() or path.suffix not in (".jsonl", ".json", ".traj"):
            continue
        if options.half and is_tuned(path.name) != (options.half == "tuned"):
            continue
        messages = messages_of(path)
        try:
            cuts += [] if messages is None else cuts_of(path, messages, options.every)
        except InputError as error:
            print(f"{path.name}: {error}")
    with_lines = sum(bool(cut.lines) for cut in cuts)
    sessions = len({cut.name for cut in cuts})
    print(f"{len(cuts)} cuts of {sessions} sessions, {with_lines} with edit lines\n")
    budgets = [int(budget) for budget in options.budgets.split(",")]
    print("| words / edit lines | " + " | ".join(f"{budget:,}" for budget in budgets) + " |")
    print("|---" * (len(budgets) + 1) + "|")
    for name in options.policies.split(","):
        cells, spent, used = [], 0.0, []
        for budget in budgets:
            found: list[tuple[float, float | None]] = []
            tokens = 0
            for cut in cuts:
                start = perf_counter()
                text = POLICIES[name](cut, budget)
                spent += perf_counter() - start
                tokens += count_tokens(text)
                found.append(shares(cut, text))
            lines = [share for _, share in found if share is not None]
            cells.append(f"{mean([words for words, _ in found]):.3f} / {mean(lines):.3f}")
            used.append(f"{tokens // max(len(cuts), 1):,}")
        milliseconds = 1_000 * spent / max(len(cuts) * len(budgets), 1)
        print(
            f"| {name} | "
            + " | ".join(cells)
            + f" | tokens {' '.join(used)}; {milliseconds:.1f} ms |"
        )


if __name__ == "__main__":
    main()
