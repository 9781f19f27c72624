"""A conversation independent of any format: turns, and their parts in order.

Every part knows the message that it came from and its original object, so that an object that the target takes unchanged
need not be written again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolcarry._input.objects import JsonObject

Family = Literal["anthropic", "openai", "responses", "ollama", "gemini", "bedrock", ""]
"""The family of formats that a part is from; empty for any other family, or for all."""
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Text:
    position: int | None
    text: str
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking. If it is signed, only its own family can use it."""

    position: int
    text: str
    family: Family
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Media:
    """Content other than text: base64 (``data``) or a URL. ``line`` replaces it where media are not supported."""

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
    """A part that only its own format accepts, unchanged: a server's call with its result, or a reference."""

    position: int
    family: Family
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call. ``content`` is unchanged from the input."""

    position: int
    content: object
    is_error: bool
    wire: JsonObject


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its results: none if the call is open, and several if it was answered again."""

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
    """Return the results, if a part is a call or a result without a call."""
    if isinstance(part, Orphan):
        return (part.result,)
    return part.results if isinstance(part, Call) else ()


@dataclass(frozen=True, slots=True)
class PortableTurn:
    """The content of one turn, followed by the results of its calls; a turn ``tool`` holds only orphans."""

    role: Role
    parts: tuple[Part, ...]
    members: JsonObject = field(default_factory=dict)
    """Members of the message that only the target's own format has, such as a speaker's name or the id of a sound."""
