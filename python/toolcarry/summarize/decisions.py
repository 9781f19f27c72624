"""Sentences that decide something. What counts is data; rather few of them, and each word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from toolcarry.summarize.turns import Turn

__all__ = ["find_decisions"]

VERBS: Final = "use|go|keep|stick|stay|switch|drop|skip|avoid|leave|remove|replace|make it"

CUES: Final = (
    # English
    r"\b(?:we|i|you) (?:have |'ve )?(?:decided|agreed|settled|chose)\b",
    r"\b(?:decision|conclusion):",
    rf"\blet['\u2019]s (?:not )?(?:{VERBS})\b",
    rf"\b(?:we|i)(?: will|['\u2019]ll|'m going to|'re going to) (?:not )?(?:{VERBS}) ",
    r"\bwe (?:must|should) (?:not|never|always)\b",
    r"\binstead of\b",
    r"\brather than\b",
    r"\bin favou?r of\b",
    r"\broot cause\b",
    # German
    r"\b(?:entschieden|beschlossen|entscheidung:)",
    r"\b(?:stattdessen|statt dessen|anstatt|anstelle)\b",
    r"\blass(?:t)? uns .{0,40}\b(?:nehmen|verwenden|nutzen|bleiben|lassen)\b",
    r"\bwir (?:nehmen|verwenden|nutzen|bleiben bei|lassen)\b",
    r"\b(?:die|eigentliche) ursache (?:ist|war|liegt)\b",
    # French
    r"\b(?:décidé|décision ?:)",
    r"\bau lieu d(?:e|')",
    r"\bplutôt qu(?:e|')",
    r"\b(?:on|nous) (?:part(?:ons)? sur|gard(?:e|ons)|utilis(?:e|ons))\b",
    r"\bla cause (?:racine|profonde|du|est|était)\b",
    # Spanish
    r"\b(?:decidido|decidimos|decisión:)",
    r"\ben (?:lugar|vez) de\b",
    r"\b(?:usaremos|utilizaremos|vamos a (?:usar|dejar|mantener|utilizar))\b",
    r"\bla causa (?:raíz|es|era|fue|del)\b",
    # Chinese
    "决定|決定采用|改用|而不是|根本原因|我们(?:用|采用|使用|改)",
    # Japanese
    "決定し|決めました|ことにし(?:ます|ました|よう)|の代わりに|ではなく|根本原因|原因は",
)
"""What a sentence says that decides, rules out, or names a cause."""

CUE: Final = re.compile("|".join(CUES), re.IGNORECASE)
SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。\uff01\uff1f])|\n")
FENCE: Final = re.compile(r"^[ \t>]*(?:```|~~~)")
LIST_MARK: Final = re.compile(r"[ \t]*(?:[-*+>]|#{1,6}|\d{1,3}[.)])[ \t]+")

SHORTEST: Final = 8
LONGEST: Final = 300


def find_decisions(turns: Iterable[Turn]) -> list[str]:
    """The sentences that decide something, oldest first, each where it was said last; code and questions aside.

    >>> find_decisions([Turn("ASSISTANT", "I read both. We decided to keep SQLite. Shall we use WAL instead of it?")])
    ['We decided to keep SQLite.']
    """
    found: dict[str, None] = {}
    for turn in turns:
        for sentence in sentences(turn.text):
            if CUE.search(sentence) is not None:
                found.pop(sentence, None)
                found[sentence] = None
    return list(found)


def sentences(text: str) -> Iterable[str]:
    """The sentences of a text that stand in no fence and ask nothing, without marks of lists and headings."""
    is_code = False
    for line in text.split("\n"):
        if FENCE.match(line) is not None:
            is_code = not is_code
            continue
        if is_code:
            continue
        mark = LIST_MARK.match(line)
        for part in SENTENCE_END.split(line[mark.end() :] if mark else line):
            sentence = part.strip()
            if SHORTEST <= len(sentence) <= LONGEST and sentence[-1] not in "?\uff1f":
                yield sentence
