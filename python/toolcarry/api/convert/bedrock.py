"""Write Bedrock Converse: blocks, results first in the user message after their calls; the system prompt is separate.

Bytes are base64, as in the HTTP API: boto3 wants them decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from toolcarry.api.convert.adapt import BEDROCK, arguments_of, split_prompt
from toolcarry.api.convert.anthropic import add
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
from toolcarry.api.convert.native import is_own_call, is_own_result, with_id

Block = dict[str, Any]

REFUSED: Final = re.compile(r"[^A-Za-z0-9()\[\]-]+")
"""The characters that a document's name must not contain. Two consecutive spaces are not allowed either."""


def write(turns: Sequence[PortableTurn], losses: Losses) -> tuple[str, list[Block]]:
    """Return the system prompt and the messages, in which user and assistant alternate."""
    system, turns = split_prompt(turns, losses)
    writer = Writer()
    messages: list[Block] = []
    for turn in turns:
        side = "assistant" if turn.role == "assistant" else "user"
        add(messages, side, [block for part in turn.parts for block in writer.blocks_of(part)])
        results = [block for part in turn.parts for block in writer.result_blocks(part)]
        add(messages, "user", results)
    for message in messages:
        if message["role"] == "user":
            message["content"].sort(key=lambda block: "toolResult" not in block)
        message["content"] += text_with(message["content"])
    return system, messages


def text_with(blocks: list[Block]) -> Iterable[Block]:
    """Return text for documents without any, which Converse would refuse: the names of the documents."""
    names = [block["document"].get("name", "document") for block in blocks if "document" in block]
    if names and not any("text" in block for block in blocks):
        yield {"text": ", ".join(names)}


class Writer:
    """Writes blocks, and keeps the names of documents distinct."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def blocks_of(self, part: Part) -> Iterable[Block]:
        """Return the block of a part, if it has one. Text that is only spaces gets none, since it would be refused."""
        if isinstance(part, Text):
            if part.text.strip():
                yield {"text": part.text}
        elif isinstance(part, Media):
            yield self._media(part)
        elif isinstance(part, Call):
            yield call_block(part)
        elif not isinstance(part, Orphan):
            yield dict(part.wire)

    def result_blocks(self, part: Part) -> Iterable[Block]:
        """Return the blocks of the results, which come after the calls."""
        if isinstance(part, (Call, Orphan)):
            for result in results_of(part):
                yield self._result(part.call_id, result)

    def _result(self, call_id: str, result: Result) -> Block:
        if is_own_result(result.wire, "bedrock"):
            held = with_id(result.wire["toolResult"], "toolUseId", call_id)
            return {**result.wire, "toolResult": held}
        content = result.content
        if not isinstance(content, tuple):
            content = (Text(result.position, str(content), {}),)
        blocks = [block for part in content for block in self.blocks_of(part)]
        held = {"toolUseId": call_id, "content": blocks}
        return {"toolResult": {**held, "status": "error"} if result.is_error else held}

    def _media(self, media: Media) -> Block:
        """Return an image or a document as bytes; a block of Bedrock's is unchanged."""
        if media.family == "bedrock":
            return dict(media.wire)
        held = {"format": BEDROCK.formats[media.media_type], "source": {"bytes": media.data}}
        if media.kind == "document":
            held["name"] = self._name(media.name)
        return {media.kind: held}

    def _name(self, name: str) -> str:
        """Return a name that Converse accepts, and that no other document has."""
        stem = REFUSED.sub(" ", name.rpartition(".")[0] or name).strip()[:100] or "document"
        new, number = stem, 2
        while new in self._names:
            new = f"{stem} {number}"
            number += 1
        self._names.add(new)
        return new


def call_block(call: Call) -> Block:
    if is_own_call(call.wire, "bedrock"):
        return {**call.wire, "toolUse": with_id(call.wire["toolUse"], "toolUseId", call.call_id)}
    used = {"toolUseId": call.call_id, "name": call.name, "input": arguments_of(call)}
    return {"toolUse": used}
