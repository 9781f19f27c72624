"""Project messages of other producers: imported copies are read, and the producer's own objects are written.

Only results in messages of the format of OpenAI Chat can be replaced, as in SWE-agent's histories: such a message is
imported with its content in its place. Everything else passes through unchanged, and nothing is repaired, since no
provider accepts such a request. If no importer knows any of the messages, the request is repaired like others. The
reference does this for both backends, since it occurs in no request path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._pure.projection.blocks import CallFacts
from toolcarry._pure.projection.bytes import ProjectedBytes, open_request, untouched
from toolcarry._pure.projection.edits import Changed, Draft, Original, build
from toolcarry._pure.projection.plan import plan, text_bytes
from toolcarry._pure.projection.repair import formats_of
from toolcarry._pure.projection.repair.guard import unread_place
from toolcarry._pure.tokens.messages import THINKING_KEYS
from toolcarry.importers.messages import Import
from toolcarry.importers.read import read_message
from toolcarry.types.policy import Policy
from toolcarry.types.values import Decisions, ProjectReport

__all__ = ["project", "project_body"]


def project(
    messages: Sequence[Any],
    policy: Policy,
    previous: Decisions | None,
    known: Sequence[CallFacts] | None = None,
) -> tuple[list[Any] | None, ProjectReport, Decisions]:
    """Run the kernel ``project`` on messages, some of which need an importer."""
    importing = Import()
    imported = to_read(messages, importing)
    found = plan(
        imported,
        replace(policy, repair=policy.repair and not importing.is_used),
        previous,
        known=known,
        weigh=lambda start, end: text_bytes(messages[start:end]),
        is_foreign=importing.is_used,
    )
    drafts = None if found.drafts is None else of_originals(found.drafts, messages)
    new = None if drafts is None else build(messages, drafts)
    report = with_formats(found.report, policy, messages, importing, is_continued=False)
    return new, report, found.decisions


def project_body(body: bytes, policy: Policy, previous: Decisions | None) -> ProjectedBytes:
    """Run the kernel ``project_body`` on a body in which some messages need an importer."""
    request = open_request(body)
    if isinstance(request, str):
        return untouched(request)
    messages = request.messages
    importing = Import()
    imported = to_read(messages, importing)
    asked = replace(policy, repair=policy.repair and not importing.is_used)
    found = request.plan(imported, asked, previous, is_foreign=importing.is_used)
    drafts = None if found.drafts is None else of_originals(found.drafts, messages)
    new = request.written(found._replace(drafts=drafts))
    is_continued = request.is_continued
    report = with_formats(found.report, policy, messages, importing, is_continued=is_continued)
    return new, report, found.decisions


def to_read(messages: Sequence[Any], given: Import) -> list[Any]:
    """Return imported messages, with the thoughts that a request holds, since they count for its size."""
    return [
        written if written is message else with_thoughts(written, message)
        for message, written in zip(messages, given.each(messages), strict=True)
    ]


def with_thoughts(written: JsonObject, message: JsonObject) -> JsonObject:
    thoughts = {key: message[key] for key in THINKING_KEYS if key in message}
    parts = as_list(written.get("content"))
    if parts is None or "content" in message:
        return {**written, **thoughts}
    said = [part for part in parts if "thinking" not in (as_object(part) or ())]
    return {**written, **thoughts, "content": said}


def of_originals(drafts: Sequence[Draft], messages: Sequence[Any]) -> list[Draft]:
    """Turn drafts of imported messages into drafts of the producer's own, whose other members stay unchanged."""
    return [
        draft
        if not isinstance(draft, Changed) or draft.path is None or is_in(draft, messages)
        else Original(draft.path)
        for draft in drafts
    ]


def is_in(draft: Changed, messages: Sequence[Any]) -> bool:
    """Return whether a message has the members that a draft changes."""
    position = draft.path[0] if draft.path else None
    message = as_object(messages[position]) if isinstance(position, int) else None
    return message is not None and message.keys() >= draft.members.keys()


def with_formats(
    report: ProjectReport,
    policy: Policy,
    messages: Sequence[Any],
    given: Import,
    *,
    is_continued: bool,
) -> ProjectReport:
    """Return the report with the original keys, the formats (which can't be repaired), and the unread structures."""
    report = replace(report, unread=given.own(report.unread))
    if not policy.repair or not given.is_used:
        return report
    names = formats_of(messages, is_continued=is_continued, read=read_message)
    return replace(report, not_repaired=", ".join([*names, *unread_place(report.unread)]))
