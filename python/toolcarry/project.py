"""The projection: what a proxy or an agent calls before every model request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolcarry._backend import kernels
from toolcarry._input.objects import Messages, located, plain_message, take
from toolcarry.errors import ConfigError, InputError
from toolcarry.policy import Policy, check_type
from toolcarry.types import NO_DECISIONS, DecisionFields, Decisions, Outcome, ProjectReport

__all__ = ["Decisions", "ProjectReport", "Projected", "ProjectedBody", "project", "project_body"]


@dataclass(frozen=True, slots=True, repr=False)
class Made:
    """What a projection did, and what it decided; both are put into words when they are asked for."""

    _outcome: Outcome
    _decisions: DecisionFields

    @property
    def report(self) -> ProjectReport:
        """What the projection did."""
        return ProjectReport.of(self._outcome)

    @property
    def decisions(self) -> Decisions:
        """What it decided: the next projection of the same conversation is given them as ``previous``."""
        return Decisions.of(self._decisions)


@dataclass(frozen=True, slots=True)
class Projected(Made):
    """The ``messages`` of a projection, its ``report``, and its ``decisions``."""

    messages: list[Any]


@dataclass(frozen=True, slots=True)
class ProjectedBody(Made):
    """The ``body`` of a projection, its ``report``, and its ``decisions``."""

    body: bytes


def project(
    messages: Messages, *, policy: Policy = Policy(), previous: Decisions | None = None
) -> Projected:
    """The same messages, smaller: short markers stand for results that are superseded, or over a limit.

    ``messages`` are those of a request, of any provider; they are not changed, and what stays is the same objects.
    With ``policy.repair`` the projection is valid for its provider. ``previous`` are the decisions of the projection before
    this one in the same conversation: they stand, so that the provider's cache of the prompt does.
    Projecting a projection changes nothing. Raises ``InputError`` where a message is no object.

    >>> def read(call_id, text):
    ...     use = {"type": "tool_use", "id": call_id, "name": "Read", "input": {"file_path": "a.py"}}
    ...     result = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    ...     return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    >>> projected = project([*read("t1", "x = 1\\n" * 100), *read("t2", "x = 2\\n")])
    >>> projected.messages[1]["content"][0]["content"]
    '[toolcarry: superseded by call t2; whole: t1]'
    """
    check_projection(policy, previous)
    given = take(messages)
    if isinstance(given, bytes):
        raise InputError("messages must be a list of objects; a body goes through project_body")
    plain = [plain_message(message, position) for position, message in enumerate(given)]
    try:
        found, outcome, decisions = kernels.project(plain, policy, previous)
    except InputError as error:
        raise located(error, plain) from None
    return Projected(outcome, decisions, restored(found, plain, given))


def project_body(
    body: bytes | bytearray | memoryview,
    *,
    policy: Policy = Policy(),
    previous: Decisions | None = None,
) -> ProjectedBody:
    """``project`` for the bytes of a request: what does not change is copied as it stood.

    A body that needs no change comes back as the same object; so does one that can't be read, and
    ``report.untouched`` says why. No body raises.

    >>> project_body(b'{"messages": []}').body
    b'{"messages": []}'
    >>> project_body(b"\\x1f\\x8b...").report.untouched
    'compressed'
    """
    check_projection(policy, previous)
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise InputError(f"body must be bytes, not {type(body).__name__}")
    given = body if isinstance(body, bytes) else bytes(body)
    new, outcome, decisions = kernels.project_body(given, policy, previous)
    if decisions is None:
        decisions = NO_DECISIONS if previous is None else previous.fields()
    return ProjectedBody(outcome, decisions, given if new is None else new)


def check_projection(policy: object, previous: object) -> None:
    """Raise a ``ConfigError`` unless ``policy`` is a ``Policy`` and ``previous`` what a projection gave."""
    check_type("policy", policy, Policy)
    if previous is not None and not isinstance(previous, Decisions):
        raise ConfigError(f"previous: {previous!r:.80} is not allowed; allowed: Decisions, None")


def restored(found: Sequence[Any] | None, plain: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The new messages; those that stay are the caller's own, whatever was made of them to read them."""
    if found is None:
        return list(given)
    own = {id(message): given[position] for position, message in enumerate(plain)}
    return [own.get(id(message), message) for message in found]
