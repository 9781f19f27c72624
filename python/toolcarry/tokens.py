"""Tokens: exact counts, offline, estimates for models whose vocabulary nobody has; and text within a limit."""

from __future__ import annotations

import math
from typing import Final, Literal

from toolcarry import _backend
from toolcarry._input.objects import Body, Messages, located, take
from toolcarry.errors import ConfigError, InputError
from toolcarry.policy import NO_LIMIT, check_type
from toolcarry.types import (
    ENCODINGS,
    CutSide,
    EncodingName,
    TokenEstimate,
    check_choice,
    check_limit,
)

__all__ = [
    "FACTORS",
    "count_message_tokens",
    "count_texts",
    "count_tokens",
    "estimate_tokens",
    "resize_token_memo",
    "truncate",
]

ENCODING_BY_MODEL: Final[dict[str, EncodingName]] = {
    "gpt-4o": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-oss": "o200k_base",
    "chatgpt-4o": "o200k_base",
    "codex-mini": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4-mini": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-35": "cl100k_base",
    "text-embedding": "cl100k_base",
}
"""The models whose vocabulary is known, by how their names begin; the first that fits."""

FACTORS: Final[dict[str, float]] = {
    "claude": 1.25,
    "gemini": 1.1,
    "gemma": 1.1,
    "mistral": 1.2,
    "codestral": 1.2,
    "devstral": 1.2,
    "llama": 1.1,
    "qwen": 1.1,
    "deepseek": 1.1,
    "glm": 1.1,
    "kimi": 1.1,
    "grok": 1.1,
}
"""How many tokens the models of a family have for one of ``o200k_base``, on text and code: rather too many than too few."""


def count_tokens(text: str | Messages | Body, *, encoding: EncodingName = "o200k_base") -> int:
    """How many tokens a text, or what the messages of a conversation say, has in an encoding of OpenAI's.

    Of a text it is what tiktoken counts: special tokens are plain text, and a surrogate counts as U+FFFD. Of messages,
    or bytes (a request body, a JSON array, or JSONL), it is the sum of ``count_message_tokens``. The vocabularies are
    part of the package: nothing is fetched at any time. Raises ``ConfigError`` for an encoding that is none, and
    ``InputError`` where the input is no conversation.

    >>> count_tokens("one two three"), count_tokens([{"role": "user", "content": "one two three"}])
    (3, 3)
    """
    if not isinstance(text, str):
        return sum(count_message_tokens(text, encoding=encoding))
    check_choice("encoding", encoding, ENCODINGS)
    return _backend.kernels.count_tokens(text, encoding)


def count_texts(texts: list[str], *, encoding: EncodingName = "o200k_base") -> list[int]:
    """How many tokens each of some texts has, as ``count_tokens`` counts them; other threads run meanwhile.

    >>> count_texts(["one two three", ""])
    [3, 0]
    """
    check_choice("encoding", encoding, ENCODINGS)
    return _backend.kernels.count_texts(texts, encoding)


def count_message_tokens(
    messages: Messages | Body, *, encoding: EncodingName = "o200k_base"
) -> list[int]:
    """How many tokens each message has; of JSONL, each line.

    Counted are the texts, the names and arguments of calls, and the results, as ``carry`` shows them; not the protocol
    around them, nor thinking. An image, a document, a sound or a film counts 1,600, which is what providers take for a
    large image, and its base64 nothing. What a session left behind (side chains, other branches) counts 0.
    The extension does not count longer texts again that it counted before: see ``resize_token_memo``.

    >>> count_message_tokens([{"role": "user", "content": "one two three"}, {"role": "assistant", "content": "Yes"}])
    [3, 1]
    """
    check_choice("encoding", encoding, ENCODINGS)
    given = take(messages)
    try:
        if isinstance(given, bytes):
            return _backend.kernels.message_tokens_body(given, encoding)
        return _backend.kernels.message_tokens(given, encoding)
    except InputError as error:
        raise located(error, given) from None


def estimate_tokens(
    text: str | Messages | Body, *, model: str, factor: float | None = None
) -> TokenEstimate:
    """How many tokens a text, or a conversation, has for a model.

    The value is exact for OpenAI's models, whose vocabularies are known. For others it is the count in ``o200k_base``
    times a factor: that of ``FACTORS`` for the model's family, 1 for a family that is not known, or the one given.
    A provider before the name (``openai/gpt-4o``) is no matter.

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
    name = model.lower().removeprefix("ft:").rpartition("/")[2]
    known = next(
        (ENCODING_BY_MODEL[start] for start in ENCODING_BY_MODEL if name.startswith(start)), None
    )
    encoding: EncodingName = known or "o200k_base"
    if factor is None:
        families = (FACTORS[family] for family in FACTORS if family in name)
        factor = 1.0 if known else next(families, 1.0)
    count = count_tokens(text, encoding=encoding)
    exact = known is not None and factor == 1
    return TokenEstimate(math.ceil(count * factor), exact, encoding, float(factor))


def resize_token_memo(size: int) -> None:
    """Keep the counts of texts in no more than so many bytes: 16 MiB by default, some 130,000 texts; 0 keeps none.

    A text is known by a keyed hash of 128 bits, and the count that was not asked for the longest is forgotten first.
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
    """At most ``limit`` units of ``text``, then ``marker`` where text was cut.

    A unit is a character (a Unicode code point), or a token of ``encoding``: cut by tokens, the whole counts at
    most ``limit`` tokens more than the marker does when it is counted again.

    ``keep`` is the side that stays: the head, the tail, or both ends with the marker between them.
    A grapheme cluster is never split. Raises ``ConfigError`` for a limit or an option that is none.

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
