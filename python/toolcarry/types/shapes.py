"""The names of the API shapes, and the older names of the same shapes."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from toolcarry.types.values import check_choice

__all__ = ["NEW_NAMES", "TARGETS", "Shape", "Target", "members_of", "record_named", "shape_named"]

Shape: TypeAlias = Literal["anthropic", "openai", "responses", "ollama", "gemini", "bedrock"]
Target: TypeAlias = Literal[Shape, "openai-chat", "openai-responses"]
"""The formats. ``openai-chat`` and ``openai-responses`` are other names of ``openai`` and ``responses``."""
TARGETS: Final[tuple[Shape, ...]] = get_args(Shape)
MEMBERS: Final = {
    "responses": ("instructions", "input"),
    "gemini": ("systemInstruction", "contents"),
}
"""The names of a request's system prompt and messages, if they are not ``system`` and ``messages``."""

NEW_NAMES: Final = {"openai-chat": "openai", "openai-responses": "responses"}
"""The destinations whose shape has an older name. All others have the name of their shape."""


def shape_named(key: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return the older name of a shape, given either name. Raises ``ConfigError`` for any other value.

    >>> shape_named("to", "openai-chat", ("anthropic", "openai"))
    'openai'
    """
    new = tuple(name for name, old in NEW_NAMES.items() if old in allowed)
    check_choice(key, value, (*allowed, *new))
    return NEW_NAMES.get(str(value), str(value))


def record_named(shape: str) -> str:
    """Return the name of the destination for a shape, given either name of the shape.

    >>> record_named("responses")
    'openai-responses'
    """
    return next((new for new, old in NEW_NAMES.items() if old == shape), shape)


def members_of(target: Target) -> tuple[str, str]:
    """Return the names of a request's system prompt and of its messages."""
    return MEMBERS.get(target, ("system", "messages"))
