"""The values that kernels return, before ``toolcarry.api`` turns them into the caller's objects.

The extension fills these classes by field name.
"""

from __future__ import annotations

from typing import Any

from toolcarry.types.value import Value
from toolcarry.types.values import Decisions, ProjectReport, Report

__all__ = ["BodyOutcome", "CarryOutcome", "ImportedOutcome", "ProjectOutcome", "WalkedBlock"]


class CarryOutcome(Value, frozen=True):
    """The outcome of ``carry``: the context, as a string for messages and as UTF-8 for bytes."""

    context: str | bytes
    report: Report


class WalkedBlock(Value, frozen=True):
    """The fate of a block that ``carry`` read, for ``explain``. ``age`` counts from the newest block, which has 0."""

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

    ``origins`` has, for each new message, the position of the message that it was made from, and None if it was added.
    ``members`` has the new values of other members of the request, and None for a member that was removed.
    """

    messages: list[Any] | None
    origins: list[int | None]
    members: dict[str, Any]
    report: ProjectReport
    decisions: Decisions
