"""What a message says, as the steps see it: tool calls and tool results, whatever shape they were written in."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from toolcarry._input.objects import Wire


class ToolCall(NamedTuple):
    """A call: the wire's own object, and what was read of it."""

    wire: Wire
    call_id: str
    """Empty where it has none."""
    name: str
    """Of the tool; may be empty."""
    arguments: object
    """As they stand: an object, a JSON text, or nothing."""


class ToolResult(NamedTuple):
    """A result: the wire's own object, and what was read of it."""

    wire: Wire
    call_id: str
    """Of the call that it answers; empty where it names none."""
    name: str
    """The tool's name, where the result says it; may be empty."""
    content: object
    """What came back, of any kind; ``content.result_text`` makes text of it."""
    is_error: bool


class Said:
    """The calls and the results of one message, each in their order."""

    __slots__ = ("calls", "results")

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []


class Spoken(NamedTuple):
    """Who speaks in a message, by the wire's own word for it, and what is said: a text, or a list of parts."""

    speaker: str
    content: object


class Shape(Protocol):
    """A family of wire shapes: what a reader in ``shapes`` offers."""

    def read(self, message: Wire, role: object, said: Said) -> str:
        """Take in what a message of this shape says; the shape's name, or empty where it is of another."""

    def call(self, wire: Wire) -> ToolCall | None:
        """A call that stands by itself; ``None`` where it is none of this shape."""

    def result(self, wire: Wire) -> ToolResult | None:
        """A result that stands by itself; ``None`` where it is none of this shape."""

    def spoken(self, message: Wire) -> Spoken | None:
        """What is said in a message of this shape beside its calls; ``None`` where it is of another."""
