"""What the log knows of the calls of what is compiled: their names, however much is left out, and which of them failed.

Where ids repeat, a call's reference has its number. Counted in the messages of a request it would be another one as soon as
a compaction stands for some of them: so it is counted in the whole log, in which nothing ever comes to stand before it.
That a result failed is marked in Anthropic's requests alone, and a failure supersedes no success in any.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from toolcarry import _backend
from toolcarry._pure.projection.blocks import Known
from toolcarry._pure.projection.marker import name_all
from toolcarry.context import extract_tool_blocks
from toolcarry.policy import Policy, check_type
from toolcarry.tract.reading import results_of
from toolcarry.tract.values import Kind
from toolcarry.types import ToolBlock

if TYPE_CHECKING:
    from toolcarry.tract.compile import Writer

__all__ = ["find_known", "project_with"]

Place: TypeAlias = tuple[int, int]
"""Of a result or a call: its commit's sequence, and which of the commit's calls it is."""


def project_with(
    messages: list[dict[str, Any]], policy: Policy, known: Sequence[Known] | None = None
) -> list[dict[str, Any]]:
    """The projection of messages of whose calls, in their order, this is known beside what they say."""
    check_type("policy", policy, Policy)
    new, _, _ = _backend.kernels.project(messages, policy, None, known)
    return messages if new is None else new


def own(blocks: Sequence[ToolBlock]) -> list[Known]:
    """What is known of blocks where nothing but them is."""
    return [
        Known(name, block.is_error)
        for name, block in zip(name_all(block.call_id for block in blocks), blocks, strict=True)
    ]


def find_known(messages: Sequence[dict[str, Any]], shown: Writer, whole: Writer) -> list[Known]:
    """What is known of the calls in messages that were made of what is shown; ``whole`` is the log with all that it has."""
    named = placed(whole)
    names = name_all(block.call_id for block, _ in named)
    by_place = {
        place: name for (_, found), name in zip(named, names, strict=True) for place in found
    }
    found = [
        (block, next((by_place[place] for place in places if place in by_place), block.call_id))
        for block, places in placed(shown)
    ]
    blocks = extract_tool_blocks(messages)
    if len(blocks) != len(found):  # a session's side chains and dead branches are in no request
        found = [each for each in found if each[0].notes.is_active and not each[0].scope]
    if len(blocks) == len(found):
        return [Known(name, block.is_error) for block, name in found]
    waiting: dict[str, deque[Known]] = {}
    for block, name in found:
        waiting.setdefault(block.call_id, deque()).append(Known(name, block.is_error))
    return [
        waiting[block.call_id].popleft() if waiting.get(block.call_id) else known
        for block, known in zip(blocks, own(blocks), strict=True)
    ]


def placed(writer: Writer) -> list[tuple[ToolBlock, list[Place]]]:
    """The calls with their results, and the places of each: the result's first, since it is what a reference leads to."""
    results = result_sequences(writer)
    taken: Counter[int] = Counter()
    found: list[tuple[ToolBlock, list[Place]]] = []
    for block in extract_tool_blocks(writer.messages):
        places: list[Place] = []
        if id(block.tool_result) in results:
            places.append((results[id(block.tool_result)], 0))
        if block.tool_use is not None:
            commits = writer.origins[block.position]
            sequence = next((each.sequence for each in commits if each.kind is Kind.CALL), 0)
            places.append((sequence, taken[sequence]))
            taken[sequence] += 1
        found.append((block, places))
    return found


def result_sequences(writer: Writer) -> dict[int, int]:
    """The sequences of the results' commits, by the identity of what stands for them in the messages."""
    found: dict[int, int] = {}
    for message, commits in zip(writer.messages, writer.origins, strict=True):
        sequences = [commit.sequence for commit in commits if commit.kind is Kind.RESULT]
        if sequences:
            wires = [id(result.wire) for result in results_of(message)]
            found.update(zip(wires, sequences, strict=False))
    return found
