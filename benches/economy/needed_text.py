"""The needed text of a session: what later calls quote from results, and the share of it that was in what had been sent.

A call needs the words of its arguments (paths and identifiers) and the lines of the text that an edit replaces, if the
model had learned them from results alone: no message, and no argument of an earlier call, has them. A request holds what
the calls of its answer need if what is sent for it has the same words and lines. Results that the model could ask for
again do not count as sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from session_requests import Messages, RecordedSession

from toolcarry.api.fidelity import LEAST_LINE, LINE_NUMBER, WORD, old_lines, texts_in

Needs = frozenset[str]


@dataclass
class Texts:
    """The words and lines of messages, remembered by message: most are the same object in many requests."""

    known: dict[int, tuple[Any, Needs]] = field(default_factory=dict)

    def of(self, value: Any) -> Needs:
        """Return the words and the lines of all texts in a value."""
        held = self.known.get(id(value))
        if held is None:
            found = frozenset().union(*map(needs_in, texts_in(value)))
            held = self.known[id(value)] = (value, found)
        return held[1]


def needs_in(text: str) -> Needs:
    """Return the words and the lines of a text."""
    lines = (LINE_NUMBER.sub("", line).strip() for line in text.split("\n"))
    return frozenset((*WORD.findall(text), *(line for line in lines if len(line) >= LEAST_LINE)))


def needs_of(session: RecordedSession, texts: Texts) -> list[Needs]:
    """Return what the answer to each request needs from results."""
    learned: set[str] = set()
    said: set[str] = set()
    found: list[Needs] = []
    start = 0
    for end, _ in session.requests:
        for message in session.messages[start:end]:
            for is_result, part in parts_of(message):
                (learned if is_result else said).update(texts.of(part))
        start = end
        found.append(frozenset((quoted(session.messages[end]) & learned) - said))
    return found


def parts_of(message: Any) -> Iterator[tuple[bool, Any]]:
    """Yield the parts of a message, and whether each is a result."""
    content = message["content"]
    for part in content if isinstance(content, list) else [content]:
        yield isinstance(part, dict) and part.get("type") == "tool_result", part


def quoted(message: Any) -> set[str]:
    """Return the words of the arguments of all calls in a message, and the lines that edits replace."""
    found: set[str] = set()
    for _, part in parts_of(message):
        if isinstance(part, dict) and part.get("type") == "tool_use":
            arguments = part["input"]
            found.update(word for text in texts_in(arguments) for word in WORD.findall(text))
            found.update(line for line in old_lines(arguments) if len(line) >= LEAST_LINE)
    return found


def held(needs: Needs, sent: Messages, texts: Texts) -> int:
    """Return how many of the needs a request holds."""
    return len(needs & frozenset().union(*map(texts.of, sent))) if needs else 0
