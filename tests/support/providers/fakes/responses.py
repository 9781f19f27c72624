"""OpenAI Responses, as ``OpenAIFake`` answers it.

https://platform.openai.com/docs/api-reference/responses/create and ``.../responses-streaming``; error messages are
quoted from the API. Nothing is stored: reasoning comes back encrypted, or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from support.providers import validity

from .fake import Refused, Reply, refuse_unknown, refuse_unless
from .script import Asked, Exchange, ScriptedTurn, joined, pieces, strings

if TYPE_CHECKING:
    from .openai import OpenAIFake

CREATED = 1_767_225_600

ITEM_KEYS = {
    "message": ("type", "role", "content", "id", "status", "phase"),
    "function_call": ("type", "call_id", "name", "arguments", "id", "status", "namespace"),
    "function_call_output": ("type", "call_id", "output", "id", "status"),
    "custom_tool_call": ("type", "call_id", "name", "input", "id", "namespace"),
    "custom_tool_call_output": ("type", "call_id", "output", "id"),
    "reasoning": ("type", "id", "summary", "content", "encrypted_content", "status"),
}

PART_TYPES = ("input_text", "input_image", "input_file", "output_text", "refusal")

ID_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs"}


def reply(fake: OpenAIFake, request: dict[str, Any]) -> Reply:
    """The answer to a request that is valid."""
    items = request.get("input", [])
    refuse_unless(isinstance(items, str | list), "Missing required parameter: 'input'.")
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    for position, item in enumerate(items):
        check_item(fake, f"input[{position}]", item)
    found = validity.problems("responses", items)
    refuse_unless(not found, "; ".join(found))
    turn = fake.answer(asked(request, items))
    response = {
        "id": fake.number("resp_"),
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "model": request["model"],
        "output": list(output(fake, turn)),
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools", []),
        "usage": {
            "input_tokens": len(json.dumps(request)) // 4,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 8,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 8,
        },
    }
    if not request.get("stream"):
        return Reply(200, [json.dumps(response).encode()])
    chunks = [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events(response))
    ]
    return Reply(200, chunks, "text/event-stream; charset=utf-8")


def check_item(fake: OpenAIFake, place: str, item: Any) -> None:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    refuse_unless(kind in ITEM_KEYS, f"Invalid value: {kind!r}. ({place}.type)")
    refuse_unknown(place, item, ITEM_KEYS[kind])
    prefix = ID_PREFIXES.get(kind)
    number = item.get("id")
    if prefix and number is not None:
        is_right = str(number).startswith(prefix)
        told = f"Invalid '{place}.id': {number!r}. Expected an ID that begins with '{prefix}'."
        refuse_unless(is_right, told)
    if kind == "message":
        known = ("user", "assistant", "system", "developer")
        refuse_unless(item.get("role") in known, f"Invalid value: {item.get('role')!r}. ({place})")
        content = item.get("content")
        for part in content if isinstance(content, list) else ():
            refuse_unless(part.get("type") in PART_TYPES, f"Invalid value: {part!r:.80}. ({place})")
    if kind == "reasoning":
        sealed = item.get("encrypted_content")
        if not sealed:
            raise Refused(
                f"Item with id '{number}' not found. Items are not persisted when `store` is set to false.",
                404,
            )
        if not fake.is_sealed(number, sealed):
            raise Refused(
                "The encrypted content could not be verified.", code="invalid_encrypted_content"
            )


def output(fake: OpenAIFake, turn: ScriptedTurn) -> Iterator[dict[str, Any]]:
    """The items of an answer."""
    if turn.thinking:
        number = fake.number("rs_")
        yield {
            "id": number,
            "type": "reasoning",
            "summary": [],
            "encrypted_content": fake.seal(number),
        }
    if turn.text:
        part = {"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []}
        item = {"id": fake.number("msg_"), "type": "message", "role": "assistant"}
        yield {**item, "status": "completed", "content": [part]}
    for call in turn.calls:
        item = {"id": fake.number("fc_"), "type": "function_call", "call_id": fake.number("call_")}
        given = json.dumps(dict(call.input))
        yield {**item, "name": call.name, "arguments": given, "status": "completed"}


def events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The response as it streams."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(response["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            part = item["content"][0]
            empty = {**part, "text": ""}
            yield added(index, {**item, "status": "in_progress", "content": []})
            inner = {**place, "content_index": 0}
            yield {"type": "response.content_part.added", **inner, "part": empty}
            for piece in pieces(part["text"]):
                delta = {"delta": piece, "logprobs": []}
                yield {"type": "response.output_text.delta", **inner, **delta}
            whole = {"text": part["text"], "logprobs": []}
            yield {"type": "response.output_text.done", **inner, **whole}
            yield {"type": "response.content_part.done", **inner, "part": part}
        elif item["type"] == "function_call":
            yield added(index, {**item, "status": "in_progress", "arguments": ""})
            for piece in pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            done = {"name": item["name"], "arguments": item["arguments"]}
            yield {"type": "response.function_call_arguments.done", **place, **done}
        else:
            yield added(index, item)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}


def added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def asked(request: dict[str, Any], items: list[Any]) -> Asked:
    calls: dict[str, dict[str, Any]] = {}
    exchanges = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            calls[item["call_id"]] = item
        elif kind == "function_call_output":
            call = calls[item["call_id"]]
            given = json.loads(call["arguments"])
            exchanges.append(Exchange(call["name"], given, joined(item["output"])))
    return Asked(request, exchanges, list(strings(items)))
