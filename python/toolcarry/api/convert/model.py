"""A conversation independent of any format: turns, and their parts in order.

Every part knows the message that it came from and its original object, so that an object that the target takes unchanged
need not be written again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolcarry._input.objects import JsonObject

Family = Literal["anthropic", "openai", "responses", "ollama", "gemini", "bedrock", ""]
"""Whose part it is; empty where it is of another shape, or of any."""
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Text:
    position: int | None
    text: str
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking. With a signature it means something to its own family alone."""

    position: int
    text: str
    family: Family
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Media:
    """Content other than text: by its bytes (``data``, base64) or by its address. ``line`` replaces it where it is not supported."""

    position: int
    kind: Literal["image", "document", "audio", "video", "search_result"]
    media_type: str
    data: str
    url: str
    name: str
    line: str
    family: Family
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Item:
    """A part that only its own format takes, unchanged: a server's call with its result, a reference."""

    position: int
    family: Family
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call. ``content`` is as the reader found it."""

    position: int
    content: object
    is_error: bool
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its results: none where it is open, and more than one where further ones came."""

    position: int
    call_id: str
    name: str
    arguments: object
    results: tuple[Result, ...]
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Orphan:
    """A result without call."""

    position: int
    call_id: str
    name: str
    result: Result


Part: TypeAlias = Text | Thought | Media | Item | Call | Orphan


def results_of(part: Part) -> tuple[Result, ...]:
    """The results, if a part is a call or a result without one."""
    if isinstance(part, Orphan):
        return (part.result,)
    return part.results if isinstance(part, Call) else ()


@dataclass(frozen=True, slots=True)
class Turn:
    """The content of one turn, followed by the results of its calls; a turn ``tool`` holds only orphans."""

    role: Role
    parts: tuple[Part, ...]
