"""The dedupe step: which blocks newer ones supersede."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from toolcarry._backend import kernels
from toolcarry.errors import InputError
from toolcarry.policy import DEFAULT_RULES, check_rules
from toolcarry.types import Rule, ToolBlock, checked_list

__all__ = ["deduplicate_tools"]


def deduplicate_tools(
    blocks: Sequence[ToolBlock], *, rules: Sequence[Rule] | Literal["careful"] = DEFAULT_RULES
) -> list[ToolBlock]:
    """The blocks that no other one supersedes, in their order, with what the others were in their ``notes``.

    ``rules`` come before the built-in ones; ``"careful"`` keeps every edit of a file until the file is
    written or wholly read again. Raises ``ConfigError`` for rules that are none, ``InputError`` for blocks
    that are none.

    >>> read = {"type": "tool_use", "name": "Read", "input": {"file_path": "a.py"}}
    >>> old = ToolBlock(read, {"content": "1"}, "Read", call_id="t1", position=0)
    >>> new = ToolBlock(read, {"content": "2"}, "Read", call_id="t2", position=2)
    >>> [block.call_id for block in deduplicate_tools([old, new])]
    ['t2']
    """
    return kernels.deduplicate_tools(check_blocks(blocks), check_rules(rules))


def check_blocks(blocks: Sequence[ToolBlock]) -> list[ToolBlock]:
    """The blocks as a list; ``InputError`` for what is none, and for what is no block."""
    given = checked_list("blocks", blocks, "ToolBlocks")
    for position, block in enumerate(given):
        if not isinstance(block, ToolBlock):
            kind = type(block).__name__
            raise InputError(f"block {position} is not a ToolBlock, but {kind}", position)
    return given
