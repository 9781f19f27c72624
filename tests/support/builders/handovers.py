"""Conversations that do not fit, and the hand-overs that are written of them."""

from typing import Any

from support.builders.wire import bash, join, read

from toolcarry import carry

LETTERS = "etaoinshrdlu"


def word(number: int) -> str:
    """A word that no other number below 1,728 has."""
    return "".join(LETTERS[number // 12**place % 12] for place in range(3))


FILLER = "".join(
    f"{word(n)} and {word(7 * n)} meet {word(11 * n)} at {word(5 * n)}\n" for n in range(400)
)
"""Lines of which no two are alike."""


def said(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def answered(text: str) -> list[Any]:
    return [{"role": "assistant", "content": text}]


def after_much(*turns: list[Any], tokens: int = 2_000) -> str:
    """The hand-over of turns after a file that does not fit."""
    messages = join(read("/w/big.txt", FILLER * 4, "big"), *turns)
    carried = carry(messages, max_tokens=tokens, layout="handover")
    assert carried.report.tokens_after is not None
    assert carried.report.tokens_after <= tokens
    assert carried.report.steps
    return carried.text


LATER = [
    bash(
        f"look {number}", "\n".join(FILLER.split("\n")[60 * (number % 6) :][:60]), f"later{number}"
    )
    for number in range(11)
]
"""Steps that take the room of the latest ones."""


def before_others(*turns: list[Any]) -> str:
    """Return the hand-over of turns that are followed by too many others to be among the latest steps."""
    return after_much(*turns, *LATER, tokens=4_000)


def section(text: str, name: str) -> str:
    """The text of a section; empty if there is none."""
    _, found, rest = text.partition(f"\n## {name}\n")
    return rest.partition("\n## ")[0] if found else ""
