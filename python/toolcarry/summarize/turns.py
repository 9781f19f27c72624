"""The turns of a dialogue, as ``toolcarry.dialogue`` writes it, and what of them a summarizer is to see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from toolcarry._util.plural import counted
from toolcarry.summarize.injected import strip_injected, strip_reasoning
from toolcarry.tokens import truncate

__all__ = ["Turn", "cut_turns", "join_turns", "read_turns", "split_turns"]

MARK: Final = re.compile(r"^\[(/?)(USER|ASSISTANT)\]$", re.MULTILINE)
CUT: Final = "\n[...]\n"


class Turn(NamedTuple):
    """What one said: ``USER``, ``ASSISTANT``, or, for text that stands in no turn, nobody."""

    speaker: str
    text: str

    def __str__(self) -> str:
        if not self.speaker:
            return self.text
        return f"[{self.speaker}]\n{self.text}\n[/{self.speaker}]"


def split_turns(dialogue: str) -> list[Turn]:
    """The turns of a dialogue; a turn that nothing ends goes to the end of the text.

    >>> split_turns("[USER]\\nFix it.\\n[/USER]")
    [Turn(speaker='USER', text='Fix it.')]
    """
    turns: list[Turn] = []
    speaker, start = "", 0
    for mark in MARK.finditer(dialogue):
        if not speaker and not mark[1]:
            turns.append(Turn("", dialogue[start : mark.start()].strip("\n")))
            speaker, start = mark[2], mark.end() + 1
        elif mark[1] and mark[2] == speaker:
            turns.append(Turn(speaker, dialogue[start : mark.start() - 1]))
            speaker, start = "", mark.end()
    turns.append(Turn(speaker, dialogue[start:].strip("\n")))
    return [turn for turn in turns if turn.text.strip()]


def read_turns(dialogue: str) -> list[Turn]:
    """The turns with what was said in them: without what clients injected, and without reasoning.

    >>> read_turns("[USER]\\n<system-reminder>Be brief.</system-reminder>\\n[/USER]")
    []
    """
    turns = (
        Turn(speaker, strip_reasoning(text) if speaker == "ASSISTANT" else strip_injected(text))
        for speaker, text in split_turns(dialogue)
    )
    return [turn for turn in turns if turn.text.strip()]


def join_turns(turns: Iterable[Turn]) -> str:
    """The dialogue of these turns.

    >>> join_turns([Turn("USER", "Fix it.")])
    '[USER]\\nFix it.\\n[/USER]'
    """
    return "\n\n".join(map(str, turns))


def cut_turns(turns: list[Turn], limit: int) -> list[Turn]:
    """Turns of about ``limit`` characters together: a quarter of that from the beginning, the rest from the end.

    What was left out between them is named. A turn that doesn't fit by itself is cut in its middle.

    >>> cut_turns([Turn("USER", "a" * 9), Turn("ASSISTANT", "b" * 50), Turn("USER", "c" * 9)], 40)[1].text
    '[1 turn left out here: 50 characters]'
    """
    if sum(len(turn.text) for turn in turns) <= limit:
        return turns
    if len(turns) == 1:
        return list(fitting(turns, limit))
    head = list(fitting(turns, limit // 4))
    tail = list(fitting(turns[: len(head) - 1 : -1], limit - limit // 4))
    tail.reverse()
    left_out = turns[len(head) : len(turns) - len(tail)]
    if not left_out:
        return head + tail
    size = sum(len(turn.text) for turn in left_out)
    gone, chars = counted(len(left_out), "turn"), counted(size, "character")
    note = Turn("", f"[{gone} left out here: {chars}]")
    return [*head, note, *tail]


def fitting(turns: list[Turn], limit: int) -> Iterator[Turn]:
    """The first turns, as many as fit; the very first is cut, if need be."""
    for number, (speaker, text) in enumerate(turns):
        if len(text) > limit:
            if number == 0:
                yield Turn(speaker, truncate(text, limit, keep="ends", marker=CUT))
            return
        yield Turn(speaker, text)
        limit -= len(text)
