"""Project messages of other producers: imported copies are read, and the producer's own objects are written.

Only results in messages of the format of OpenAI Chat can be replaced, as in SWE-agent's histories: such a message is
imported with its content in its place. Everything else passes through unchanged, and nothing is repaired, since no
provider accepts such a request. If no importer knows any of the messages, the request is repaired like others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from toolcarry._input.document import LISTS, messages_of
from toolcarry._input.json import loads
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry._input.splice import spliced
from toolcarry.importers.messages import Import
from toolcarry.importers.read import read_message
from toolcarry.model.formats.message import MessageParts
from toolcarry.model.message_pieces import THINKING_KEYS
from toolcarry.types.policy import Policy
from toolcarry.types.values import CallFacts, Decisions, ProjectReport

__all__ = ["project", "project_body"]

ProjectImported: TypeAlias = Callable[
    [Sequence[Any], JsonObject, Policy, Decisions | None, Sequence[CallFacts] | None, bool],
    tuple[list[Any] | None, list[int | None], dict[str, Any], ProjectReport, Decisions],
]
"""The kernel ``project_imported``."""


def project(
    kernel: ProjectImported,
    messages: Sequence[Any],
    policy: Policy,
    previous: Decisions | None,
    known: Sequence[CallFacts] | None = None,
    members: JsonObject | None = None,
) -> tuple[list[Any] | None, dict[str, Any], ProjectReport, Decisions]:
    """Project messages, some of which need an importer, of a request with these other members.

    Return the new messages (``None`` if nothing changes), the new values of other members, the report and the decisions.
    """
    importing = Import()
    imported = to_read(messages, importing)
    is_foreign = importing.is_used
    asked = replace(policy, repair=policy.repair and not is_foreign)
    found, origins, changed, report, decisions = kernel(
        imported, members or {}, asked, previous, known, is_foreign
    )
    new = None if found is None else of_originals(found, origins, imported, messages)
    report = replace(report, unread=importing.own(report.unread))
    if policy.repair and is_foreign:
        places = [report.not_repaired] if report.not_repaired else []
        report = replace(report, not_repaired=", ".join([*formats_of(messages), *places]))
    return new, changed, report, decisions


def project_body(
    kernel: ProjectImported, body: bytes, policy: Policy, previous: Decisions | None
) -> tuple[bytes | None, ProjectReport, Decisions]:
    """Run the kernel ``project_body`` on a body in which some messages need an importer."""
    document = loads(body)
    messages, key, members = document, None, {}
    own = messages_of(document) if isinstance(document, dict) else None
    if own is not None:
        messages = own
        key = next(key for key in ("messages", *LISTS) if document.get(key) is own)
        members = {name: value for name, value in document.items() if name != key}
    new, changed, report, decisions = project(kernel, messages, policy, previous, members=members)
    if new is None and not changed:
        return None, report, decisions
    if key is None:
        return spliced(body, document, new), report, decisions
    whole = {**document, **changed, key: messages if new is None else new}
    removed = [name for name, value in changed.items() if value is None]
    written = {name: value for name, value in whole.items() if name not in removed}
    return spliced(body, document, written), report, decisions


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
    found: Sequence[Any],
    origins: Sequence[int | None],
    imported: Sequence[Any],
    messages: Sequence[Any],
) -> list[Any]:
    """Return projected messages with the producer's own in place of the imported ones."""
    return [
        new if origin is None else of_original(new, imported[origin], messages[origin])
        for new, origin in zip(found, origins, strict=True)
    ]


def of_original(new: Any, read: Any, message: Any) -> Any:
    """Return the producer's own message with the changes of the imported one, which was ``read``.

    A change of a member that the import made, or wrote in another form, has no place in it.
    """
    if new is read:
        return message
    own = as_object(message) or {}
    changed = {key: value for key, value in new.items() if value is not read.get(key)}
    removed = read.keys() - new.keys()
    if any(key not in own or own[key] is not read.get(key) for key in (*changed, *removed)):
        return message
    return {key: value for key, value in {**own, **changed}.items() if key not in removed}


def formats_of(messages: Sequence[Any]) -> list[str]:
    """Return the formats of the messages that have calls or results, which can't be repaired."""
    names: set[str] = set()
    for message in messages:
        wire, message_parts = as_object(message) or {}, MessageParts()
        name = read_message(wire, wire.get("role"), message_parts)
        if message_parts.calls or message_parts.results:
            names.add(name)
    return sorted(names)
