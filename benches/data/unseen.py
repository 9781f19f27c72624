"""Texts of many kinds that the process has not seen: another one each round.

What a tokenizer remembers of a text flatters it.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator, Sequence

from corpus import texts
from workload import SEED, TEXT_SHARES, Message, Writer, generate, written_by

Make = Callable[[int, int], list[str]]
"""The texts of a round: from its number, and how many characters they have."""

STATEMENTS = (
    "function({0}){{return {1}}}", "var {0}={1};", "if({0}){{{1}={0}}}", "{0}.{1}({0});", "!{0}&&{1}||{0};",
    "null=={0}?void 0:{0}.{1};", "this._{0}={1};", "{0}[{1}]={0},", "{0}=>{1}+{0};", 'case"{1}":',
)  # fmt: skip
NAMES = ("Element", "Node", "Props", "get", "children", "length", "push", "type", "value", "on")


def part_of(kind: str) -> Make:
    """Texts of a kind from the corpus, each from where the last one ended."""

    def make(number: int, size: int) -> list[str]:
        text = texts()[kind]
        start = number * size % max(len(text) - size, 1)
        return [text[start : start + size]]

    return make


def workload(messages: int) -> Make:
    """All texts of a conversation, another one each round."""
    return lambda number, _: list(texts_of(generate(messages, SEED + number)))


class OtherTexts(Writer):
    """Draws what a ``Writer`` draws, and then takes each text from another place of the same kind."""

    def __init__(self, message_count: int, number: int) -> None:
        super().__init__(message_count, SEED)
        self.places = random.Random(number)

    def text(self, length: int) -> str:
        whole = texts()[self.share(TEXT_SHARES)]
        places = max(1, len(whole) - length)
        self.source.randrange(places)
        start = self.places.randrange(places)
        return whole[start : start + length]


def with_other_texts(message_count: int, number: int) -> list[Message]:
    """The workload of this size as to its calls, lengths and kinds of text; each number gives other texts."""
    return written_by(OtherTexts(message_count, number), message_count)


def texts_of(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        content = message["content"]
        for block in [{"text": content}] if isinstance(content, str) else content:
            found = block.get("text", block.get("content", ""))
            if isinstance(found, str):
                yield found
            else:
                yield from (part["text"] for part in found)


def encoded_lines(number: int, size: int) -> list[str]:
    return [base64.encodebytes(random.Random(number).randbytes(size * 3 // 4)).decode()]


def encoded(number: int, size: int) -> list[str]:
    return [base64.b64encode(random.Random(number).randbytes(size * 3 // 4)).decode()]


def letters(number: int, size: int) -> list[str]:
    return ["".join(random.Random(number).choices(string.ascii_letters, k=size))]


def minified(number: int, size: int) -> list[str]:
    """Minified scripts: short names, no white space."""
    source = random.Random(number)
    names = [*string.ascii_lowercase, *(source.choice("_$x") + name for name in NAMES), *NAMES]
    count = size // 10
    parts = [source.choice(STATEMENTS).format(*source.sample(names, 2)) for _ in range(count)]
    return ["".join(parts)[:size]]


KINDS: dict[str, Make] = {
    "W200": workload(200),
    "W2000": workload(2_000),
    **{kind: part_of(kind) for kind in ("code", "prose", "log", "json", "cjk", "emoji")},
    "base64, lines": encoded_lines,
    "base64": encoded,
    "letters": letters,
    "minified": minified,
}
