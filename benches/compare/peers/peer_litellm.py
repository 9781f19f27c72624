"""LiteLLM: ``trim_messages``, which takes the newest messages, and shortens the first that does not fit."""

from __future__ import annotations

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import asks the network for prices

from litellm.utils import trim_messages
from peer import QUARTER, Pair, Peer
from side_by_side import main
from workload import Message, to_openai

from toolcarry import ProjectPolicy


def trim(messages: list[Message]) -> list[Message]:
    """With the tokens of OpenAI's models, whose vocabulary LiteLLM brings along."""
    found: list[Message] = trim_messages(messages, model="gpt-4o", max_tokens=QUARTER)
    return found


PEER = Peer(
    name="LiteLLM",
    package="litellm",
    provider="openai",
    to_wire=to_openai,
    pairs=(
        Pair(
            "`trim_messages` to a quarter",
            trim,
            lambda _: ProjectPolicy(max_request_tokens=QUARTER),
        ),
    ),
)

if __name__ == "__main__":
    main(PEER)
