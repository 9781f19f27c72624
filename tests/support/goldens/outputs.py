"""The outputs of a generated request, by job.

``CARRY`` are the jobs that exist in both backends, ``PROJECT`` those that exist in Rust alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace
from support.goldens.requests import Numbered, numbered
from support.goldens.values import digest, outcome, written

import toolcarry
from toolcarry.types import Decisions

Job = Callable[[Numbered], Any]


def carry(given: Any, made: Numbered) -> Any:
    found = toolcarry.carry(given, summary=made.summary, policy=made.carry)
    return [found.text, found.report]


def blocks(given: Any, made: Numbered) -> Any:
    found = toolcarry.extract_tool_blocks(given)
    kept = toolcarry.deduplicate_tools(found, rules=made.carry.rules)
    context = toolcarry.format_tool_context(kept, summary=made.summary, policy=made.carry)
    return [found, [(block.position, block.call_id, block.notes) for block in kept], context]


def tokens(given: Any, made: Numbered) -> Any:
    return toolcarry.count_message_tokens(given, encoding=made.carry.encoding)


def project(made: Numbered) -> Any:
    """Project a request and the next one, with the decisions about the first; say which messages are the caller's."""
    first = toolcarry.project(made.messages, policy=made.project)
    messages = [*made.messages, *made.later]
    following = outcome(
        lambda: toolcarry.project(messages, policy=made.project, previous=first.decisions)
    )
    return [first, own(first, made.messages), following, own(following, messages)]


def own(projected: Any, messages: list[Any]) -> list[int | None]:
    """Return the place of each message among those that were given, if it is one of them."""
    places = {id(message): place for place, message in enumerate(messages)}
    return [places.get(id(message)) for message in getattr(projected, "messages", ())]


def project_body(made: Numbered) -> Any:
    """Project the bytes of a request and of the next one; say which are the caller's."""
    decisions: Decisions | None = None
    found: list[Any] = []
    for body in (made.body, made.later_body):
        projected = toolcarry.project_body(body, policy=made.project, previous=decisions)
        decisions = projected.decisions
        found += [projected, projected.body is body]
    return found


def recount(given: Any, made: Numbered) -> Any:
    return toolcarry.recount(given, **made.recount)


def inspect(given: Any) -> Any:
    """Survey a conversation, but do not count what is no part of it: ``tests/formats/test_damaged_samples.py`` does."""
    return replace(toolcarry.inspect(given), asides={})


def check(given: Any, made: Numbered) -> Any:
    return toolcarry.check(given, destination=made.project.destination)


CARRY: dict[str, Job] = {
    "carry": lambda made: carry(made.messages, made),
    "carry of bytes": lambda made: carry(made.body, made),
    "dialogue": lambda made: toolcarry.dialogue(made.messages),
    "dialogue of bytes": lambda made: toolcarry.dialogue(made.body),
    "blocks": lambda made: blocks(made.messages, made),
    "blocks of bytes": lambda made: blocks(made.body, made),
    "tokens": lambda made: tokens(made.messages, made),
    "tokens of bytes": lambda made: tokens(made.body, made),
}
PROJECT: dict[str, Job] = {
    "project": project,
    "project_body": project_body,
    "recount": lambda made: recount(made.messages, made),
    "recount of bytes": lambda made: recount(made.body, made),
    "inspect": lambda made: inspect(made.messages),
    "inspect of bytes": lambda made: inspect(made.body),
    "check": lambda made: check(made.messages, made),
    "check of bytes": lambda made: check(made.body, made),
}
JOBS = {"carry": CARRY, "project": PROJECT}


def request_of(made: Numbered) -> str:
    """Return all of a request, without what is done to it."""
    return written([made.messages, made.later, made.body, made.later_body, made.summary])


def outputs(made: Numbered, jobs: dict[str, Job]) -> dict[str, str]:
    """Return the output of each job, or the error that it raises, as JSON. Raise if a job changes its input."""
    before = request_of(made)
    found = {name: written(outcome(lambda job=job: job(made))) for name, job in jobs.items()}
    if request_of(made) != before:
        raise AssertionError(f"request {made.number} was changed by a job")
    return found


def hash_of(made: Numbered, jobs: dict[str, Job]) -> str:
    return digest(written(outputs(made, jobs)), 6)


def line_of(made: Numbered) -> str:
    """Return the line of a golden file: the number, the format, and the hashes of both kinds of jobs."""
    return " ".join(
        [str(made.number), made.shape, *(hash_of(made, jobs) for jobs in JOBS.values())]
    )


HEADING = "# number, format, jobs of carry, jobs of project; requests "


def heading_of(requests: Iterable[Numbered]) -> str:
    """Return the first line of a golden file, with a hash of its requests."""
    return f"{HEADING}{digest(' '.join(digest(request_of(made)) for made in requests))}"


def file_of(numbers: Iterable[int]) -> str:
    """Return the golden file of some numbers."""
    requests = list(map(numbered, numbers))
    return "\n".join([heading_of(requests), *map(line_of, requests), ""])
