"""Checks that the tests of the wire formats make on a conversation."""

import json
from types import ModuleType
from typing import Any

from support.oracles.markdown import Shown, shown_blocks

from toolcarry import ToolBlock

JsonObject = dict[str, Any]


def blocks(api: ModuleType, messages: Any) -> list[ToolBlock]:
    found: list[ToolBlock] = api.extract_tool_blocks(messages)
    return found


def only_block(api: ModuleType, *messages: Any) -> ToolBlock:
    (block,) = blocks(api, list(messages))
    return block


def check_pairs(api: ModuleType, messages: list[Any], *pairs: tuple[Any, Any]) -> None:
    """Check that the calls and results are these, and that they are the original wire objects."""
    found = blocks(api, messages)
    assert [block.tool_use for block in found] == [call for call, _ in pairs]
    assert [block.tool_result for block in found] == [result for _, result in pairs]
    for block, (call, result) in zip(found, pairs, strict=True):
        assert block.tool_use is call
        assert block.tool_result is result


def check_inputs(api: ModuleType, messages: list[Any], *documents: Any) -> None:
    """The conversation says the same as objects and step by step, as an array and JSONL, and in these documents."""
    context = api.carry(messages).text
    kept = api.deduplicate_tools(blocks(api, messages))
    assert api.format_tool_context(kept) == context
    bodies = [json.dumps(document).encode() for document in (messages, *documents)]
    for body in (*bodies, as_lines(messages)):
        assert api.carry(body).text == context
        assert api.dialogue(body) == api.dialogue(messages)
        if api.backend() == "rust":  # which has it alone
            assert api.inspect(body) == api.inspect(messages)
        assert [told(block) for block in blocks(api, body)] == [
            told(block) for block in blocks(api, messages)
        ]


def told(block: ToolBlock) -> tuple[Any, ...]:
    """Return the fields of a block to compare where the wire's objects are not kept."""
    return block.tool_name, block.call_id, block.dedup_key, block.is_error, block.position


def as_lines(messages: list[Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def shown(api: ModuleType, messages: Any) -> list[Shown]:
    """Return the blocks that a context shows."""
    return shown_blocks(api.carry(messages).text)


def headings(api: ModuleType, messages: Any) -> list[str]:
    return [block.heading for block in shown(api, messages)]


def shown_text(api: ModuleType, messages: Any) -> str:
    """The text of the only result that a context shows, without its final newline."""
    (block,) = shown(api, messages)
    ((_, text),) = block.fences
    return text.removesuffix("\n")


def turns(*said: tuple[str, str]) -> str:
    """A dialogue."""
    return "\n\n".join(f"[{speaker}]\n{text}\n[/{speaker}]" for speaker, text in said)


USER, ASSISTANT = "USER", "ASSISTANT"
