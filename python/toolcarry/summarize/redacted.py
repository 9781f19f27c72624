"""What a summarizer may see where there is a ``redact``: texts and blocks of which every string went through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from toolcarry._input.objects import Wire, as_list, as_object
from toolcarry.errors import ToolcarryError
from toolcarry.types import ToolBlock

__all__ = ["RedactionFailedError", "redact_blocks", "redact_text"]

Redact = Callable[[str], str]


class RedactionFailedError(ToolcarryError):
    """``redact`` raised, or returned no text; so nothing may leave. It says which error that was, not what it said."""


def redact_text(text: str, redact: Redact) -> str:
    """What ``redact`` makes of a text. Raises ``RedactionFailedError``.

    >>> redact_text("the key is sk-1", lambda text: text.replace("sk-1", "[secret]"))
    'the key is [secret]'
    """
    try:
        redacted = redact(text)
    except Exception as error:  # noqa: BLE001 - raised again, without what it says
        raise RedactionFailedError(f"redaction failed: {type(error).__name__}") from None
    if not isinstance(redacted, str):
        raise RedactionFailedError(f"redaction failed: returned {type(redacted).__name__}")
    return redacted


def redact_blocks(blocks: Sequence[ToolBlock], redact: Redact) -> list[ToolBlock]:
    """Copies of the blocks with every string in their calls and results redacted, but for the names of members."""
    return [
        replace(
            block,
            tool_use=redact_wire(block.tool_use, redact),
            tool_result=redact_wire(block.tool_result, redact),
            dedup_key=block.dedup_key and redact_text(block.dedup_key, redact),
            notes=replace(
                block.notes,
                second_results=tuple(
                    redact_value(each, redact) for each in block.notes.second_results
                ),
            ),
        )
        for block in blocks
    ]


def redact_wire(value: object, redact: Redact) -> Wire | None:
    wire = as_object(value)
    return None if wire is None else {key: redact_value(item, redact) for key, item in wire.items()}


def redact_value(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact_text(value, redact) if value else value
    items = as_list(value)
    if items is not None:
        return [redact_value(item, redact) for item in items]
    wire = redact_wire(value, redact)
    return value if wire is None else wire
