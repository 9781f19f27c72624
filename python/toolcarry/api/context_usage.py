"""Context usage: how much of a model's window a request takes, as numbers and as a sentence, before it is sent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from toolcarry import _backend
from toolcarry._input.document import holds_conversations, messages_of
from toolcarry._input.json import compact_json, loads
from toolcarry._input.objects import as_object
from toolcarry.api.conversation import Conversation, Given
from toolcarry.api.projection import report_on
from toolcarry.api.tokens import count_texts, count_tokens
from toolcarry.errors import ConfigError, InputError
from toolcarry.types.models import scale_of, window_of
from toolcarry.types.policy import NO_LIMIT, ProjectPolicy, check_type
from toolcarry.types.results import CONTEXT_LEVELS, ContextUsage
from toolcarry.types.values import EncodingName, check_limit

__all__ = [
    "CONTEXT_LEVELS",
    "context_usage",
    "usage_of",
    "window_of",
]


def context_usage(
    messages: Given,
    *,
    limit: int | None = None,
    model: str | None = None,
    levels: Mapping[str, float] = CONTEXT_LEVELS,
    is_shortened: bool = True,
) -> ContextUsage:
    """Return how full a model's context window is with a conversation.

    ``messages`` are the messages of a request, or its whole body as bytes; in a body, the system prompt and tools count
    too. The window is ``limit`` tokens, by default that of ``model``, which also determines how tokens are counted. The
    count includes texts, names, arguments, results and thinking, 1,600 tokens for each image or file, and four tokens
    for each message, as for ``ProjectPolicy(max_request_tokens=)``. It is exact for OpenAI's models, and estimated with
    ``FACTORS`` for others. ``levels`` sets other shares for the names in ``CONTEXT_LEVELS``. The label says that older
    tool results are shortened from ``nearly_full`` on; set ``is_shortened`` to false if the host does not shorten them.

    Raises ``ConfigError`` if there is no limit and the model's window is not known, and ``InputError`` if the input is
    not a conversation.

    >>> context_usage([{"role": "user", "content": "word " * 750}], limit=1_000).label
    '75 % of the context window is used. Older tool results are shortened from 90 %.'
    >>> context_usage([], model="claude-sonnet-4-5").limit
    200000
    """
    check_limit("limit", limit, optional=True)
    if model is not None:
        check_type("model", model, str)
    window = window_of(model or "") if limit is None else limit
    if window is None:
        why = (
            "without a model"
            if model is None
            else f"for the model {model!r:.80}, whose window is not known"
        )
        raise ConfigError(f"limit: is required {why}; allowed: an integer >= 0")
    scale = scale_of(model or "gpt-4o")
    counted = request_tokens(Conversation.of(messages), scale.encoding)
    exact = model is None or scale.is_known
    used = math.ceil(counted * scale.factor)
    check_levels(levels)
    shortens_at = levels["nearly_full"] if is_shortened else None
    return usage_of(used, window, exact=exact, levels=levels, shortens_at=shortens_at)


def request_tokens(given: Conversation, encoding: EncodingName) -> int:
    """Count all tokens of a request; for a session file, the tokens of its messages."""
    if _backend.backend() == "python":
        return count_request(given, encoding)
    policy = ProjectPolicy(
        max_request_tokens=NO_LIMIT, max_result_tokens=NO_LIMIT, encoding=encoding
    )
    counted = report_on(given, policy).tokens_before
    return count_tokens(given, encoding=encoding) if counted is None else counted


def count_request(conversation: Conversation, encoding: EncodingName) -> int:
    """Count the tokens of a request on the fallback, as the projection does in Rust."""
    # These are not loaded with the extension.
    from toolcarry.importers.messages import Import  # noqa: PLC0415 - see above
    from toolcarry.model.message_pieces import pieces_of  # noqa: PLC0415 - see above

    given = conversation.given
    items: Sequence[Any] | None = None
    frame: list[Any] = []
    try:
        document = loads(given) if isinstance(given, bytes) else given
    except InputError:
        return count_tokens(conversation, encoding=encoding)  # a session file
    if isinstance(document, dict):
        items = messages_of(document)
        frame = [value for value in document.values() if value is not items]
    elif not holds_conversations(document):
        items = document
    if items is None or not all(isinstance(as_object(item), Mapping) for item in items):
        return count_tokens(conversation, encoding=encoding)
    pieces = [piece for item in Import().each(items) for piece in pieces_of(as_object(item) or {})]
    texts = [piece.text for piece in pieces]
    texts += [value if isinstance(value, str) else compact_json(value) for value in frame]
    counted = sum(count_texts(texts, encoding=encoding)) + sum([piece.tokens for piece in pieces])
    return counted + MESSAGE_TOKENS * len(items)


MESSAGE_TOKENS: Final = 4
"""The estimated tokens of the protocol around each message."""


def usage_of(
    used: int,
    limit: int,
    *,
    exact: bool = True,
    levels: Mapping[str, float] = CONTEXT_LEVELS,
    shortens_at: float | None = None,
) -> ContextUsage:
    """Return how much of a window some tokens use.

    ``shortens_at`` is the share of the window from which the host shortens older tool results, if it does so.

    >>> usage_of(1_100, 1_000, exact=False).label
    'About 110 % of the context window is used. The request does not fit.'
    """
    check_levels(levels)
    share = used / limit if limit else math.inf if used else 1.0
    level = [name for name in CONTEXT_LEVELS if share >= levels[name]][-1]
    if used > limit:
        then = " The request does not fit."
    elif shortens_at is None or level == "ample":
        then = ""
    elif share >= shortens_at:
        then = " Older tool results are shortened."
    else:
        then = f" Older tool results are shortened from {percent(shortens_at)}."
    amount = percent(share) if exact else f"About {percent(share)}"
    label = f"{amount} of the context window is used.{then}"
    return ContextUsage(used, limit, limit - used, level, label, exact)


def percent(share: float) -> str:
    """Return a share as a percentage, rounded down, so that 100 % means full.

    >>> percent(0.999)
    '99 %'
    """
    return "More than 1,000 %" if share > 10 else f"{math.floor(share * 100 + 1e-9)} %"


def check_levels(levels: Mapping[str, float]) -> None:
    """Raise a ``ConfigError`` unless every level has a share, and the shares rise from 0."""
    shares = [levels.get(name) for name in CONTEXT_LEVELS]
    is_rising = all(
        isinstance(low, (int, float)) and isinstance(high, (int, float)) and low <= high
        for low, high in pairwise(shares)
    )
    if len(levels) != len(CONTEXT_LEVELS) or not is_rising or shares[0] != 0:
        raise ConfigError(
            f"levels: {dict(levels)!r:.80} is not allowed; "
            f"allowed: rising shares, from 0, for {', '.join(CONTEXT_LEVELS)}"
        )
