"""Jobs on imported messages: run a kernel, find the format of a conversation, prepare a block for ``explain``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from toolcarry._input.document import open_body
from toolcarry._input.objects import JsonObject, as_object
from toolcarry.importers.bodies import import_body
from toolcarry.importers.messages import Import
from toolcarry.importers.read import read_message
from toolcarry.model.formats.message import MessageParts
from toolcarry.model.pairing.block import Entry
from toolcarry.model.pairing.given_blocks import to_entries
from toolcarry.types.outcomes import CarryOutcome
from toolcarry.types.results import Inspection, Recounted
from toolcarry.types.unread import Unread
from toolcarry.types.values import RecountReport, Report, ToolBlock

__all__ = ["entry_of", "format_of", "run_imported"]


def run_imported(job: str, kernel: Callable[..., Any], given: Any, settings: Sequence[Any]) -> Any:
    """Run a kernel on the imported form of a conversation, or of blocks, and return what it found.

    What it found has the producer's own objects and names.
    """
    if job in ("deduplicate_tools", "format_tool_context"):
        importing = Import()
        found = kernel(importing.blocks(given), *settings)
        return importing.restored(found) if job == "deduplicate_tools" else found
    if job == "extract_tool_blocks":
        importing = Import()
        messages = list(open_body(given).messages) if isinstance(given, bytes) else given
        return importing.restored(kernel(importing.messages(messages), *settings))
    turn_id = settings[1] if job == "recount" else ""
    importing = Import(turn_id, is_restored=False)
    if not isinstance(given, bytes):
        found = kernel(importing.messages(given), *settings)
        return own(found, importing, given, ())
    imported = import_body(given, importing)
    found = kernel(imported.body, *settings)
    return own(found, importing, imported.messages, imported.skipped_lines)


def own(
    found: Any, importing: Import, messages: Sequence[Any], skipped_lines: tuple[int, ...]
) -> Any:
    """Return what a kernel found, with the producer's own names in its reports."""
    if isinstance(found, (CarryOutcome, Recounted)):
        return replace(found, report=own(found.report, importing, messages, skipped_lines))
    if isinstance(found, Unread):
        return importing.own(found)
    if not isinstance(found, (Inspection, RecountReport, Report)):
        return found
    found = replace(found, unread=importing.own(found.unread), skipped_lines=skipped_lines)
    if isinstance(found, Inspection):
        asides = Counter(found.asides) + importing.balance.asides
        return replace(found, shape=importing.shape(messages, format_of), asides=dict(asides))
    return found


def entry_of(block: ToolBlock, age: int) -> Entry:
    """Return a block as an entry, the form in which the steps use it."""
    entries = to_entries([block], [age]) or to_entries(Import().blocks([block]), [age]) or []
    return entries[0]


def format_of(messages: Iterable[Any]) -> str:
    """Return the format of messages, as ``inspect`` reports it: ``mixed`` if there are several, ``unknown`` without any."""
    names = {name_of(as_object(message) or {}) for message in messages} - {""}
    return names.pop() if len(names) == 1 else "mixed" if names else "unknown"


def name_of(message: JsonObject) -> str:
    """Return the format of a message, or of a session record; empty if it fits any."""
    if message.get("uuid") is not None and (
        message.get("message") is not None or "parentUuid" in message
    ):
        return "claude-code"
    return read_message(message, message.get("role"), MessageParts())
