"""The full survey of a conversation: what is in it, what it weighs, and what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from toolcarry._backend import kernels
from toolcarry._input.objects import Body, Messages, located, take
from toolcarry.errors import InputError
from toolcarry.types import ToolSize

__all__ = ["Inspection", "ToolSize", "inspect"]


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
    skipped_lines: tuple[int, ...] = ()
    try:
        if isinstance(given, bytes):
            survey, skipped_lines = kernels.inspect_body(given)
        else:
            survey = kernels.inspect(given)
    except InputError as error:
        raise located(error, given) from None
    shape, count, orphan_calls, orphan_results, duplicate_results, *others, tools = survey
    repeated_records, duplicates, stale_reads, side_chain_blocks, other_branch_blocks = others
    sizes = tools.values()
    return Inspection(
        shape=shape,
        messages=count,
        calls=sum(size.calls for size in sizes),
        results=sum(size.results for size in sizes) + duplicate_results,
        errors=sum(size.errors for size in sizes),
        orphan_calls=orphan_calls,
        orphan_results=orphan_results,
        duplicate_results=duplicate_results,
        repeated_records=repeated_records,
        duplicates=duplicates,
        stale_reads=stale_reads,
        side_chain_blocks=side_chain_blocks,
        other_branch_blocks=other_branch_blocks,
        bytes=sum(size.bytes for size in sizes),
        chars=sum(size.chars for size in sizes),
        tools=tools,
        skipped_lines=skipped_lines,
    )
