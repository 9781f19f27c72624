"""Check a request: what its destination would refuse, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolcarry import _backend
from toolcarry._input.json import loads
from toolcarry._input.objects import Body, Messages, as_object
from toolcarry.api.projection import project, project_body
from toolcarry.errors import InputError
from toolcarry.types.destinations import Destination
from toolcarry.types.policy import ProjectPolicy
from toolcarry.types.results import Problem
from toolcarry.types.values import Mend

__all__ = [
    "check",
]

PROBLEMS: Final[dict[str, str]] = {
    "missing_result": "a call has no result",
    "orphan_result": "a result has no call",
    "duplicate_result": "a call has a second result",
    "moved_result": "a result is not directly after its call",
    "moved_call": "a text, or a result of the provider's own tools, follows a call in its message",
    "moved_media": "a result holds media where only text is allowed",
    "empty_failure": "a failed result has no content",
    "empty_result": "a result has no content",
    "renamed_id": "an id is used twice, or has a form that is refused",
    "renamed_tool": "a result names another tool than its call",
    "renamed_role": "a message with calls, or a result, has a role that may not hold them",
    "system_message": "a system message is among the messages, or after the first of another role",
    "server_call": "a call of the provider's own tool has no result",
    "unsigned_thought": "a thought has no signature",
    "unsigned_call": "a call of the open turn has no signature",
    "empty_text": "a text is blank",
    "empty_message": "a message has no content",
    "empty_calls": "a list of calls is empty",
    "doubled_call": "a call is written in two forms",
    "trailing_thought": "no content follows a thought",
    "trailing_space": "the model's last text ends in white space",
    "merged_message": "a message has the same role as the one before it",
    "stand_in": "without what is refused, the user's first or last message has no content",
    "missing_user": "the conversation begins or ends with the model",
    "missing_model": "a user message follows a result directly",
    "refused_name": "the name of a tool has a form that is refused",
    "mended_arguments": "the arguments of a call are not a JSON object",
    "mended_content": "the content of a result is neither text nor a list of parts, as the provider asks",
    "call_type": "a call has no type",
    "refused_member": "a message has a member that is not known",
    "cache_mark": "there are more marks for the prompt cache than are allowed",
    "dropped_id": "an item has an id that is too long, or begins with other letters than its type asks for",
    "text_type": "a text has no type, or one that its role does not allow",
    "missing_summary": "reasoning has no summary",
    "missing_member": "a message of the model lacks a member that its other messages have",
    "stopped_thinking": "thinking is asked for, and the open turn does not begin with a thought",
    "missing_definitions": "tools are called, and none are defined",
    "not_repaired": "this could not be checked, or no rule corrects it",
}
"""The meaning of each rule."""


HOLDERS: Final = {"openai-responses": "input", "gemini": "contents"}
"""The members of a body that hold its messages, where they are not ``messages``."""


def check(
    messages: Messages | Body,
    *,
    destination: str | Destination | Mapping[str, Any] | None = None,
) -> tuple[Problem, ...]:
    """Return what the destination of a request would refuse, in the order in which a repair corrects it.

    ``messages`` are those of a request, or its body in bytes. ``destination`` is one of those that
    ``ProjectPolicy(destination=)`` takes; by default the messages and the model of the body tell. Nothing is changed. Raises
    ``InputError`` if the input is not a request, and ``ConfigError`` for an unknown destination.

    >>> call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    >>> [(problem.position, problem.text) for problem in check([
    ...     {"role": "user", "content": "List."}, {"role": "assistant", "content": [call]}])]
    [(1, 'a call has no result')]
    """
    _backend.require("check")
    policy = ProjectPolicy(repair=True, destination=destination)
    if isinstance(messages, (bytes, bytearray, memoryview)):
        report = project_body(messages, policy=policy).report
        if report.untouched:
            raise InputError(f"is not a request: {report.untouched}")
    else:
        report = project(messages, policy=policy).report
    found = [problem_of(mend) for mend in report.mends]
    rest = report.not_repaired or wrong_holder(messages, policy.destination)
    if rest:
        found.append(Problem("not_repaired", PROBLEMS["not_repaired"], detail=rest))
    return tuple(found)


def wrong_holder(messages: Messages | Body, destination: Any) -> str:
    """Say that a body holds its messages under the name of another format; empty if it does not.

    Messages without calls often tell of no format.
    """
    from toolcarry.model import destinations  # noqa: PLC0415 - slow to load

    if destination is None or not isinstance(messages, (bytes, bytearray, memoryview)):
        return ""
    wanted = destinations.wanted_destination(destination)
    holder = HOLDERS.get(wanted.shape, "messages")
    body = as_object(loads(bytes(messages))) or {}
    other = next((name for name in ("messages", *HOLDERS.values()) if name in body), holder)
    return "" if other == holder or holder in body else f"{other}: {wanted.name} takes {holder}"


def problem_of(mend: Mend) -> Problem:
    """Return the problem that a repair corrects."""
    return Problem(mend.kind, PROBLEMS[mend.kind], mend.position, mend.call_id, mend.detail)
