"""Write Anthropic Messages: results come first in the user message after their calls; the system prompt is separate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry.api.convert.adapt import arguments_of, split_prompt
from toolcarry.api.convert.losses import Losses
from toolcarry.api.convert.media import data_url
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
from toolcarry.api.convert.native import is_own_call, is_own_result

Block = dict[str, Any]


def write(turns: Sequence[PortableTurn], losses: Losses) -> tuple[str, list[dict[str, Any]]]:
    """Return the system prompt and the messages. Consecutive turns of one side are one message."""
    system, turns = split_prompt(turns, losses)
    messages: list[dict[str, Any]] = []
    for turn in turns:
        results = [block for part in turn.parts for block in result_blocks(part)]
        side = "assistant" if turn.role == "assistant" else "user"
        add(messages, side, [block for part in turn.parts for block in blocks_of(part)])
        add(messages, "user", results)
    for message in messages:
        if message["role"] == "user":
            message["content"].sort(key=lambda block: block["type"] != "tool_result")
    for message in messages:
        message["content"] = simple(message["content"])
    return system, messages


def add(messages: list[dict[str, Any]], role: str, blocks: list[Block]) -> None:
    """Add blocks to the last message if it is from the same side, else begin a message."""
    if blocks and messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    elif blocks:
        messages.append({"role": role, "content": blocks})


def simple(blocks: list[Block]) -> str | list[Block]:
    """Return a single text as a string, which needs no block."""
    is_text = len(blocks) == 1 and blocks[0].keys() == {"type", "text"}
    return blocks[0]["text"] if is_text else blocks


def blocks_of(part: Part) -> Iterable[Block]:
    """Return the block of a part, if it has one. Text that is only spaces gets none, since it would be refused."""
    if isinstance(part, Text):
        if part.text.strip():
            yield text_block(part)
    elif isinstance(part, Media):
        yield media_block(part)
    elif isinstance(part, Call):
        call = {"type": "tool_use", "id": part.call_id, "name": part.name}
        if is_own_call(part.wire, "anthropic"):
            yield {**part.wire, **call}
        else:
            yield {**call, "input": arguments_of(part), **marks(part.wire)}
    elif not isinstance(part, Orphan):
        yield dict(part.wire)


def result_blocks(part: Part) -> Iterable[Block]:
    """Return the blocks of the results, which come after the calls."""
    if isinstance(part, (Call, Orphan)):
        for result in results_of(part):
            yield result_block(part.call_id, result)


def result_block(call_id: str, result: Result) -> Block:
    content = result.content
    if isinstance(content, tuple):
        content = [block for part in content for block in blocks_of(part)]
    if is_own_result(result.wire, "anthropic"):
        # An importer adds the name, which Anthropic refuses.
        own = {key: value for key, value in result.wire.items() if key != "name"}
        shown = {"content": content} if "content" in own else {}
        return {**own, "tool_use_id": call_id, **shown}
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {**block, **({"is_error": True} if result.is_error else {}), **marks(result.wire)}


def text_block(text: Text) -> Block:
    cited = {"citations": text.wire["citations"]} if text.wire.get("citations") else {}
    return {"type": "text", "text": text.text, **cited, **marks(text.wire)}


def media_block(media: Media) -> Block:
    """Return an image or a document, given as bytes or a URL, as a block; an Anthropic block is returned unchanged."""
    if media.family == "anthropic":
        return dict(media.wire)
    if media.url:
        source = {"type": "url", "url": data_url(media)}
    else:
        source = {"type": "base64", "media_type": media.media_type, "data": media.data}
    title = {"title": media.name} if media.name and media.kind == "document" else {}
    return {"type": media.kind, "source": source, **title, **marks(media.wire)}


def marks(wire: Any) -> Block:
    """Return the cache mark of a part, in Anthropic's format or another one that passes it on."""
    mark = wire.get("cache_control")
    return {"cache_control": mark} if mark is not None else {}
