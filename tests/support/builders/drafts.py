"""Conversations before they have a provider's shape: what each side says at once, in its order."""

from dataclasses import dataclass
from typing import Any, NamedTuple

JsonObject = dict[str, Any]

IMAGE_DATA = "iVBORw0KGgo="


class Image(NamedTuple):
    """An image in a result, always the same."""


class Text(NamedTuple):
    text: str


class Thinking(NamedTuple):
    text: str


class Search(NamedTuple):
    """A search that ran at the provider's: call and result at once."""

    number: int


class Call(NamedTuple):
    call_id: str
    name: str
    given: JsonObject
    style: str = "function"  # the kind of tool: function, custom, shell, local_shell, apply_patch


class Result(NamedTuple):
    call_id: str
    name: str
    content: str | tuple[str | Image, ...]
    is_error: bool = False
    style: str = "function"


Part = Text | Thinking | Search | Call | Result


@dataclass
class DraftTurn:
    """The parts that one side sends at once."""

    role: str
    parts: list[Part]


@dataclass(frozen=True)
class Manner:
    """The choices that a provider leaves open: texts as strings or as lists of one part, calls with or without ids."""

    is_plain: bool = True
    has_ids: bool = True


def of_kind(said: DraftTurn, kind: type[Any]) -> list[Any]:
    return [part for part in said.parts if isinstance(part, kind)]


def text_of(content: str | tuple[str | Image, ...]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(texts_of(content))


def has_image(content: str | tuple[str | Image, ...]) -> bool:
    return isinstance(content, tuple) and any(isinstance(piece, Image) for piece in content)


def texts_of(content: tuple[str | Image, ...]) -> list[str]:
    return [piece for piece in content if isinstance(piece, str)]
