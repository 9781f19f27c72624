"""The interface of an importer, and the value that it reads from one message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from toolcarry._input.objects import JsonObject
from toolcarry._pure.formats.message import ToolCall, ToolResult

__all__ = ["Imported", "Importer", "ToolCall", "ToolResult"]


class Imported(NamedTuple):
    """The content of one message.

    Calls and results keep the producer's own objects (``wire``), which users get back in their blocks.
    """

    name: str
    """The producer's format, for reports; empty if the message fits any format."""
    speaker: str = ""
    """The speaker, in the producer's word; empty if there is none."""
    content: object = None
    """The content except the calls: a text, or a list of parts."""
    calls: Sequence[ToolCall] = ()
    results: Sequence[ToolResult] = ()
    rewritten: JsonObject | None = None
    """The message in a format that both backends read, if it needs only one or two other members. It replaces
    the fields above, which are then empty."""


class Importer(Protocol):
    """A module of this folder. Each function returns ``None`` for objects of other producers."""

    NAME: str

    def read(self, message: JsonObject) -> Imported | None:
        """Read a message."""

    def call(self, wire: JsonObject) -> ToolCall | None:
        """Read a call by itself, as in a ``ToolBlock``."""

    def result(self, wire: JsonObject) -> ToolResult | None:
        """Read a result by itself, as in a ``ToolBlock``."""
