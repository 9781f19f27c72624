"""Fidelity: the share of what an agent uses next that a context still holds.

A session is cut before some of its calls. The 25 calls after a cut need certain words and lines: the words of their
arguments, and the lines of text that edits replace, as far as the agent can have learned them only from results before
the cut, because no earlier message or argument has them. Fidelity is the share of these words and lines that a context
made from the messages before the cut contains. The measurement uses no model and no random choice. ``benches/fidelity``
measures many sessions, ``toolcarry report`` a single one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

from toolcarry._input.document import held_message
from toolcarry._input.objects import as_list, as_object
from toolcarry.api.context import carry, dialogue, extract_tool_blocks
from toolcarry.api.tokens import count_tokens, truncate
from toolcarry.importers.read import arguments_of, text_of_result
from toolcarry.types.policy import LayoutName
from toolcarry.types.values import ToolBlock

AHEAD: Final = 25
"""The calls after a cut whose needs count."""
EVERY: Final = 6
"""The calls between two cuts of a session."""
LEAST_RESULTS: Final = 10_000
"""The least characters of results before a cut. With fewer, every policy keeps nearly all of them."""
LEAST_LINE: Final = 8

WORD: Final = re.compile(r"[^\W\d][\w./:@#-]{5,}")
LINE_NUMBER: Final = re.compile(r"^ *\d+(?:\u2192|\t|\||: ?)")
PATH_KEYS: Final = ("file_path", "path", "notebook_path", "target_file")
OLD_KEYS: Final = ("old_string", "old_str", "oldText", "old_text", "search")


@dataclass(frozen=True, slots=True)
class Cut:
    """The messages before a cut, their blocks, and what the agent needs after it.

    ``files`` are the files that both its next calls and earlier calls name.
    """

    body: bytes
    blocks: tuple[ToolBlock, ...]
    words: frozenset[str]
    lines: frozenset[str]
    files: frozenset[str]


Carrier = Callable[[Cut, int], str]
"""A function that returns the text a policy keeps of a cut, within a number of tokens (``o200k_base``)."""


def cuts_of(
    messages: Sequence[Any], *, every: int = EVERY, most: int | None = None
) -> Iterator[Cut]:
    """Yield the cuts of a session whose next calls need something, oldest first: one for each ``every`` calls, or about
    ``most``, evenly spaced.

    Raises ``InputError`` if a message is not an object.
    """
    blocks = [block for block in extract_tool_blocks(messages) if block.notes.is_active]
    blocks = [block for block in blocks if not block.scope] or blocks
    blocks.sort(key=lambda block: block.position)
    arguments = [arguments_of(block) for block in blocks]
    results = [text_of_result(block) for block in blocks]
    step = every if most is None else max(every, -(-len(blocks) // most))
    for at in range(step, len(blocks) - 1, step):
        position = blocks[at].position
        before = [index for index in range(at) if blocks[index].position < position]
        learned = "\n".join(results[index] for index in before)
        if len(learned) < LEAST_RESULTS:
            continue
        given = messages[:position]
        open_calls = [block for block in extract_tool_blocks(given) if block.tool_result is None]
        if len(open_calls) > sum(blocks[index].tool_result is None for index in before):
            continue  # results of calls before the cut come after it
        known_texts = [
            dialogue(given),
            *(text for index in before for text in texts_in(arguments[index])),
        ]
        known = "\n".join(known_texts)
        known_words, learned_words = set(WORD.findall(known)), set(WORD.findall(learned))
        known_lines = set(map(str.strip, known.split("\n")))
        learned_lines = {LINE_NUMBER.sub("", line).strip() for line in learned.split("\n")}
        ahead = arguments[at : at + AHEAD]
        words = {word for item in ahead for text in texts_in(item) for word in WORD.findall(text)}
        lines = {line for item in ahead for line in old_lines(item) if len(line) >= LEAST_LINE}
        words = {word for word in words & learned_words if word not in known_words}
        lines = {line for line in lines & learned_lines if line not in known_lines}
        if words:
            files = frozenset(filter(None, (path_of(item) for item in ahead)))
            yield Cut(
                json.dumps(plain(given)).encode(),
                tuple(blocks[index] for index in before),
                frozenset(words),
                frozenset(lines),
                files & {path_of(arguments[index]) for index in before},
            )


def texts_in(value: object) -> Iterator[str]:
    """Yield every text of a JSON value.

    >>> list(texts_in({"a": ["b", 1, {"c": "d"}]}))
    ['b', 'd']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


def old_lines(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that an edit replaces."""
    edits = [arguments, *filter(None, map(as_object, as_list(arguments.get("edits")) or []))]
    for edit in edits:
        for key in OLD_KEYS:
            if isinstance(edit.get(key), str):
                yield from map(str.strip, edit[key].split("\n"))


def path_of(arguments: Mapping[str, Any]) -> str:
    """Return the file that a call names; empty if it names none."""
    found = (arguments.get(key) for key in PATH_KEYS)
    return next((path for path in found if isinstance(path, str)), "")


def plain(records: Sequence[Any]) -> list[Any]:
    """Return the messages of records, without the ids and parents that a cut would break.

    Side chains are left out of a session that has more than one.
    """
    said = [
        (record, message) for record in records if (message := held_message(record)) is not None
    ]
    main = [message for record, message in said if not record.get("isSidechain")]
    return main or [message for _, message in said] or list(records)


def held(cut: Cut, text: str) -> tuple[float, float | None]:
    """Return the shares of the needed words and lines that a text holds; ``None`` without needed lines."""
    words = len(cut.words & set(WORD.findall(text))) / len(cut.words)
    lines = sum(line in text for line in cut.lines) / len(cut.lines) if cut.lines else None
    return words, lines


def shown_as_text(block: ToolBlock) -> str:
    """Return a call with its arguments, and its result."""
    arguments = json.dumps(arguments_of(block), ensure_ascii=False)
    return f"{block.tool_name} {arguments}\n{text_of_result(block)}"


def nothing(_cut: Cut, _budget: int) -> str:
    """Return no text."""
    return ""


def last_three(cut: Cut, _budget: int) -> str:
    """Return the last three calls and results: what Anthropic's context editing keeps, whatever their size."""
    return "\n".join(map(shown_as_text, cut.blocks[-3:]))


def last_tokens(cut: Cut, budget: int) -> str:
    """Return the last tokens of all calls and results, as text."""
    text = "\n".join(map(shown_as_text, cut.blocks))
    return truncate(text, budget, unit="tokens", keep="tail", marker="")


def carried(layout: LayoutName) -> Carrier:
    """Return the policy that carries results in this layout."""
    return lambda cut, budget: carry(cut.body, max_tokens=budget, layout=layout).text


POLICIES: Final[Mapping[str, Carrier]] = {
    "nothing": nothing,
    "the last 3 results": last_three,
    "last N tokens": last_tokens,
    "sections": carried("sections"),
    "handover": carried("handover"),
}


@dataclass(frozen=True, slots=True)
class Score:
    """The means over all cuts for one policy and one budget, and the lowest share of words at any cut. The mean of
    lines or files is ``None`` if no cut has any."""

    words: float
    least_words: float
    lines: float | None
    files: float | None
    tokens: float
    milliseconds: float


def score_of(carrier: Carrier, cuts: Sequence[Cut], budget: int) -> Score:
    """Return the score of a policy on cuts. There must be one or more."""
    words: list[float] = []
    lines: list[float] = []
    files: list[float] = []
    tokens, spent = 0, 0.0
    for cut in cuts:
        start = perf_counter()
        text = carrier(cut, budget)
        spent += perf_counter() - start
        held_words, held_lines = held(cut, text)
        words.append(held_words)
        if held_lines is not None:
            lines.append(held_lines)
        if cut.files:
            files.append(sum(path in text for path in cut.files) / len(cut.files))
        tokens += count_tokens(text)
    return Score(
        words=sum(words) / len(words),
        least_words=min(words),
        lines=mean(lines),
        files=mean(files),
        tokens=tokens / len(cuts),
        milliseconds=1_000 * spent / len(cuts),
    )


def mean(values: Sequence[float]) -> float | None:
    """Return the mean of values; ``None`` without any."""
    return sum(values) / len(values) if values else None
