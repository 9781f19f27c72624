"""The values that kernels return, before ``toolcarry.api`` makes the caller's objects of them.

The extension fills these classes by the names of their fields.
"""

from __future__ import annotations

from typing import Any

from toolcarry.types.value import Value
from toolcarry.types.values import Decisions, ProjectReport, Report

__all__ = ["BodyOutcome", "CarryOutcome", "ImportedOutcome", "ProjectOutcome", "WalkedBlock"]


class CarryOutcome(Value, frozen=True):
    """The outcome of ``carry``: the context, as text for messages and in UTF-8 for bytes."""

    context: str | bytes
    report: Report


class WalkedBlock(Value, frozen=True):
    """The fate of a block that ``carry`` walked, for ``explain``. ``age`` counts from the newest block, which has 0."""

    age: int
    fate: str
    reason: str


class ProjectOutcome(Value, frozen=True):
    """The outcome of ``project``; ``messages`` is None if nothing changes."""

    messages: list[Any] | None
    report: ProjectReport
    decisions: Decisions


class BodyOutcome(Value, frozen=True):
    """The outcome of ``project_body``.

    ``body`` is None if nothing changes, and ``decisions`` is None if the body can't be read.
    """

    body: bytes | None
    report: ProjectReport
    decisions: Decisions | None


class ImportedOutcome(Value, frozen=True):
    """The outcome of ``project_imported``; ``messages`` is None if nothing changes.

    ``origins`` has the position of the message that each new one was made from, and None for a message that was added.
    ``members`` has the new values of other members of the request, and None for a member that is removed.
    """

    messages: list[Any] | None
    origins: list[int | None]
    members: dict[str, Any]
    report: ProjectReport
    decisions: Decisions
