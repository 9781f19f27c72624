"""Text history: a conversation as plain turns with a line for each tool call, and its size in a model's context.

It is for hosts that send plain turns and would otherwise lose the results of their tools. A tool lets an agent page
through the history of its own conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolcarry import _backend
from toolcarry._input.objects import JsonObject, as_object, is_too_deep
from toolcarry.api.agent_config import AgentConfig, check_config
from toolcarry.api.conversation import Conversation, Given
from toolcarry.api.projection import Style, define, given_arguments, whole_number
from toolcarry.errors import ConfigError, InputError
from toolcarry.types.policy import NO_LIMIT, check_type
from toolcarry.types.results import Recounted
from toolcarry.types.values import (
    ENCODINGS,
    EncodingName,
    RecountReport,
    check_choice,
    check_limit,
)

__all__ = [
    "MAX_RESULT_LENGTH",
    "RecountReport",
    "conversation_data_tool",
    "read_conversation_data",
    "recount",
]

MAX_RESULT_LENGTH: Final = 500
"""The default limit on the characters of a result."""


def recount(
    messages: Given,
    *,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    turn_id: str = "turn_id",
    max_result_length: int | None = None,
    max_chars: int | None = None,
    max_tokens: int | None = None,
    encoding: EncodingName = "o200k_base",
    config: AgentConfig | None = None,
) -> Recounted:
    """Return a conversation as plain turns, with one line per tool call under each assistant message.

    ``messages`` are in any known format, or bytes: a request body, a JSON array or JSONL. A host that keeps its calls
    in a separate list passes them as ``tool_calls``, in order: each is an object with a ``name`` (or ``tool_name``),
    ``arguments`` (or ``input``, ``args``), and a ``result`` (or ``output``, ``content``) or an ``error``; a call with
    neither was interrupted. ``turn_id`` names the member that holds the turn of a message or a call. A call without
    this member may have a ``position``, the index of its message.

    Each result is cut to its first ``max_result_length`` characters; by default to the limit in ``config``, or without
    one to 500. Thinking is dropped. ``max_chars`` or ``max_tokens`` limits all contents together: if needed, the
    results of the oldest turns are first cut further, then their lines are reduced to the calls, and then the oldest
    exchanges are dropped. Raises ``InputError`` as ``carry`` does.

    >>> recounted = recount([
    ...     {"role": "user", "content": "Is it empty?", "turn_id": 1},
    ...     {"role": "assistant", "content": "<think>Let me see.</think>It is not.", "turn_id": 1},
    ... ], tool_calls=[{"turn_id": 1, "name": "ReadFile", "arguments": {"path": "test.cs"}, "result": "class Test {}"}])
    >>> print(recounted.messages[1]["content"])
    It is not.
    <BLANKLINE>
    [Tool: ReadFile(path="test.cs")] → class Test {}
    """
    if config is not None:
        check_config(config)
    if max_result_length is None:
        max_result_length = MAX_RESULT_LENGTH if config is None else config.tool_result_max_length
    check_limit("max_result_length", max_result_length)
    check_limit("max_chars", max_chars, optional=True)
    check_limit("max_tokens", max_tokens, optional=True)
    if max_chars is not None and max_tokens is not None:
        raise ConfigError(
            "max_tokens: is not allowed together with max_chars; allowed: one of the two"
        )
    check_choice("encoding", encoding, ENCODINGS)
    check_type("turn_id", turn_id, str)
    records = as_records(tool_calls)
    total, unit = (max_chars, None) if max_tokens is None else (max_tokens, encoding)
    total = None if total is None else min(total, NO_LIMIT)
    limits = (min(max_result_length, NO_LIMIT), total, unit)
    given = Conversation.of(messages)
    try:
        return given.run(_backend.kernels.recount, records, turn_id, *limits)
    except InputError as error:
        raise located_in_calls(error, records) from None


def located_in_calls(error: InputError, records: Sequence[JsonObject]) -> InputError:
    """If one of the host's own calls is nested too deep, add its position to ``error``."""
    if error.position is not None:
        return error
    for number, record in enumerate(records):
        if is_too_deep(record):
            return InputError(f"tool call {number} is {error}", number)
    return error


def as_records(tool_calls: object) -> list[JsonObject]:
    """Return the host's own calls as objects."""
    if isinstance(tool_calls, (str, bytes)) or not isinstance(tool_calls, Sequence):
        kind = type(tool_calls).__name__
        raise InputError(f"tool_calls must be a list of objects, not {kind}")
    records: list[JsonObject] = []
    for number, call in enumerate(tool_calls):
        record = as_object(call)
        if record is None:
            kind = type(call).__name__
            raise InputError(f"tool call {number} is not an object, but {kind}", number)
        records.append(record)
    return records


TOOL_NAME: Final = "read_conversation_data"
PAGE_MESSAGES: Final = 20
"""The number of messages on a page, unless the model asks for another number."""
PAGE_CHARS: Final = 20_000
"""The largest size of a page. A longer message is split into several pages."""

DESCRIPTION: Final = (
    "Returns earlier messages of this conversation, oldest first, with a line for each tool that was called then and the "
    "beginning of its result. Use it to look up what was said or done before."
)
PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "offset": {"type": "integer", "description": "The first message to return, from 0."},
        "limit": {
            "type": "integer",
            "description": f"How many messages to return; {PAGE_MESSAGES} by default.",
        },
        "character": {
            "type": "integer",
            "description": "Where to go on in the first message, where its last page broke off.",
        },
    },
}


def conversation_data_tool(style: Style = "openai") -> dict[str, Any]:
    """Return the definition of ``read_conversation_data`` in a provider's format.

    >>> conversation_data_tool("anthropic")["name"]
    'read_conversation_data'
    """
    return define(TOOL_NAME, DESCRIPTION, PARAMETERS, style)


def read_conversation_data(
    messages: Given,
    arguments: Mapping[str, Any] | str,
    *,
    config: AgentConfig,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    turn_id: str = "turn_id",
) -> str:
    """Answer a call of ``read_conversation_data`` with the messages that it asks for, and the position of the next one.

    ``arguments`` are the arguments of the call, as an object or as JSON. The limit on results comes from ``config``, as
    in ``recount``. Raises ``InputError`` for invalid arguments, ``ConfigError`` for an invalid ``config``, and the
    errors of ``recount``.

    >>> from toolcarry import AgentConfig
    >>> talk = [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}]
    >>> print(read_conversation_data(talk, {"limit": 1}, config=AgentConfig("agent.json")))
    [message 0, user]
    Fix it.
    [toolcarry: messages 0 to 1 of 2; next offset: 1]
    """
    check_config(config)
    given = given_arguments(arguments)
    offset = whole_number("offset", given.get("offset"), 0)
    limit = whole_number("limit", given.get("limit"), PAGE_MESSAGES)
    character = whole_number("character", given.get("character"), 0)
    length = config.tool_result_max_length
    told = recount(messages, tool_calls=tool_calls, turn_id=turn_id, max_result_length=length)
    history = told.messages
    parts: list[str] = []
    room = PAGE_CHARS
    number = min(offset, len(history))
    for message in history[offset : offset + limit]:
        content = message["content"][character:]
        if len(content) > room and parts:
            break
        parts.append(f"[message {number}, {message['role']}]\n{content[:room]}")
        if len(content) > room:
            character += room
            parts.append(
                f"[toolcarry: message {number} goes on; next offset: {number}, character: {character}]"
            )
            return "\n".join(parts)
        room -= len(content)
        character = 0
        number += 1
    more = f"; next offset: {number}" if number < len(history) else ""
    start = min(offset, len(history))
    parts.append(f"[toolcarry: messages {start} to {number} of {len(history)}{more}]")
    return "\n".join(parts)
