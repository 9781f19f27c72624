"""Amazon Bedrock's Converse.

Documented at https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html,
``API_runtime_ToolUseBlock.html`` and ``API_runtime_ToolResultBlock.html``; the errors are those of the API
(``ValidationException``).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from . import answers

# Documented as "Length Constraints: Minimum length of 1. Maximum length of 64." (ToolUseBlock, toolUseId) The reference has
# `[a-zA-Z0-9_-]+`; the service's model has since let dots and colons in.
CALL_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


def problems(messages: Sequence[Any]) -> Iterator[str]:
    yield from role_problems(messages)
    yield from content_problems(messages)
    seen: set[str] = set()
    asked: list[str] = []
    for position, message in enumerate(messages):
        place = f"messages.{position}"
        # A call with a type ran on the provider's server, and its result, which has one too, stands in the same message:
        # maximhq/bifrost#3435.
        calls = [block["toolUse"] for block in message["content"] if is_clients(block, "toolUse")]
        answered = [
            str(block["toolResult"].get("toolUseId")) if is_clients(block, "toolResult") else None
            for block in message["content"]
        ]
        # Error "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1"
        # Error "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn."
        # Error "The toolResult blocks at messages.2.content contain duplicate Ids: tooluse_1"
        # Error "messages.54: Did not find 2 `tool_result` block(s) at the beginning of this message. Messages following
        # `tool_use` blocks must begin with a matching number of `tool_result` blocks." (Claude)
        yield from answers.problems(place, asked, answered)
        # Calls are the assistant's and results the user's. (ContentBlock)
        if calls and message["role"] != "assistant":
            yield f"{place}: a call in a message that is not the assistant's"
        if message["role"] != "user" and any(call_id is not None for call_id in answered):
            yield f"{place}: a result in a message that is not the user's"
        asked = [str(call.get("toolUseId") or "") for call in calls]
        for call_id in asked:
            if not CALL_ID.fullmatch(call_id):
                yield f"{place}: toolUseId {call_id!r} has the wrong form"
            # Error "The toolUse blocks at messages.1.content contain duplicate Ids: tooluse_1"; over the whole request it
            # is the model that refuses: "`tool_use` ids must be unique" (Claude)
            if call_id in seen:
                yield f"{place}: toolUseId {call_id!r} is not unique"
            seen.add(call_id)
    yield from answers.problems("the end", asked, [])
    # Error "The model returned the following errors: messages: final assistant content cannot end with trailing whitespace" (Claude)
    ends = [message["content"][-1:] for message in messages[-1:] if message["role"] == "assistant"]
    texts = [block.get("text", "") for blocks in ends for block in blocks]
    if any(text != text.rstrip() for text in texts):
        yield "the end: white space"


def is_clients(block: Any, key: str) -> bool:
    return key in block and "type" not in block[key]


def role_problems(messages: Sequence[Any]) -> Iterator[str]:
    # Error "A conversation must start with a user message. Try again with a conversation that starts with a user message."
    # Error "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between
    # user and assistant roles and try again."
    for position, message in enumerate(messages):
        wanted = "assistant" if position % 2 else "user"
        if message["role"] != wanted:
            yield f"messages.{position}: role {message['role']!r} where {wanted!r} must be"
            return


def content_problems(messages: Sequence[Any]) -> Iterator[str]:
    for position, message in enumerate(messages):
        place = f"messages.{position}"
        # Error "The content field in the Message object at messages.1 is empty. Add a ContentBlock object to the content
        # field and try again."
        if not message["content"]:
            yield f"{place}: empty content"
        for block in message["content"]:
            result = block.get("toolResult", {})
            # Error "The text field in the ContentBlock object at messages.15.content.0 is blank. Add text to the text field,
            # and try again."
            if any(is_blank(part) for part in (block, *result.get("content", ()))):
                yield f"{place}: a blank text"
            # Error "The content field at messages.2.content.0.toolResult cannot be empty when status value is error."
            if result.get("status") == "error" and not result.get("content"):
                yield f"{place}: a failed result without content"


def is_blank(block: Any) -> bool:
    return "text" in block and not block["text"].strip()
