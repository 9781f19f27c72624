"""A tool by which an agent pages through the history of its own conversation, as ``recount`` tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolcarry._input.objects import Body, Messages
from toolcarry.agent_config import AgentConfig, check_config
from toolcarry.own_tools import Style, define, given_arguments, whole_number
from toolcarry.recount import recount

__all__ = ["conversation_data_tool", "read_conversation_data"]

NAME: Final = "read_conversation_data"
MESSAGES: Final = 20
"""How many messages a page has where the model doesn't say."""
MOST_CHARS: Final = 20_000
"""Of a page; a message that is longer by itself is a page alone, in parts."""

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
            "description": f"How many messages to return; {MESSAGES} by default.",
        },
        "character": {
            "type": "integer",
            "description": "Where to go on in the first message, where its last page broke off.",
        },
    },
}


def conversation_data_tool(style: Style = "openai") -> dict[str, Any]:
    """The definition of ``read_conversation_data`` as a provider takes it.

    >>> conversation_data_tool("anthropic")["name"]
    'read_conversation_data'
    """
    return define(NAME, DESCRIPTION, PARAMETERS, style)


def read_conversation_data(
    messages: Messages | Body,
    arguments: Mapping[str, Any] | str,
    *,
    config: AgentConfig,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    turn_id: str = "turn_id",
) -> str:
    """Answer a call of ``read_conversation_data``: the messages that the model asks for, and where the next ones are.

    ``arguments`` are those of the call, as an object or as JSON. The limit on results is that of ``config``, as in
    ``estimate_context_usage``. Raises ``InputError`` for arguments that are none, ``ConfigError`` for a ``config`` that
    is none, and as ``recount``.

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
    limit = whole_number("limit", given.get("limit"), MESSAGES)
    character = whole_number("character", given.get("character"), 0)
    length = config.tool_result_max_length
    told = recount(messages, tool_calls=tool_calls, turn_id=turn_id, max_result_length=length)
    history = told.messages
    parts: list[str] = []
    room = MOST_CHARS
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
