"""Write Bedrock Converse: blocks, results first in the user message after their calls; the system prompt is separate.

Bytes are base64, as in the HTTP API: boto3 wants them decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from toolcarry._pure.projection.repair.turns import FAILED
from toolcarry.api.convert.adapt import BEDROCK, arguments_of, split_prompt
from toolcarry.api.convert.anthropic import add
from toolcarry.api.convert.losses import Losses
from toolcarry.api.convert.model import Call, Media, Orphan, Part, Result, Text, Turn, results_of
from toolcarry.api.convert.native import is_own_call, is_own_result, with_id

Block = dict[str, Any]

REFUSED: Final = re.compile(r"[^A-Za-z0-9()\[\]-]+")
"""The characters that the name of a document may not have; nor may it have two spaces in a row."""


def write(turns: Sequence[Turn], losses: Losses) -> tuple[str, list[Block]]:
    """The system prompt and the messages, whose sides take turns."""
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
    """Return a text for documents without one, which Converse refuses: their names."""
    names = [block["document"].get("name", "document") for block in blocks if "document" in block]
    if names and not any("text" in block for block in blocks):
        yield {"text": ", ".join(names)}


class Writer:
    """The blocks, and the names of the documents among them, which must differ."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def blocks_of(self, part: Part) -> Iterable[Block]:
        """The block of a part, where it has one of its own. Text of nothing but spaces is refused."""
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
        """The results, after the calls."""
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
        if result.is_error:
            held = {**held, "content": blocks or [{"text": FAILED}], "status": "error"}
        return {"toolResult": held}

    def _media(self, media: Media) -> Block:
        """An image or a document by its bytes; one of Bedrock's own as it is."""
        if media.family == "bedrock":
            return dict(media.wire)
        held = {"format": BEDROCK.formats[media.media_type], "source": {"bytes": media.data}}
        if media.kind == "document":
            held["name"] = self._name(media.name)
        return {media.kind: held}

    def _name(self, name: str) -> str:
        """A name that Converse takes, and that no other document has."""
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
