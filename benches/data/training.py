"""The work that a release wheel is optimised for: each job on generated conversations, whose seeds no benchmark uses.

    python benches/data/training.py

``maturin build --pgo`` runs it with an extension that counts what is executed, and optimises the next one for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workload import Message, body, generate

import toolcarry
from toolcarry import CarryPolicy, ProjectPolicy

SEEDS = range(101, 106)
"""The benchmarks use other ones, so that nothing is tuned to their texts."""
SIZES = (20, 66, 200, 600)
"""Messages."""
POLICIES = (
    ProjectPolicy(),
    CarryPolicy(max_result_chars=2_000, max_chars=200_000, layout="sections", content="off"),
    ProjectPolicy(max_result_chars=2_000, max_all_results_tokens=8_000),
    ProjectPolicy(max_result_tokens=500, max_request_tokens=20_000),
)  # fmt: skip


def run_all(messages: Sequence[Message], policy: ProjectPolicy) -> None:
    """Run each job on a conversation, as objects and as bytes."""
    data = body(messages)
    given: tuple[Any, ...] = (messages, data)
    for conversation in given:
        toolcarry.carry(conversation, policy=policy)
        toolcarry.extract_tool_blocks(conversation)
        toolcarry.inspect(conversation)
        toolcarry.recount(conversation)
    toolcarry.deduplicate_tools(toolcarry.extract_tool_blocks(messages))
    toolcarry.count_message_tokens(messages)
    projected = toolcarry.project(messages, policy=policy)
    toolcarry.project(messages, policy=policy, previous=projected.decisions)
    toolcarry.project_body(data, policy=policy)


def main() -> None:
    for seed in SEEDS:
        for size in SIZES:
            for policy in POLICIES:
                run_all(generate(size, seed), policy)


if __name__ == "__main__":
    main()
