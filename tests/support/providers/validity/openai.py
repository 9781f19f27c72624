"""OpenAI Chat Completions.

Documented at https://platform.openai.com/docs/guides/function-calling and
https://platform.openai.com/docs/api-reference/chat/create; the errors are those of the API.
"""

from collections.abc import Iterator, Sequence
from typing import Any

MOST_OF_ID = 40


def problems(messages: Sequence[Any]) -> Iterator[str]:
    waiting: list[str] = []
    for position, message in enumerate(messages):
        place = f"messages.{position}"
        if message["role"] == "tool":
            # Error "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'": a second
            # answer to a call does not answer another open call.
            answered = message.get("tool_call_id")
            if answered in waiting:
                waiting.remove(answered)
            else:
                yield f"{place}: result {answered!r} has no call that waits for it"
            continue
        yield from unanswered(place, waiting)
        waiting = []
        calls = message.get("tool_calls")
        yield from call_problems(place, message, calls)
        if calls:
            waiting = [str(call.get("id")) for call in calls]
    yield from unanswered("the end", waiting)


def unanswered(place: str, waiting: list[str]) -> Iterator[str]:
    # Error "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The
    # following tool_call_ids did not have response messages: call_1"
    for call_id in waiting:
        yield f"{place}: call {call_id!r} has no result directly behind it"


def call_problems(place: str, message: Any, calls: Any) -> Iterator[str]:
    if calls is None:
        # Error "Invalid value for 'content': expected a string, got null.": the content is "required unless tool_calls or
        # function_call is specified" (API reference, assistant message).
        if (
            message["role"] == "assistant"
            and message.get("content") is None
            and not any(message.get(key) for key in ("function_call", "refusal", "audio"))
        ):
            yield f"{place}: neither content nor calls"
        return
    # Error "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array
    # instead."
    if not calls:
        yield f"{place}: an empty list of calls"
    # The API's schema has `tool_calls` in assistant messages alone.
    if message["role"] != "assistant":
        yield f"{place}: calls in a message that is not the assistant's"
    seen: set[str] = set()
    for call in calls:
        call_id = call.get("id")
        # Error "Missing required parameter: 'messages[1].tool_calls[0].id'.", and the same for an empty one
        if not isinstance(call_id, str) or not call_id:
            yield f"{place}: a call without id"
            continue
        # Error "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a
        # string with length 43 instead."
        if len(call_id) > MOST_OF_ID:
            yield f"{place}: id {call_id!r} is longer than {MOST_OF_ID}"
        # Error "Duplicate value for 'tool_call_id' of 'call_1' in message[2]"; in a later message an id may come again
        if call_id in seen:
            yield f"{place}: id {call_id!r} stands twice in one message"
        seen.add(call_id)
