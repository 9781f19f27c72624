"""Inspection: a survey of a whole conversation, and of what its next request takes."""

from __future__ import annotations

from msgspec.structs import replace

from toolcarry import _backend
from toolcarry.api.conversation import Conversation, Given
from toolcarry.api.survey import survey_context
from toolcarry.types.results import Inspection

__all__ = ["inspect"]


def inspect(messages: Given, *, tokens: bool = False, model: str | None = None) -> Inspection:
    """Survey a whole conversation: its calls, their sizes by tool, duplicates, stale reads and orphans.

    With ``tokens`` or a ``model``, ``context`` says what fills the context of the next request: tokens by kind, the
    states of the results, and the heaviest results. The default ``model`` is the last one that the input names; if it
    names none, tokens are counted in ``o200k_base`` and are not exact. Counting takes most of the time.
    Raises ``InputError`` if the input is not a conversation.

    >>> call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    >>> result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py b.py"}
    >>> talk = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    >>> survey = inspect(talk, tokens=True)
    >>> survey.shape, survey.calls, survey.orphan_calls, survey.context.results["needed"]
    ('anthropic', 1, 0, Amount(count=1, tokens=4))
    """
    given = Conversation.of(messages)
    found = given.run(_backend.kernels.inspect)
    if not tokens and model is None:
        return found
    return replace(found, context=survey_context(given, model=model))
