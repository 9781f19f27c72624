"""Tool calls, tool results and spoken text in a common form, whatever format they were written in."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from toolcarry._input.objects import JsonObject


class ToolCall(NamedTuple):
    """A call: the object of the input, and the fields that were read of it."""

    wire: JsonObject
    call_id: str
    """The call's id; empty if it has none."""
    name: str
    """The tool's name; may be empty."""
    arguments: object
    """The arguments, unchanged: an object, a JSON text, or nothing."""
    server: str = ""
    """The MCP server or the namespace of the tool, if it is not part of the name; may be empty."""


class ToolResult(NamedTuple):
    """A result: the object of the input, and the fields that were read of it."""

    wire: JsonObject
    call_id: str
    """The id of the call that it answers; empty if it names none."""
    name: str
    """The tool's name, if the result contains it; may be empty."""
    content: object
    """The content, of any kind; ``content.result_text`` makes text of it."""
    is_error: bool


class MessageParts:
    """The calls and the results of one message, each in their order.

    ``unread`` is what no format knows: the first such part or call, or the message itself; ``None`` if all is known.
    ``is_foreign`` is true if a call shows that an importer must read the conversation.
    """

    __slots__ = ("calls", "is_foreign", "results", "unread")

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []
        self.unread: JsonObject | None = None
        self.is_foreign = False

    def note(self, unread: JsonObject) -> None:
        """Keep what no format knows, unless something before it is kept."""
        if self.unread is None:
            self.unread = unread


class Spoken(NamedTuple):
    """The speaker of a message, as the input names it, and the content: a string, or a list of parts."""

    speaker: str
    content: object


class Format(Protocol):
    """A family of formats: the interface of a reader in ``FORMATS``."""

    def read(self, message: JsonObject, role: object, message_parts: MessageParts) -> str:
        """Add the calls and results of a message to ``message_parts``, and return the shape's name; empty if it is another."""

    def call(self, wire: JsonObject) -> ToolCall | None:
        """Read a call without its message; ``None`` if it is not of this shape."""

    def result(self, wire: JsonObject) -> ToolResult | None:
        """Read a result without its message; ``None`` if it is not of this shape."""

    def spoken(self, message: JsonObject) -> Spoken | None:
        """Return the speaker and the content of a message of this shape; ``None`` if it is of another."""
