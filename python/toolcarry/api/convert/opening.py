"""Open a conversation: its messages as plain copies, and the system prompt that stands apart from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from toolcarry._input.document import LISTS, is_message, messages_of, open_body
from toolcarry._input.json import loads
from toolcarry._input.objects import MAX_DEPTH, JsonObject, as_list, as_object, plain
from toolcarry.api.convert.losses import Losses, listed
from toolcarry.api.convert.model import PortableTurn, Text
from toolcarry.errors import InputError
from toolcarry.importers.messages import Import, folding_of, recognise
from toolcarry.model.content import spoken_text
from toolcarry.model.pairing import object_at

SYSTEM_KEYS: Final = (
    "system",
    "instructions",
    "systemInstruction",
    "system_instruction",
    "gen_ai.system_instructions",
)
"""The members in which a request keeps its system prompt, if not among its messages."""


class OpenedRequest(NamedTuple):
    """The messages as plain copies, the separate system prompt, and the import that made the messages, if one did."""

    messages: list[dict[str, Any]]
    system: list[PortableTurn]
    importing: Import | None = None


def open_request(given: Sequence[Any] | bytes, losses: Losses) -> OpenedRequest:
    """Read a conversation from bytes or objects. Raises ``InputError`` for anything else."""
    if not isinstance(given, bytes):
        items, importing = imported(given)
        return OpenedRequest(plain_messages(items), [], importing)
    opened = open_body(given)
    items, importing = imported(opened.messages)
    messages = plain_messages(items)
    if opened.lines is not None:
        if opened.skipped_lines:
            losses.add(None, "skipped_lines", listed(opened.skipped_lines))
        return OpenedRequest(messages, [], importing)
    document = loads(given)
    if not isinstance(document, dict) or is_single(document):
        return OpenedRequest(messages, [], importing)
    known = {"messages", *LISTS, *SYSTEM_KEYS}
    settings = sorted(str(key) for key in document if key not in known)
    if settings:
        losses.add(None, "settings", listed(settings))
    return OpenedRequest(messages, system_turns(document, losses), importing)


def imported(items: Sequence[Any]) -> tuple[Sequence[Any], Import | None]:
    """Return the messages of a conversation that is another producer's as a whole, in the format of Anthropic."""
    records = list(items)
    if recognise(records) is None and not any(map(folding_of, records)):
        return records, None
    importing = Import(result_type="tool_result")
    return importing.messages(records), importing


def system_prompt(document: bytes) -> str:
    """Return the system prompt of a request; empty if there is none.

    >>> system_prompt(b'{"system": "Be brief.", "messages": []}')
    'Be brief.'
    """
    found = loads(document)
    turns = (
        system_turns(found, Losses()) if isinstance(found, dict) and not is_single(found) else []
    )
    return "\n\n".join(part.text for turn in turns for part in turn.parts if isinstance(part, Text))


def is_single(document: dict[str, Any]) -> bool:
    """True if a document is a single message."""
    return messages_of(document) is None and (
        is_message(document) or not isinstance(document.get("input"), str)
    )


def plain_messages(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Return messages as new dicts and lists, so that each object can be recognised by its identity."""
    found: list[dict[str, Any]] = []
    for position, message in enumerate(messages):
        try:
            found.append(plain(object_at(position, message), 1))
        except RecursionError:
            raise InputError(
                f"message {position} is nested deeper than {MAX_DEPTH}", position
            ) from None
    return found


def system_turns(document: dict[str, Any], losses: Losses) -> list[PortableTurn]:
    """Return the system prompt of a request: a string, parts, or an object that holds parts."""
    system = next((document[key] for key in SYSTEM_KEYS if document.get(key)), None)
    holder = as_object(system)
    parts = as_list(holder.get("parts") if holder is not None else system)
    blocks: list[JsonObject] = [part for part in map(as_object, parts or ()) if part is not None]
    texts = [Text(None, spoken_text([block]), block) for block in blocks]
    if isinstance(system, str):
        texts = [Text(None, system, {})]
    elif len(texts) < len(parts or ()) or any(not text.text for text in texts):
        losses.add(None, "unknown", "parts of the system prompt that are not text")
    texts = [text for text in texts if text.text]
    return [PortableTurn("system", tuple(texts))] if texts else []
