"""What a text history takes of a model's context: of the very strings that ``recount`` gives a host to send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcarry._input.objects import Body, Messages
from toolcarry.agent_config import AgentConfig, check_config
from toolcarry.policy import check_type
from toolcarry.recount import Recounted, recount
from toolcarry.tokens import count_message_tokens, count_tokens
from toolcarry.types import EncodingName

__all__ = ["ContextUsage", "estimate_context_usage"]


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """``tokens`` and ``chars`` of all that is sent; ``system_tokens`` are those of the system prompt, ``message_tokens``
    those of each message of ``recounted``, the history itself.
    """

    tokens: int
    chars: int
    system_tokens: int
    message_tokens: tuple[int, ...]
    recounted: Recounted


def estimate_context_usage(
    messages: Messages | Body,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    *,
    config: AgentConfig,
    system: str = "",
    turn_id: str = "turn_id",
    max_chars: int | None = None,
    max_tokens: int | None = None,
    encoding: EncodingName = "o200k_base",
) -> ContextUsage:
    """What a conversation takes that is sent as ``recount`` tells it, behind a system prompt.

    The limit on results is that of ``config``; the other arguments are as in ``recount``, and so are the errors. A text that was
    counted before is not counted again. Not counted is what a provider puts around texts.

    >>> from toolcarry import AgentConfig
    >>> usage = estimate_context_usage(
    ...     [{"role": "user", "content": "one two three"}], system="four", config=AgentConfig("agent.json"))
    >>> usage.tokens, usage.message_tokens
    (4, (3,))
    """
    check_type("system", system, str)
    check_config(config)
    recounted = recount(
        messages,
        tool_calls=tool_calls,
        turn_id=turn_id,
        max_result_length=config.tool_result_max_length,
        max_chars=max_chars,
        max_tokens=max_tokens,
        encoding=encoding,
    )
    system_tokens = count_tokens(system, encoding=encoding)
    message_tokens = tuple(count_message_tokens(recounted.messages, encoding=encoding))
    return ContextUsage(
        system_tokens + sum(message_tokens),
        len(system) + recounted.report.chars_after,
        system_tokens,
        message_tokens,
        recounted,
    )
