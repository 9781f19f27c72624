"""Check a request: what its destination would refuse, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolcarry import _backend
from toolcarry._input.json import loads
from toolcarry._input.json_slowly import without_constants
from toolcarry._input.objects import as_object
from toolcarry.api.conversation import Conversation, Given
from toolcarry.api.projection import report_on
from toolcarry.errors import InputError
from toolcarry.types.destinations import Destination
from toolcarry.types.mends import PROBLEMS
from toolcarry.types.policy import NO_LIMIT, ProjectPolicy
from toolcarry.types.results import Problem
from toolcarry.types.values import Mend

__all__ = [
    "check",
]

HOLDERS: Final = {"openai-responses": "input", "gemini": "contents"}
"""The members of a body that hold its messages if they are not named ``messages``."""


def check(
    messages: Given,
    *,
    destination: str | Destination | Mapping[str, Any] | None = None,
) -> tuple[Problem, ...]:
    """Return what the provider would reject in a request, in the order in which a repair corrects it.

    ``messages`` are the messages of a request, or its body as bytes. ``destination`` is any value that
    ``ProjectPolicy(destination=)`` accepts; by default it is inferred from the messages and the model. Nothing is
    changed. Raises ``InputError`` if the input is not a request, and ``ConfigError`` for an unknown destination.

    >>> call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    >>> [(problem.position, problem.text) for problem in check([
    ...     {"role": "user", "content": "List."}, {"role": "assistant", "content": [call]}])]
    [(1, 'a call has no result')]
    """
    _backend.require("check")
    # Every result is judged as it is: one that a newer one supersedes may be what the provider rejects.
    policy = ProjectPolicy(
        repair=True, destination=destination, content="off", keep_last_results=NO_LIMIT
    )
    given = Conversation.of(messages)
    report = report_on(given, policy)
    if isinstance(given.given, bytes) and report.untouched and not report.blocks:
        raise InputError(f"is not a request: {report.untouched}")
    found = [problem_of(mend) for mend in report.mends]
    rest = report.not_repaired or wrong_holder(given, policy.destination)
    if rest:
        found.append(Problem("not_repaired", PROBLEMS["not_repaired"], detail=rest))
    return tuple(found)


def wrong_holder(given: Conversation, destination: Any) -> str:
    """Return a hint if a body holds its messages under the name of another format; otherwise an empty string.

    Messages without calls often fit several formats.
    """
    from toolcarry.model import destinations  # noqa: PLC0415 - slow to load

    if destination is None or not isinstance(given.given, bytes):
        return ""
    wanted = destinations.wanted_destination(destination)
    holder = HOLDERS.get(wanted.shape, "messages")
    body = as_object(loads(without_constants(given.given)[0])) or {}
    other = next((name for name in ("messages", *HOLDERS.values()) if name in body), holder)
    return "" if other == holder or holder in body else f"{other}: {wanted.name} takes {holder}"


def problem_of(mend: Mend) -> Problem:
    """Return the problem that a repair corrects."""
    return Problem(mend.kind, PROBLEMS[mend.kind], mend.position, mend.call_id, mend.detail)
