"""The system prompt apart from the conversation, for those targets that keep it beside the messages."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry.convert.losses import Losses
from toolcarry.convert.parts import Text, Turn


def part_prompt(turns: Sequence[Turn], losses: Losses) -> tuple[str, list[Turn]]:
    """The system prompt as one text, and the turns of the others; what the system says among them moves, and is told."""
    prompt: list[str] = []
    others: list[Turn] = []
    for turn in turns:
        if turn.role != "system":
            others.append(turn)
            continue
        prompt += [part.text for part in turn.parts if isinstance(part, Text)]
        if others:
            losses.add(turn.parts[0].position, "moved_system", "")
    return "\n\n".join(prompt), others
