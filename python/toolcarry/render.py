"""The render step: blocks as a markdown context."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry._backend import kernels
from toolcarry.dedupe import check_blocks
from toolcarry.policy import Policy, check_arguments
from toolcarry.types import ToolBlock

__all__ = ["format_tool_context"]


def format_tool_context(
    blocks: Sequence[ToolBlock], *, summary: str = "", policy: Policy = Policy()
) -> str:
    """The carry-over context of blocks that were deduplicated before; empty where there is nothing to carry.

    The text is never longer than the policy's total.

    >>> run = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    >>> print(format_tool_context([ToolBlock(run, {"content": "a.py"}, "Bash")], policy=Policy(framing=False)))
    [CONTEXT FROM PREVIOUS SESSION]
    <BLANKLINE>
    ## Commands Executed
    ### ls
    ```
    a.py
    ```
    <BLANKLINE>
    [/CONTEXT FROM PREVIOUS SESSION]
    """
    check_arguments(summary, policy)
    return kernels.format_tool_context(check_blocks(blocks), summary, policy)
