"""Project messages of other producers: imported copies are read, and the producer's own objects are written.

Only results in messages of the format of OpenAI Chat can be replaced, as in SWE-agent's histories: such a message is
imported with its content in its place. Everything else passes through unchanged, no turn with it is dropped, and nothing is
repaired, since no provider accepts such a request. The report says so if no result can be replaced. If no importer knows any of the messages, the request is repaired like others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from toolcarry._input.document import LISTS, messages_of
from toolcarry._input.json import loads
from toolcarry._input.json_slowly import byte_length
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._input.spans import Values
from toolcarry._input.splice import spliced
from toolcarry.importers.messages import Import
from toolcarry.importers.read import read_message
from toolcarry.model.destinations import DESTINATIONS
from toolcarry.model.formats.message import MessageParts
from toolcarry.model.message_pieces import THINKING_KEYS
from toolcarry.types.outcomes import BodyOutcome, ImportedOutcome
from toolcarry.types.policy import ProjectPolicy
from toolcarry.types.unread import Unread
from toolcarry.types.values import CallFacts, Decisions

__all__ = ["project", "project_body"]

ProjectImported: TypeAlias = Callable[
    [
        Sequence[Any],
        JsonObject | None,
        list[int],
        ProjectPolicy,
        Decisions | None,
        Sequence[CallFacts] | None,
        bool,
    ],
    ImportedOutcome,
]
"""The kernel ``project_imported``."""


def project(
    kernel: ProjectImported,
    messages: Sequence[Any],
    policy: ProjectPolicy,
    previous: Decisions | None,
    known: Sequence[CallFacts] | None = None,
    members: JsonObject | None = None,
    sizes: list[int] | None = None,
) -> ImportedOutcome:
    """Project messages, some of which need an importer, of a request with these other members.

    ``sizes`` are the bytes of each message in its body; without a body, those of its texts count.
    """
    importing = Import()
    imported = to_read(messages, importing)
    is_foreign = importing.is_used
    asked = dataclasses.replace(policy, repair=policy.repair and not is_foreign)
    weighed = list(map(text_bytes, messages)) if sizes is None else sizes
    outcome = kernel(imported, members, weighed, asked, previous, known, is_foreign)
    new = of_originals(outcome, imported, messages)
    report = replace(outcome.report, unread=importing.own(outcome.report.unread))
    formats = formats_of(messages) if is_foreign else []
    if report.untouched:
        report = replace(report, untouched=f"{report.untouched}: {', '.join(formats)}")
    if policy.repair and is_foreign:
        reasons = [*formats, *unread_place(report.unread)]
        report = replace(report, not_repaired=", ".join(reasons))
    return replace(outcome, messages=new, report=report)


def project_body(
    kernel: ProjectImported, body: bytes, policy: ProjectPolicy, previous: Decisions | None
) -> BodyOutcome:
    """Run the kernel ``project_body`` on a body in which some messages need an importer."""
    document = loads(body)
    messages, key, members = document, None, {}
    own = messages_of(document) if isinstance(document, dict) else None
    if own is not None:
        messages = own
        key = next(key for key in ("messages", *LISTS) if document.get(key) is own)
        members = {name: value for name, value in document.items() if name != key}
    sizes = sizes_in(body, key)
    outcome = project(kernel, messages, policy, previous, members=members, sizes=sizes)
    new, changed = outcome.messages, outcome.members
    if new is None and not changed:
        return BodyOutcome(None, outcome.report, outcome.decisions)
    written: Any = new
    if key is not None:
        whole = {**document, **changed, key: messages if new is None else new}
        written = {
            name: value for name, value in whole.items() if name not in changed or value is not None
        }
    return BodyOutcome(spliced(body, document, written), outcome.report, outcome.decisions)


def text_bytes(message: Any) -> int:
    """Return the UTF-8 bytes of all texts in a message, at any depth."""
    total = 0
    rest = [message]
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            total += byte_length(value)
        elif isinstance(value, (list, tuple)):
            rest.extend(value)
        else:
            rest.extend((as_object(value) or {}).values())
    return total


def sizes_in(body: bytes, key: str | None) -> list[int]:
    """Return the bytes of each message in a body, up to the next one; those before the first belong to it."""
    spans = Values(body)
    items = spans.items(spans.root if key is None else spans.member(spans.root, key).value)
    starts = [0, *(span.start for span in items[1:]), *(span.end for span in items[-1:])]
    return [end - start for start, end in pairwise(starts)]


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


def of_originals(
    outcome: ImportedOutcome, imported: Sequence[Any], messages: Sequence[Any]
) -> list[Any] | None:
    """Return the projected messages with the producer's own in place of the imported ones."""
    if outcome.messages is None:
        return None
    return [
        new if origin is None else of_original(new, imported[origin], messages[origin])
        for new, origin in zip(outcome.messages, outcome.origins, strict=True)
    ]


def of_original(new: Any, read: Any, message: Any) -> Any:
    """Return the producer's own message with the changes of the imported one, which was ``read``.

    A change of a member that the import made, or wrote in another form, has no place in it.
    """
    if new is read:
        return message
    if read is message:  # it was not imported
        return new
    own = as_object(message) or {}
    changed = {key: value for key, value in new.items() if value is not read.get(key)}
    removed = read.keys() - new.keys()
    if any(key not in own or own[key] is not read.get(key) for key in (*changed, *removed)):
        return message
    return {key: value for key, value in {**own, **changed}.items() if key not in removed}


def formats_of(messages: Sequence[Any]) -> list[str]:
    """Return the formats of messages that can't be repaired: those of no provider, and those with calls or results."""
    names: set[str] = set()
    for message in messages:
        wire, message_parts = as_object(message) or {}, MessageParts()
        name = read_message(wire, wire.get("role"), message_parts)
        if name not in SHAPES or message_parts.calls or message_parts.results:
            names.add(name)
    return sorted(names - {""})


def unread_place(unread: Unread) -> list[str]:
    """Return the place of what was not read, as Rust's report names it; nothing if everything was read."""
    if not unread:
        return []
    positions = [place.position for place in unread.first]
    more = len(unread) - len(positions)
    others = f" and {more} more" if more > 0 else ""
    plural = "s" if len(unread) > 1 else ""
    return [f"unread in message{plural} {', '.join(map(str, positions))}{others}"]


SHAPES: Final = {destination.shape for destination in DESTINATIONS.values()}
"""The formats of requests."""
