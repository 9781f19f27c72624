"""The projection of a request: which results are replaced, what is repaired, and how it is put together again.

Of objects it makes new lists and dicts where something changes, and keeps the caller's own elsewhere; ``bytes`` does it for a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._pure.projection.blocks import Known
from toolcarry._pure.projection.edits import build
from toolcarry._pure.projection.plan import plan
from toolcarry.policy import Policy
from toolcarry.types import DecisionFields, Decisions, Outcome


def project(
    messages: Sequence[Any],
    policy: Policy,
    previous: Decisions | None,
    known: Sequence[Known] | None = None,
) -> tuple[list[Any] | None, Outcome, DecisionFields]:
    """The messages with what a policy makes of them; ``None`` where they stay as they are.

    ``known`` is what is known of each call, in their order, beside what the messages say.
    """
    found = plan(messages, policy, previous, known=known)
    new = None if found.drafts is None else build(messages, found.drafts)
    return new, found.outcome, found.decisions
