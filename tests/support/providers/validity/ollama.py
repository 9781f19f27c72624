"""Ollama's own chat.

Documented at https://docs.ollama.com/capabilities/tool-calling: each call is answered by a message of role ``tool``
with the tool's name, after the message that called and before anything else. The server itself refuses only what it
cannot decode; what else is judged here is what models' templates are written for: they render results where they
stand, and have no ids to find their calls by.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any


def problems(messages: Sequence[Any]) -> Iterator[str]:
    calls: list[Any] = []
    results: list[Any] = []
    place = "messages.0"
    for position, message in enumerate(messages):
        if message["role"] == "tool":
            results.append(message)
            continue
        yield from result_problems(place, calls, results)
        place = f"messages.{position}"
        calls, results = list(message.get("tool_calls") or ()), []
        if calls and message["role"] != "assistant":
            yield f"{place}: calls in a message that is not the assistant's"
        # Error "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type
        # api.ToolCallFunctionArguments"
        if not all(isinstance(call["function"].get("arguments"), dict) for call in calls):
            yield f"{place}: arguments that are no object"
    yield from result_problems(place, calls, results)


def result_problems(place: str, calls: list[Any], results: list[Any]) -> Iterator[str]:
    if len(calls) != len(results):
        yield f"{place}: {len(calls)} calls with {len(results)} results directly behind them"
    called = Counter(call["function"].get("name") for call in calls)
    answered = Counter(result["tool_name"] for result in results if result.get("tool_name"))
    for name in answered - called:
        yield f"{place}: results of {name!r} that were not asked for"
