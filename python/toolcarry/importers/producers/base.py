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
    """The producer's format, for reports; empty where the message fits any format."""
    speaker: str = ""
    """Who speaks, in the producer's word; empty where nobody does."""
    content: object = None
    """The content besides the calls: a text, or a list of parts."""
    calls: Sequence[ToolCall] = ()
    results: Sequence[ToolResult] = ()
    rewritten: JsonObject | None = None
    """The message in a format that both backends read, if a member or two make the difference. It says all that
    the fields above would, so that these are empty."""


class Importer(Protocol):
    """A module of this folder. Each function returns ``None`` for objects of other producers."""

    NAME: str

    def read(self, message: JsonObject) -> Imported | None:
        """Read a message."""

    def call(self, wire: JsonObject) -> ToolCall | None:
        """Read a call by itself, as in a ``ToolBlock``."""

    def result(self, wire: JsonObject) -> ToolResult | None:
        """Read a result by itself, as in a ``ToolBlock``."""
