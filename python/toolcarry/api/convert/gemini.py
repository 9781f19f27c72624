"""Write Gemini contents: the responses are in one content after their calls; the system prompt is separate.

An id stays if there was one; without ids, pairs are recognised by order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry._util.plural import counted
from toolcarry.api.convert.adapt import UNSIGNED, arguments_of, signature_of, split_prompt
from toolcarry.api.convert.losses import Losses
from toolcarry.api.convert.model import (
    Call,
    Media,
    Orphan,
    Part,
    PortableTurn,
    Result,
    Text,
    results_of,
)
from toolcarry.api.convert.native import is_own_call, is_own_result, own_text, with_id

Content = dict[str, Any]


def write(turns: Sequence[PortableTurn], losses: Losses) -> tuple[str, list[Content]]:
    """Return the system prompt and the contents."""
    system, turns = split_prompt(turns, losses)
    contents: list[Content] = []
    unsigned = 0
    for turn in turns:
        said = [found for part in turn.parts for found in parts_of(part)]
        if sign_first(turn, said):
            unsigned += 1
        role = "model" if turn.role == "assistant" else "user"
        responses = [found for part in turn.parts for found in response_parts(part)]
        contents += [
            {"role": side, "parts": parts}
            for side, parts in ((role, said), ("user", responses))
            if parts
        ]
    if unsigned:
        losses.add(None, "unsigned", counted(unsigned, "turn"))
    return system, contents


def sign_first(turn: PortableTurn, said: list[Content]) -> bool:
    """Mark the first call of a turn as unsigned if another model made it, and return true if so."""
    call = next((part for part in turn.parts if isinstance(part, Call)), None)
    if call is None or is_own_call(call.wire, "gemini") or signature_of(call.wire):
        return False
    first = next(part for part in said if "functionCall" in part)
    first["thoughtSignature"] = UNSIGNED
    return True


def parts_of(part: Part) -> Iterable[Content]:
    """Return the parts of a turn, without results."""
    if isinstance(part, Text):
        yield {"text": part.text, **own_text(part.wire, "gemini"), **signed(part.wire)}
    elif isinstance(part, Media):
        yield media_part(part)
    elif isinstance(part, Call):
        yield call_part(part)
    elif not isinstance(part, Orphan):
        yield dict(part.wire)


def call_part(call: Call) -> Content:
    if is_own_call(call.wire, "gemini"):
        function = with_id(call.wire["functionCall"], "id", call.call_id)
        return {**call.wire, "functionCall": function}
    function = {**identified(call), "name": call.name, "args": arguments_of(call)}
    return {"functionCall": function, **signed(call.wire)}


def identified(part: Call | Orphan) -> Content:
    return {"id": part.call_id} if part.call_id else {}


def signed(wire: Any) -> Content:
    """Return a part with the signature of the thought that led to it, in Google's format."""
    signature = signature_of(wire)
    return {"thoughtSignature": signature} if signature else {}


def media_part(media: Media) -> Content:
    """Return media as bytes or by URL; a part of Gemini's is unchanged."""
    if media.family == "gemini":
        return dict(media.wire)
    held = {"mimeType": media.media_type}
    if media.url:
        return {"fileData": {**held, "fileUri": media.url}}
    return {"inlineData": {**held, "data": media.data}}


def response_parts(part: Part) -> Iterable[Content]:
    """Return the parts of the results, under the names of their calls."""
    if isinstance(part, (Call, Orphan)):
        for result in results_of(part):
            yield response_part(part, result)


def response_part(part: Call | Orphan, result: Result) -> Content:
    if is_own_result(result.wire, "gemini"):
        given = {**result.wire["functionResponse"], "name": part.name}
        return {**result.wire, "functionResponse": with_id(given, "id", part.call_id)}
    response = {"error" if result.is_error else "output": result.content}
    return {"functionResponse": {**identified(part), "name": part.name, "response": response}}
