"""The projection of a request: replace results, repair the request, and assemble it again.

Changed objects become new lists and dicts, and unchanged ones are the caller's own; ``bytes`` does the same for a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._pure.projection.blocks import CallFacts
from toolcarry._pure.projection.edits import build
from toolcarry._pure.projection.plan import plan
from toolcarry.types.policy import Policy
from toolcarry.types.values import Decisions, ProjectReport


def project(
    messages: Sequence[Any],
    policy: Policy,
    previous: Decisions | None,
    known: Sequence[CallFacts] | None = None,
) -> tuple[list[Any] | None, ProjectReport, Decisions]:
    """Return the messages as a policy changes them; ``None`` if they stay unchanged.

    ``known`` holds facts about each call, in order, besides those in the messages.
    """
    found = plan(messages, policy, previous, known=known)
    new = None if found.drafts is None else build(messages, found.drafts)
    return new, found.report, found.decisions
