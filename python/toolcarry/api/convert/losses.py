"""The losses of a conversion: what the target cannot hold, or what was changed for it. Each one is reported."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry.types.results import Loss
from toolcarry.types.unread import NOTHING

KINDS = {
    "made_up_ids": "calls or results had no id, and were given one",
    "changed_id": "an id that another call has was changed",
    "no_ids": "the target has no ids; the order keeps the pairs",
    "arguments": "arguments that are not an object became one; text that is not JSON is its member INVALID_JSON",
    "is_error": "the target cannot mark a result as failed; its text begins with a mark",
    "server_tool": "a call that ran on the provider's server became an ordinary one",
    "custom_tool": "a call with free text became one with the argument input",
    "thinking": "thinking that the target does not accept was left out",
    "unsigned": "turns of another model's calls have no thought signature, and say so as Google asks for it",
    "media": "a part that is not text became a line that names it, or the text in it",
    "moved_media": "a part of a result that is not text moved to a user message after the results, which alone can hold it",
    "cache_control": "the target has no cache marks",
    "blank_text": "text of spaces alone, which the target refuses, was left out",
    "citations": "the target has no citations",
    "compaction": "a provider's summary of earlier messages became text",
    "guardrail": "the target has no guardrail for a part; its content stays",
    "repeated": "a result's structured content was left out, since its text says the same",
    "moved_system": "a system message in the conversation moved to the system prompt",
    "unknown": "a part or a message of an unknown structure was left out",
    "side_chain": "messages of sub-agents were left out",
    "other_branch": "messages of abandoned branches were left out",
    "client": "texts that the client wrote, such as summaries of what is sent too, were left out",
    "skipped_lines": "lines that hold no JSON object were skipped",
    "metadata": "metadata that the target does not have was left out",
    "settings": "members of the request besides the conversation were left out",
}
"""The meaning of each kind of loss."""


class Losses:
    """The losses so far."""

    def __init__(self) -> None:
        self._found: list[Loss] = []
        self.unread = NOTHING
        """The messages whose structure no format knows."""

    def add(self, position: int | None, kind: str, detail: str) -> None:
        self._found.append(Loss(position, kind, detail))

    def in_order(self) -> tuple[Loss, ...]:
        """Return all losses: those of the whole conversation first, then by position."""
        return tuple(
            sorted(self._found, key=lambda loss: -1 if loss.position is None else loss.position)
        )


def listed(names: Sequence[object], most: int = 20) -> str:
    """Return names separated by commas; of many names, only the first."""
    more = [f"and {len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*map(str, names[:most]), *more])
