"""Gemini, on either of its APIs.

Documented at https://ai.google.dev/gemini-api/docs/function-calling (parallel function calling) and
https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling; the errors are those of the
APIs.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any


def problems(contents: Sequence[Any]) -> Iterator[str]:
    asked: list[Any] = []
    for position, content in enumerate(contents):
        place = f"contents.{position}"
        parts = content.get("parts") or []
        # Error "GenerateContentRequest.contents[1].parts: contents.parts must not be empty."
        if not parts:
            yield f"{place}: no parts"
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if content.get("role") == "model":
            # Model contents that follow each other are one turn of calls.
            asked += calls
            # Error "Content with role 'model' can't contain 'functionResponse' part" (google/generative-ai)
            if responses:
                yield f"{place}: a response in the model's turn"
            continue
        # Error "Content with role 'user' can't contain 'functionCall' part" (google/generative-ai)
        if calls:
            yield f"{place}: a call that is not the model's"
        # A response for each call, in one content: one content a response is refused, too (with the same error).
        yield from response_problems(place, asked, responses)
        # A content that holds responses is the response turn; its other parts come after the responses.
        if any("functionResponse" not in part for part in parts[: len(responses)]):
            yield f"{place}: a response behind something else"
        asked = []
    yield from response_problems("the end", asked, [])


def response_problems(place: str, asked: list[Any], responses: list[Any]) -> Iterator[str]:
    # Error "Please ensure that function response turn comes immediately after a function call turn."
    # Error "Please ensure that the number of function response parts is equal to the number of function call parts of the
    # function call turn."
    if len(asked) != len(responses):
        yield f"{place}: {len(asked)} calls with {len(responses)} responses"
        return
    # Vertex AI answers a bare INVALID_ARGUMENT where the name of a response is not that of its call.
    if Counter(call.get("name") for call in asked) != Counter(
        response.get("name") for response in responses
    ):
        yield f"{place}: responses with other names than the calls"
    # Error "functionResponse.id "call_2" does not match functionCall.id "call_1"": an id is optional, and where both sides
    # have them, each names its call.
    call_ids = [call.get("id") for call in asked]
    response_ids = [response.get("id") for response in responses]
    if all(call_ids) and all(response_ids):
        names = {call["id"]: call.get("name") for call in asked}
        if Counter(call_ids) != Counter(response_ids):
            yield f"{place}: responses with other ids than the calls"
        elif any(names[response["id"]] != response.get("name") for response in responses):
            yield f"{place}: a response with the id of a call of another name"
