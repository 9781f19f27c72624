"""Count the tokens of the messages of a conversation. The protocol around their texts is not counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.message_pieces import pieces_in_context
from toolcarry.model.pairing import Walk
from toolcarry.types.values import EncodingName


def message_tokens(messages: Sequence[Any], encoding: EncodingName) -> list[int] | None:
    """Return the tokens of every message; of those off the active branch only results that answer its calls.

    ``None`` if only an importer can read one of the messages.
    """
    walk = Walk(messages)
    entries = list(walk.entries())
    if walk.needs_import:
        return None
    counts = [0] * len(messages)
    for position, piece in pieces_in_context(messages, entries):
        counts[position] += count_tokens(piece.text, encoding) + piece.tokens
    return counts
