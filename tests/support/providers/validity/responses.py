"""OpenAI Responses.

Documented at https://platform.openai.com/docs/guides/function-calling?api-mode=responses and
https://platform.openai.com/docs/api-reference/responses/create; the errors are those of the API. The input is taken
for a whole one: with ``previous_response_id`` the calls may be on the server.
"""

from collections.abc import Iterator, Sequence
from typing import Any

MOST_OF_ID = 64

OUTPUTS: dict[str, tuple[str, ...]] = {
    "function_call": ("function_call_output",),
    "custom_tool_call": ("custom_tool_call_output",),
    # Codex answers its own shell with a function's output.
    "local_shell_call": ("local_shell_call_output", "function_call_output"),
    "shell_call": ("shell_call_output",),
    "apply_patch_call": ("apply_patch_call_output",),
    "computer_call": ("computer_call_output",),
}
"""The calls that the client answers, with the types of their answers."""


def problems(items: Sequence[Any]) -> Iterator[str]:
    kinds: dict[str, str] = {}
    answered: set[str] = set()
    for position, item in enumerate(items):
        place = f"input.{position}"
        kind = str(item.get("type", "message"))
        if kind in OUTPUTS:
            yield from id_problems(place, item.get("call_id"))
            call_id = str(item.get("call_id"))
            # Error "Duplicate 'call_id': call_1"
            if call_id in kinds:
                yield f"{place}: call id {call_id!r} is not unique"
            kinds.setdefault(call_id, kind)
        elif kind.endswith("_call_output"):
            call_id = str(item.get("call_id"))
            # Error "No tool call found for function call output with call_id call_1."
            if kind not in OUTPUTS.get(kinds.get(call_id, ""), ()):
                yield f"{place}: {kind} {call_id!r} has no call before it"
            # Error "Duplicate function_call_output for call_id 'call_1'. Each function_call must have exactly one matching
            # function_call_output"
            elif call_id in answered:
                yield f"{place}: call {call_id!r} has a second output"
            answered.add(call_id)
        elif kind == "reasoning":
            yield from reasoning_problems(place, items[position + 1 : position + 2])
    # Error "No tool output found for function call call_1."
    for call_id, kind in kinds.items():
        if call_id not in answered:
            yield f"the end: {kind} {call_id!r} has no output"


def id_problems(place: str, call_id: Any) -> Iterator[str]:
    # Error "Missing required parameter: 'input[1].call_id'."
    # Error "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty string"
    if not isinstance(call_id, str) or not call_id:
        yield f"{place}: a call without id"
    # Error "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64, but got a string with
    # length 116 instead."
    elif len(call_id) > MOST_OF_ID:
        yield f"{place}: call id {call_id!r} is longer than {MOST_OF_ID}"


def reasoning_problems(place: str, following: Sequence[Any]) -> Iterator[str]:
    # Error "Item 'rs_1' of type 'reasoning' was provided without its required following item."
    if not any(is_of_model(item) for item in following):
        yield f"{place}: reasoning without the item that it led to"


def is_of_model(item: Any) -> bool:
    """True if the model wrote an item, which is any item but an output or a message of another role."""
    kind = str(item.get("type", "message"))
    if kind == "message":
        return bool(item.get("role") == "assistant")
    return not kind.endswith("_output")
