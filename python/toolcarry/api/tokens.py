"""Tokens: exact counts, offline; estimates for models without a public vocabulary; and truncation."""

from __future__ import annotations

import math
from typing import Literal

from toolcarry import _backend
from toolcarry.api.conversation import Conversation, Given
from toolcarry.errors import ConfigError
from toolcarry.types.models import scale_of
from toolcarry.types.policy import NO_LIMIT, check_type
from toolcarry.types.values import (
    ENCODINGS,
    CutSide,
    EncodingName,
    TokenEstimate,
    check_choice,
    check_limit,
)

__all__ = [
    "count_message_tokens",
    "count_texts",
    "count_tokens",
    "estimate_tokens",
    "resize_token_memo",
    "truncate",
]


def count_tokens(text: str | Given, *, encoding: EncodingName = "o200k_base") -> int:
    """Count the tokens of a string, or of a conversation's messages, in an OpenAI encoding.

    The count of a string equals tiktoken's; special tokens are treated as plain text, and a surrogate counts as U+FFFD.
    For messages, or bytes (a request body, a JSON array, or JSONL), the count is the sum of ``count_message_tokens``.
    The vocabularies are part of the package: nothing is ever downloaded. Raises ``ConfigError`` for an unknown
    encoding, and ``InputError`` if the input is not a conversation.

    >>> count_tokens("one two three"), count_tokens([{"role": "user", "content": "one two three"}])
    (3, 3)
    """
    if not isinstance(text, str):
        return sum(count_message_tokens(text, encoding=encoding))
    check_choice("encoding", encoding, ENCODINGS)
    return _backend.kernels.count_tokens(text, encoding)


def count_texts(texts: list[str], *, encoding: EncodingName = "o200k_base") -> list[int]:
    """Count the tokens of each string as ``count_tokens`` does, while other threads run.

    >>> count_texts(["one two three", ""])
    [3, 0]
    """
    check_choice("encoding", encoding, ENCODINGS)
    return _backend.kernels.count_texts(texts, encoding)


def count_message_tokens(messages: Given, *, encoding: EncodingName = "o200k_base") -> list[int]:
    """Count the tokens of each message; for JSONL, of each line.

    The count includes texts, thinking, names and arguments of calls, and results as ``carry`` shows them, but not the
    protocol around them. An image, document, audio clip or video counts as 1,600 tokens, which is what providers charge
    for a large image; its base64 is not counted. Messages outside the active branch (side chains, other branches) count
    0, except for results of parallel calls that are records on other branches. The extension remembers the counts of
    longer texts: see ``resize_token_memo``.

    >>> count_message_tokens([{"role": "user", "content": "one two three"}, {"role": "assistant", "content": "Yes"}])
    [3, 1]
    """
    check_choice("encoding", encoding, ENCODINGS)
    return Conversation.of(messages).run(_backend.kernels.message_tokens, encoding)


def estimate_tokens(text: str | Given, *, model: str, factor: float | None = None) -> TokenEstimate:
    """Estimate the tokens of a string, or of a conversation, for a model.

    The value is exact for OpenAI's models, whose vocabularies are public. For others it is the count in ``o200k_base``
    times ``factor``, by default the factor of the model's family in ``FACTORS``, or 1 for an unknown family. A provider
    before the name (``openai/gpt-4o``) is ignored.

    >>> estimate_tokens("one two three", model="gpt-4o")
    TokenEstimate(value=3, exact=True, encoding='o200k_base', factor=1.0)
    >>> estimate_tokens("one two three", model="anthropic/claude-sonnet-4-5")
    TokenEstimate(value=4, exact=False, encoding='o200k_base', factor=1.25)
    """
    check_type("model", model, str)
    is_number = isinstance(factor, (int, float)) and not isinstance(factor, bool)
    if factor is not None and not (is_number and 0 < factor < 1_000):
        raise ConfigError(
            f"factor: {factor!r} is not allowed; allowed: a number > 0 and < 1000, None"
        )
    encoding, own_factor, is_known = scale_of(model)
    if factor is None:
        factor = own_factor
    count = count_tokens(text, encoding=encoding)
    exact = is_known and factor == 1
    return TokenEstimate(math.ceil(count * factor), exact, encoding, float(factor))


def resize_token_memo(size: int) -> None:
    """Limit the memory for remembered token counts to ``size`` bytes: by default 16 MiB, about 130,000 texts; 0 turns
    it off.

    A string is identified by a keyed hash of 128 bits, and the least recently used count is evicted first.
    Without the extension no counts are kept.

    >>> resize_token_memo(0)  # off
    >>> resize_token_memo(16 << 20)
    """
    check_limit("size", size)
    _backend.kernels.resize_token_memo(min(size, NO_LIMIT))


def truncate(
    text: str,
    limit: int,
    *,
    unit: Literal["chars", "tokens"] = "chars",
    keep: CutSide = "head",
    marker: str = "... [truncated]",
    encoding: EncodingName = "o200k_base",
) -> str:
    """Return at most ``limit`` units of ``text``, followed by ``marker`` if text was cut.

    A unit is a character (a Unicode code point), or a token of ``encoding``. The returned text has at most ``limit``
    tokens plus those of the marker.

    ``keep`` is the part to keep: the head, the tail, or both ends with the marker between them. Grapheme clusters are
    never split. Raises ``ConfigError`` for an invalid limit or option.

    >>> truncate("one two three", 7)
    'one two... [truncated]'
    >>> truncate("one two three", 8, keep="ends", marker=" ... ")
    'one  ... hree'
    >>> truncate("one two three", 2, unit="tokens", marker=" ...")
    'one two ...'
    """
    check_type("text", text, str)
    check_type("marker", marker, str)
    check_limit("limit", limit)
    check_choice("unit", unit, ("chars", "tokens"))
    check_choice("keep", keep, ("head", "tail", "ends"))
    check_choice("encoding", encoding, ENCODINGS)
    limit = min(limit, NO_LIMIT)
    if unit == "tokens":
        return _backend.kernels.truncate_tokens(
            text, limit, keep=keep, marker=marker, encoding=encoding
        )
    return _backend.kernels.truncate(text, limit, keep=keep, marker=marker)
