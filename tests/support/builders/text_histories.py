"""Short ways to write what is recounted, and to read what comes of it."""

import re
from typing import Any

from support.builders.wire import Message

from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.types.values import EncodingName

BEGINNING = re.compile(r"(?:^|\n\n)(?=\[Tool: )")
"""The position before a line of a call."""


def says(text: str, **more: Any) -> Message:
    """Return a message of the assistant."""
    return {"role": "assistant", "content": text, **more}


def asks(text: str, **more: Any) -> Message:
    """Return a message of the user."""
    return {"role": "user", "content": text, **more}


def system(text: str, role: str = "system") -> Message:
    return {"role": role, "content": text}


def told(recounted: Any) -> list[tuple[str, str]]:
    """The roles and the contents of a text history."""
    assert all(list(message) == ["role", "content"] for message in recounted.messages)
    return [(message["role"], message["content"]) for message in recounted.messages]


def lines_of(content: str) -> list[str]:
    """The lines of the calls in a message, each with all of its result."""
    return [part for part in BEGINNING.split(content) if part.startswith("[Tool: ")]


def lines(recounted: Any) -> list[str]:
    """The lines of all calls, in order."""
    return [line for message in recounted.messages for line in lines_of(message["content"])]


def marks(recounted: Any) -> int:
    """Return how many lines of the assistant begin like the line of a call."""
    return sum(
        line.startswith("[Tool: ")
        for message in recounted.messages
        for line in message["content"].split("\n")
    )


def result_of(line: str) -> str:
    """Return the text after the arrow of a line."""
    return line.split(" \u2192 ", 1)[1]


def kept(report: Any) -> dict[str, Any]:
    """Return the values of a report, without empty ones and sizes, and the number of unread messages."""
    sizes = ("messages", "calls", "chars_before", "chars_after", "tokens_after")
    values = {**report.to_dict(), "unread": report.unread.count}
    return {name: value for name, value in values.items() if value and name not in sizes}


def size(recounted: Any, encoding: EncodingName | None = None) -> int:
    """The characters, or the tokens, of all contents together."""
    texts = [content for _, content in told(recounted)]
    return sum(len(text) if encoding is None else count_tokens(text, encoding) for text in texts)
