"""OpenAI's Agents SDK: ``ToolOutputTrimmer``, which cuts the results before the last two user messages."""

from __future__ import annotations

from collections.abc import Sequence

from agents import Agent
from agents.extensions import ToolOutputTrimmer
from agents.run_config import CallModelData, ModelInputData
from peer import Pair, Peer
from side_by_side import main
from workload import Message

from toolcarry import ProjectPolicy, convert

MOST_CHARS = 500
RECENT_TURNS = 2
TRIMMER = ToolOutputTrimmer(recent_turns=RECENT_TURNS, max_output_chars=MOST_CHARS)
AGENT = Agent(name="bench")


def to_items(messages: list[Message]) -> list[Message]:
    return convert(messages, to="responses").messages


def trim(items: list[Message]) -> list[Message]:
    given = ModelInputData(input=items, instructions=None)
    return TRIMMER(CallModelData(model_data=given, agent=AGENT, context=None)).input


def policy_for(items: Sequence[Message]) -> ProjectPolicy:
    """The same limit, and as many of the last results left alone as the trimmer leaves."""
    spoken = [place for place, item in enumerate(items) if item.get("role") == "user"]
    recent = items[spoken[-RECENT_TURNS] :] if len(spoken) >= RECENT_TURNS else items
    kept = sum([item.get("type") == "function_call_output" for item in recent])
    return ProjectPolicy(max_result_chars=MOST_CHARS, keep_last_results=kept)


PEER = Peer(
    name="OpenAI Agents",
    package="openai-agents",
    provider="responses",
    to_wire=to_items,
    pairs=(Pair("`ToolOutputTrimmer`, 500 characters", trim, policy_for),),
)

if __name__ == "__main__":
    main(PEER)
