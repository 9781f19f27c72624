"""The contents of commits: their encoding, and the texts and results that are read from them.

The metadata of a commit describes its content. With ``record``, the content is a message or a line of a file,
unchanged, and the number is the index of the part that the commit represents: one for the text and calls of a message,
one for each tool result. Without ``record``, the content is the text itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from toolcarry._input.document import loads_line
from toolcarry._input.json import loads
from toolcarry._input.objects import as_list, as_object
from toolcarry.errors import InputError
from toolcarry.importers.parts import read_parts
from toolcarry.importers.read import read_message
from toolcarry.model.content import THINKING_PARTS
from toolcarry.model.formats.message import MessageParts, ToolResult
from toolcarry.model.session_lines import Part
from toolcarry.tract.store.types import CommitInfo, Kind

__all__ = [
    "UNREADABLE",
    "StoredParts",
    "arguments_json",
    "decode_text",
    "dump_message",
    "encode_text",
    "has_thought",
    "part_text",
    "results_of",
    "stored_parts",
]

encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_text(text: str) -> bytes:
    """Encode a string for the history: as UTF-8, with lone surrogates kept."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def part_text(commit: CommitInfo, content: bytes) -> str:
    """Return the text of a commit with this content. A line that is not a message is returned unchanged."""
    return StoredParts().text(commit, content)


UNREADABLE: Final = (InputError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors of reading a message that has values of other types than any format, or is nested too deep."""


def stored_parts(content: bytes) -> list[Part] | None:
    """Return the parts of a stored message; ``None`` if it can't be read. Today's version would have refused it."""
    try:
        return read_parts(loads(content))
    except UNREADABLE:
        return None


class StoredParts:
    """Reads the parts that commits represent. Commits of one message follow each other, and it is read once for all."""

    def __init__(self) -> None:
        self._hash = ""
        self._parts: list[Part] | None = None

    def text(self, commit: CommitInfo, content: bytes) -> str:
        """Return the text of a commit with this content."""
        if "record" not in commit.metadata:
            return decode_text(content)
        part = None if commit.kind is Kind.RECORD else self._part(commit, content)
        return content.decode("utf-8", "replace") if part is None else part.text

    def result(self, commit: CommitInfo, content: bytes) -> Mapping[str, Any] | None:
        """Return the object of a result in its message; ``None`` if the result is a string."""
        part = self._part(commit, content) if "record" in commit.metadata else None
        return None if part is None else part.wires[0]

    def _part(self, commit: CommitInfo, content: bytes) -> Part | None:
        if commit.content_hash != self._hash:
            self._hash, self._parts = commit.content_hash, stored_parts(content)
        index = int(commit.metadata["record"])
        parts = self._parts
        return parts[index] if parts is not None and index < len(parts) else None


THOUGHT: Final = re.compile(rb'"(?:thinking|redacted_thinking|reasoning\w*|thought\w*)"')
THOUGHT_TYPES: Final = frozenset((*THINKING_PARTS, "reasoning"))
THOUGHT_KEYS: Final = (
    *("thinking", "thought", "thoughtSignature", "thought_signature"),
    *("reasoning", "reasoning_content", "reasoning_details", "reasoningContent"),
)


def has_thought(content: bytes) -> bool:
    """Return true if the message in a line or a record contains thinking, in any provider's format.

    >>> has_thought(b'{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"x"}]}')
    True
    >>> has_thought(b'{"role":"assistant","content":"What is thinking?"}')
    False
    """
    record = loads_line(content) if THOUGHT.search(content) else None
    if record is None:
        return False
    message = as_object(record.get("message")) or as_object(record.get("payload")) or record
    parts = as_list(message.get("content")) or as_list(message.get("parts")) or ()
    return any(
        part.get("type") in THOUGHT_TYPES or any(part.get(key) for key in THOUGHT_KEYS)
        for part in (message, *parts)
        if isinstance(part, dict)
    )


def results_of(record: Mapping[str, Any]) -> list[ToolResult]:
    """Return the results in a message."""
    message_parts = MessageParts()
    read_message(record, record.get("role"), message_parts)
    return message_parts.results


def arguments_json(call: Mapping[str, Any]) -> str:
    """Return the arguments of a call as JSON text, as in OpenAI's requests; text that is not an object, as it was given."""
    given = call.get("arguments_text")
    return given if isinstance(given, str) else encode(call["arguments"])


def dump_message(message: Mapping[str, Any]) -> bytes:
    """Return a message as JSON on one line, in UTF-8, or in ASCII if it contains a lone surrogate."""
    try:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"a message is not JSON: {error}", None) from None
