"""The script of a fake provider: turns that a test writes down, or a function of the request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that the model wants called."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """One answer of the model: thinking first, then text, then calls."""

    text: str = ""
    calls: Sequence[Call] = ()
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call in a request, and the text of its result."""

    name: str
    input: Mapping[str, Any]
    result: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, whichever provider's: the document, the calls in it with their results, and all that is text."""

    request: dict[str, Any]
    exchanges: Sequence[Exchange]
    texts: Sequence[str]


Answer = Callable[[Asked], ScriptedTurn]
Script = Answer | Sequence[ScriptedTurn]


def as_answer(script: Script) -> Answer:
    """A script as a function; turns are said one after the other, and the last one from then on."""
    if callable(script):
        return script
    turns = list(script)

    def answer(asked: Asked) -> ScriptedTurn:
        return turns.pop(0) if len(turns) > 1 else turns[0]

    return answer


def reads_then_quotes(path: str, line: int, *, thinking: str = "") -> Answer:
    """A model that quotes a line (from 1) of a file that it has, and otherwise reads the file."""

    def answer(asked: Asked) -> ScriptedTurn:
        held = content_of(asked, path)
        if held is None:
            return ScriptedTurn(calls=[Call("Read", {"file_path": path})], thinking=thinking)
        lines = held.split("\n")
        return ScriptedTurn(text=lines[line - 1] if line <= len(lines) else "(no such line)")

    return answer


def content_of(asked: Asked, path: str) -> str | None:
    """Return the content of a file that a model sees: the newest result of a read, else a fence below the file's name."""
    for exchange in reversed(asked.exchanges):
        if exchange.name == "Read" and exchange.input.get("file_path") == path:
            return exchange.result
    fenced = re.compile(
        rf"^### {re.escape(path)}\b.*\n+(`{{3,}}|~{{3,}})[^\n]*\n((?s:.*?))\n\1$", re.MULTILINE
    )
    for text in reversed(asked.texts):
        if found := fenced.search(text):
            return found[2]
    return None


def strings(value: Any) -> Iterator[str]:
    """Every string in a document, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def joined(content: Any) -> str:
    """The text of a content: a string, or parts with ``text``."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def pieces(text: str, size: int = 12) -> list[str]:
    """Yield ``text`` in the pieces that it streams in; one empty piece if it is empty."""
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]
