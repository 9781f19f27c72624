"""The pair step: every tool call with its result."""

from __future__ import annotations

from toolcarry._backend import kernels
from toolcarry._input.objects import Body, Messages, located, take
from toolcarry.errors import InputError
from toolcarry.types import ToolBlock

__all__ = ["extract_tool_blocks"]


def extract_tool_blocks(messages: Messages | Body) -> list[ToolBlock]:
    """Every call of a conversation with its result, in the order of the calls; side chains and branches too.

    ``messages`` is a list of messages in any of the known shapes, or bytes: a request body, a JSON array or
    JSONL. Nothing is changed. Raises ``InputError`` where that is no conversation.

    >>> blocks = extract_tool_blocks([
    ...     {"role": "assistant", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}]},
    ...     {"role": "user", "content": [
    ...         {"type": "tool_result", "tool_use_id": "t1", "content": "print(1)"}]},
    ... ])
    >>> blocks[0].tool_name, blocks[0].dedup_key, blocks[0].tool_result["content"]
    ('Read', 'read:a.py', 'print(1)')
    """
    given = take(messages)
    try:
        if isinstance(given, bytes):
            return kernels.extract_tool_blocks_body(given)
        return kernels.extract_tool_blocks(given)
    except InputError as error:
        raise located(error, given) from None
