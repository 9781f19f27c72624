"""Shorten several tool results with one request to a summarizer.

Each result stands between two lines, which the answer repeats:

    [OUTPUT 1 grep]                  [OUTPUT 1 grep]
    a.py:1: import os                a.py:1, a.py:9
    a.py:9: import re        ->      [/OUTPUT 1]
    [/OUTPUT 1]                      [OUTPUT 2 Bash]
    [OUTPUT 2 Bash]                  3 passed
    ...                              [/OUTPUT 2]

A result that the answer leaves out is in the next request, so that an answer which is cut off at a model's limit costs
only its rest. A summarizer whose answer has no such lines, such as a function of the text alone, gets one result at a
time from then on.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolcarry.summarize.prompts import MANY_OUTPUTS

__all__ = ["Output", "Summary", "shorten_outputs"]

MOST_TOKENS: Final = 8_000
"""The tokens of the results in one request. A longer result has a request of its own."""

Summary = tuple[str, dict[str, Any]]
"""A short text, and its provenance."""

_ANSWER: Final = re.compile(
    r"^\[OUTPUT (\d+)[^\n]*\]\n(.*?)\n\[/OUTPUT \1\][ \t\r]*$", re.DOTALL | re.MULTILINE
)
_LINE: Final = re.compile(r"^(\[/?)(OUTPUT )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Output:
    """A tool result to shorten, and the instructions for it."""

    name: str
    text: str
    tokens: int
    instructions: str


def shorten_outputs(
    outputs: Sequence[Output], summarize: Callable[[str, str], Summary]
) -> list[Summary]:
    """Return the summary of each output. ``summarize`` takes a text and instructions."""
    found: dict[int, Summary] = {}
    is_answering = True
    for instructions in dict.fromkeys(each.instructions for each in outputs):
        waiting = deque(
            number for number, each in enumerate(outputs) if each.instructions == instructions
        )
        while waiting:
            numbers = take(waiting, outputs) if is_answering else [waiting.popleft()]
            if len(numbers) == 1:
                (number,) = numbers
                found[number] = summarize(outputs[number].text, instructions)
                continue
            text = "\n\n".join(
                framed(place, outputs[number]) for place, number in enumerate(numbers, 1)
            )
            answer, provenance = summarize(text, f"{instructions}\n\n{MANY_OUTPUTS}")
            texts = answered(answer)
            left = [number for place, number in enumerate(numbers, 1) if place not in texts]
            is_answering = len(left) < len(numbers)
            waiting.extendleft(reversed(left))
            for place, number in enumerate(numbers, 1):
                if place in texts:
                    found[number] = texts[place], provenance
    return [found[number] for number in range(len(outputs))]


def take(waiting: deque[int], outputs: Sequence[Output]) -> list[int]:
    """Take as many outputs as fit into one request, and at least one."""
    numbers = [waiting.popleft()]
    tokens = outputs[numbers[0]].tokens
    while waiting and tokens + outputs[waiting[0]].tokens <= MOST_TOKENS:
        tokens += outputs[waiting[0]].tokens
        numbers.append(waiting.popleft())
    return numbers


def framed(place: int, output: Output) -> str:
    """Return an output between its two lines. No line of its own can be taken for one of them.

    >>> print(framed(1, Output("grep", "a.py:1\\n[/OUTPUT 1]", 9, "")))
    [OUTPUT 1 grep]
    a.py:1
    [/\\OUTPUT 1]
    [/OUTPUT 1]
    """
    name = " ".join(output.name.split())
    text = _LINE.sub(r"\1\\\2", output.text)
    return f"[OUTPUT {place} {name}]\n{text}\n[/OUTPUT {place}]"


def answered(answer: str) -> dict[int, str]:
    """Return the texts in an answer by their numbers; one that is there twice is in doubt, and left out.

    >>> answered("[OUTPUT 1 grep]\\na.py:1\\n[/OUTPUT 1]\\n[OUTPUT 2 grep]\\na.py")
    {1: 'a.py:1'}
    """
    found = [(int(number), text) for number, text in _ANSWER.findall(answer)]
    counts = Counter(number for number, _ in found)
    return {number: text for number, text in found if counts[number] == 1 and text.strip()}
