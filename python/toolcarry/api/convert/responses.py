"""Write OpenAI Responses: everything is an item, calls and outputs too; the system prompt is ``instructions``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry.api.convert.losses import Losses
from toolcarry.api.convert.media import data_url, file_name
from toolcarry.api.convert.model import Call, Media, Orphan, Part, PortableTurn, Result, Role, Text
from toolcarry.api.convert.native import is_own_call, is_own_result, own_text
from toolcarry.api.convert.openai import arguments_text, refusal_of

Item = dict[str, Any]


def write(turns: Sequence[PortableTurn], _losses: Losses) -> tuple[str, list[Item]]:
    """Return the instructions (the system text at the beginning) and the items."""
    instructions: list[str] = []
    items: list[Item] = []
    for turn in turns:
        texts = [part.text for part in turn.parts if isinstance(part, Text)]
        if turn.role == "system" and texts and not items:
            instructions += texts
        else:
            items += items_of(turn)
    return "\n\n".join(instructions), items


def items_of(turn: PortableTurn) -> Iterable[Item]:
    """Return the items of a turn in order, then the results."""
    said: list[Item] = []
    for part in turn.parts:
        if isinstance(part, (Text, Media)):
            said.append(part_of(part, turn.role))
            continue
        yield from message_of(turn.role, said)
        said = []
        if isinstance(part, Call):
            yield call_item(part)
        elif not isinstance(part, Orphan):
            yield dict(part.wire)
    yield from message_of(turn.role, said)
    for part in turn.parts:
        yield from output_items(part)


def message_of(role: Role, parts: list[Item]) -> Iterable[Item]:
    """Return a message; a single text needs no part."""
    if parts:
        is_text = len(parts) == 1 and parts[0].keys() == {"type", "text"}
        yield {"role": role, "content": parts[0]["text"] if is_text else parts}


def part_of(part: Text | Media, role: Role) -> Item:
    """Return a text, an image or a document as a part; a Responses part is unchanged."""
    if isinstance(part, Text):
        if role == "assistant" and part.wire.get("type") == "output_text":
            return dict(part.wire)
        refusal = refusal_of(part) if role == "assistant" else None
        if refusal is not None:
            return refusal
        if role == "assistant":
            return {"type": "output_text", "text": part.text}
        return {"type": "input_text", "text": part.text, **own_text(part.wire, "responses")}
    if part.family == "responses":
        return dict(part.wire)
    if part.kind == "image":
        return {"type": "input_image", "image_url": data_url(part)}
    if part.url:
        return {"type": "input_file", "file_url": part.url}
    return {"type": "input_file", "filename": file_name(part), "file_data": data_url(part)}


def call_item(call: Call) -> Item:
    if is_own_call(call.wire, "responses"):
        return {**call.wire, "call_id": call.call_id}
    item = {"type": "function_call", "call_id": call.call_id}
    return {**item, "name": call.name, "arguments": arguments_text(call)}


def output_items(part: Part) -> Iterable[Item]:
    """Return the items of the results, whose type depends on that of their call."""
    if isinstance(part, Orphan):
        yield output_item("function_call", part.call_id, part.result)
    elif isinstance(part, Call):
        is_own = is_own_call(part.wire, "responses")
        kind = str(part.wire["type"]) if is_own else "function_call"
        for result in part.results:
            yield output_item(kind, part.call_id, result)


def output_item(kind: str, call_id: str, result: Result) -> Item:
    if is_own_result(result.wire, "responses"):
        # Of a local shell's output the ``id`` is that of its call (``LocalShellCallOutput`` of the SDK openai).
        is_by_id = result.wire["type"] == "local_shell_call_output" and "call_id" not in result.wire
        return {**result.wire, "id" if is_by_id else "call_id": call_id}
    output = result.content
    if isinstance(output, tuple):
        output = [part_of(part, "user") for part in output]
    return {"type": f"{kind}_output", "call_id": call_id, "output": output}
