"""References that hold however much is left out: the calls of what is compiled, by the names that they have in the log.

Where ids repeat, a call's reference has its number. Counted in the messages of a request it would be another one as soon as
a compaction stands for some of them: so it is counted in the whole log, in which nothing ever comes to stand before it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from toolcarry._backend import kernels
from toolcarry._pure.project.markers import name_all
from toolcarry.pair import extract_tool_blocks
from toolcarry.policy import Policy, check_type
from toolcarry.tract.values import Kind
from toolcarry.types import ToolBlock

if TYPE_CHECKING:
    from toolcarry.tract.compile import Writer

__all__ = ["find_references", "project_with"]

Place: TypeAlias = tuple[int, int]
"""Of a call, or of a result without one: its commit's sequence, and which of the commit's calls it is."""


def project_with(
    messages: list[dict[str, Any]], policy: Policy, references: list[str]
) -> list[dict[str, Any]]:
    """The projection of messages whose calls, in their order, have these references."""
    check_type("policy", policy, Policy)
    new, _, _ = kernels.project(messages, policy, None, references)
    return messages if new is None else new


def find_references(messages: Sequence[dict[str, Any]], shown: Writer, whole: Writer) -> list[str]:
    """The references of the calls in messages that were made of what is shown; ``whole`` is the log with all that it has."""
    named = placed(whole)
    names = name_all(block.call_id for block, _ in named)
    by_place = {place: name for (_, place), name in zip(named, names, strict=True)}
    found = [(block, by_place.get(place, block.call_id)) for block, place in placed(shown)]
    blocks = extract_tool_blocks(messages)
    if len(blocks) != len(found):  # a session's side chains and dead branches are in no request
        found = [each for each in found if each[0].notes.is_active and not each[0].scope]
    if len(blocks) == len(found):
        return [name for _, name in found]
    waiting: dict[str, deque[str]] = {}
    for block, name in found:
        waiting.setdefault(block.call_id, deque()).append(name)
    return [
        waiting[block.call_id].popleft() if waiting.get(block.call_id) else own
        for block, own in zip(blocks, name_all(block.call_id for block in blocks), strict=True)
    ]


def placed(writer: Writer) -> list[tuple[ToolBlock, Place]]:
    """The calls with their results, and the place of each."""
    taken: Counter[int] = Counter()
    found: list[tuple[ToolBlock, Place]] = []
    for block in extract_tool_blocks(writer.messages):
        sequence = 0
        for commit in writer.origins[block.position]:
            if commit.kind is Kind.CALL and block.tool_use is not None:
                sequence = commit.sequence
            elif (
                commit.kind is Kind.RESULT
                and block.tool_use is None
                and commit.tool_call_id == block.call_id
                and not taken[commit.sequence]
            ):
                sequence = commit.sequence
                break
        found.append((block, (sequence, taken[sequence])))
        taken[sequence] += 1
    return found
