"""The full survey of a conversation: what is in it, what it weighs, and what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from toolcarry._backend import kernels
from toolcarry.decode import SKIPPED
from toolcarry.errors import InputError
from toolcarry.read import Body, Messages, located, take
from toolcarry.rules import DEFAULT_RULES
from toolcarry.types import ToolBlock
from toolcarry.wire import as_object

__all__ = ["Inspection", "ToolSize", "inspect"]


@dataclass(frozen=True, slots=True)
class ToolSize:
    """What one tool's results weigh: UTF-8 bytes and characters of their texts."""

    calls: int = 0
    results: int = 0
    errors: int = 0
    bytes: int = 0
    chars: int = 0


@dataclass(frozen=True, slots=True)
class Inspection:
    """A survey of every block, side chains and other branches included.

    ``duplicates`` are the blocks that a newer one of the same key supersedes, ``stale_reads`` the reads of
    files that were edited afterwards; ``orphan_calls`` have no result, ``orphan_results`` no call.
    ``skipped_lines`` are the numbers, from 1, of lines that hold no JSON object.
    """

    shape: str
    messages: int
    calls: int
    results: int
    errors: int
    orphan_calls: int
    orphan_results: int
    duplicate_results: int
    repeated_records: int
    duplicates: int
    stale_reads: int
    side_chain_blocks: int
    other_branch_blocks: int
    bytes: int
    chars: int
    tools: dict[str, ToolSize] = field(default_factory=dict)
    skipped_lines: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The survey as plain values that ``json.dumps`` takes."""
        values = asdict(self)
        values["skipped_lines"] = list(self.skipped_lines)
        return values


def inspect(messages: Messages | Body) -> Inspection:
    """Survey a whole conversation. Raises ``InputError`` where the input is none.

    >>> call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    >>> survey = inspect([{"role": "assistant", "content": [call]}])
    >>> survey.shape, survey.calls, survey.orphan_calls
    ('anthropic', 1, 1)
    """
    given = take(messages)
    try:
        blocks, duplicate_results, repeated_records = kernels.survey(given.messages)
    except InputError as error:
        raise located(error, given.messages) from None
    kept = kernels.deduplicate_tools(blocks, DEFAULT_RULES)
    tools = sizes(blocks)
    calls = [block for block in blocks if block.tool_use is not None]
    results = [block for block in blocks if block.tool_result is not None]
    away = [block for block in blocks if not block.notes.is_active]
    return Inspection(
        shape=shape_of(given.messages),
        messages=sum(message is not SKIPPED for message in given.messages),
        calls=len(calls),
        results=len(results) + duplicate_results,
        errors=sum(block.is_error for block in blocks),
        orphan_calls=len(blocks) - len(results),
        orphan_results=len(blocks) - len(calls),
        duplicate_results=duplicate_results,
        repeated_records=repeated_records,
        duplicates=len(blocks) - len(kept),
        stale_reads=sum(block.notes.is_stale for block in kept),
        side_chain_blocks=sum(bool(block.scope) for block in away),
        other_branch_blocks=sum(not block.scope for block in away),
        bytes=sum(size.bytes for size in tools.values()),
        chars=sum(size.chars for size in tools.values()),
        tools=tools,
        skipped_lines=given.skipped_lines,
    )


def sizes(blocks: list[ToolBlock]) -> dict[str, ToolSize]:
    """The weight of each tool's results, the heaviest first."""
    from toolcarry._pure.read import result_text

    totals: dict[str, list[int]] = {}
    for block in blocks:
        total = totals.setdefault(block.tool_name, [0, 0, 0, 0, 0])
        total[0] += block.tool_use is not None
        total[2] += block.is_error
        if block.tool_result is not None:
            text = result_text(block.tool_result.get("content"))
            total[1] += 1
            total[3] += len(text.encode("utf-8", "surrogatepass"))
            total[4] += len(text)
    heaviest = sorted(totals.items(), key=lambda item: (-item[1][3], item[0]))
    return {name: ToolSize(*total) for name, total in heaviest}


def shape_of(messages: list[Any] | tuple[Any, ...]) -> str:
    """The shape of the first message that shows one; ``mixed`` where several do, ``unknown`` where none does."""
    shapes: list[str] = []
    for item in messages:
        message = as_object(item)
        shape = message_shape(message) if message is not None else ""
        if shape and shape not in shapes:
            shapes.append(shape)
    return shapes[0] if len(shapes) == 1 else "mixed" if shapes else "unknown"


def message_shape(message: Any) -> str:
    """What a message's structure says of its shape; empty where it fits any."""
    if "uuid" in message and ("message" in message or "parentUuid" in message):
        return "claude-code"
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        return "openai-chat" if "tool_call_id" in message else "ollama"
    if role == "function" or "function_call" in message:
        return "openai-chat"
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        function = (as_object(calls[0]) or {}).get("function")
        arguments = (as_object(function) or {}).get("arguments")
        return "ollama" if isinstance(arguments, dict) else "openai-chat"
    if isinstance(content, list):
        kinds = [(as_object(part) or {}).get("type") for part in content]
        if any(
            isinstance(kind, str) and ("tool_use" in kind or "tool_result" in kind)
            for kind in kinds
        ):
            return "anthropic"
    return ""
