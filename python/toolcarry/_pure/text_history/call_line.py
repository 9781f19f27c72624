"""The line of a tool call: ``[Tool: ReadFile(path="test.cs")] → its result``."""

from __future__ import annotations

from typing import Final, Literal

from toolcarry._data import read_table
from toolcarry._pure.content import result_text
from toolcarry._pure.context.block import call_title
from toolcarry._pure.context.summary import TRUNCATED
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.text.sanitize import has_controls, without_controls
from toolcarry._pure.text.truncate import cut

_TEXTS = read_table("texts")
TOOL_LINE: Final[str] = _TEXTS["tool_line"]
NO_OUTPUT: Final[str] = _TEXTS["no_output"]
ARROW: Final = " \u2192 "
SEPARATOR: Final = "\n\n"
"""The text between the lines."""
ResultOutcome = Literal["whole", "cut", "cut_further", "shortened"]
"""The outcome of a result: it is whole, was cut to its own limit, was cut for the total, or was left out."""
SLACK: Final = 64
"""The characters beyond the limit that are read: if all are controls and line feeds, nothing is cut."""
LONGEST_CALL: Final = 2_000
"""The maximum number of characters of a call with its arguments."""


class ToolLine:
    """A line that is being built: its call, and the shown part of a result of ``chars_before`` characters."""

    __slots__ = ("call", "chars_before", "fate", "result", "status")

    def __init__(self, entry: Entry, limit: int) -> None:
        self.call = f"{TOOL_LINE}{call_title(entry, LONGEST_CALL)}]"
        self.status = "(failed)" if entry.is_error else ""
        self.result = ""
        self.chars_before = 0
        self.fate: ResultOutcome = "whole"
        if entry.result is None:
            self.status = "(no result)"
            return
        text = result_text(entry.content)
        self.chars_before = len(text)
        self.result, is_cut = cut_result(text, limit)
        if is_cut:
            self.fate = "cut"
        elif not self.result and not self.status:
            self.status = NO_OUTPUT

    def text(self) -> str:
        """Return the line."""
        if self.fate == "shortened":
            return self.call
        return self.with_result(self.result, is_cut=self.fate != "whole")

    def with_result(self, result: str, *, is_cut: bool) -> str:
        """Return the line with another result."""
        space = " " if self.status and (result or is_cut) else ""
        return f"{self.call}{ARROW}{self.status}{space}{result}{TRUNCATED if is_cut else ''}"


def cut_result(text: str, limit: int) -> tuple[str, bool]:
    """Return the first ``limit`` characters of a result, and true if that is not all. Controls are removed, and a line
    that looks like a call's is escaped.
    """
    text = text.strip("\n")
    if len(text) <= limit + SLACK or has_controls(text[: limit + 1]):
        text = without_controls(text).strip("\n")
    head, tail = cut(text, limit, "head")
    is_cut = head < tail
    shown = text[:head].replace(f"\n{TOOL_LINE}", f"\n[\\{TOOL_LINE[1:]}")
    if len(shown) > limit:
        head, _ = cut(shown, limit, "head")
        return shown[:head], True
    return shown, is_cut
