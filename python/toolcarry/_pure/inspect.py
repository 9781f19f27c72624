"""The full survey of a conversation: its contents, their sizes, and its faults."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from toolcarry._input.document import SKIPPED
from toolcarry._input.objects import JsonObject, as_object
from toolcarry._pure.content import result_text
from toolcarry._pure.context import DEFAULT_RULE_SET
from toolcarry._pure.dedupe import Judging
from toolcarry._pure.formats import read_message
from toolcarry._pure.formats.message import MessageParts
from toolcarry._pure.pairing import Walk
from toolcarry._pure.pairing.block import Entry
from toolcarry.errors import NeedsImport
from toolcarry.types.values import Inspection, ToolSize


def inspect(messages: Sequence[Any]) -> Inspection:
    """Survey every block, including side chains and other branches."""
    walk = Walk(messages)
    judging = Judging(DEFAULT_RULE_SET)
    tools: dict[str, ToolSize] = {}
    orphan_calls = orphan_results = duplicates = stale_reads = side_chain = other_branch = 0
    for entry in walk.entries():
        reason, _, _ = judging.judge(entry)
        duplicates += bool(reason)
        stale_reads += not reason and entry.is_stale
        orphan_calls += entry.result is None
        orphan_results += entry.call is None
        if not entry.is_active:
            side_chain += bool(entry.scope)
            other_branch += not entry.scope
        tools[entry.name] = weigh(tools.get(entry.name, ToolSize()), entry)
    objects = [as_object(message) or SKIPPED for message in messages]
    sizes = tools.values()
    return Inspection(
        shape=format_of(objects),
        messages=sum(message != SKIPPED for message in objects),
        calls=sum(size.calls for size in sizes),
        results=sum(size.results for size in sizes) + walk.duplicate_results,
        errors=sum(size.errors for size in sizes),
        orphan_calls=orphan_calls,
        orphan_results=orphan_results,
        duplicate_results=walk.duplicate_results,
        repeated_records=walk.repeated_records,
        duplicates=duplicates,
        stale_reads=stale_reads,
        side_chain_blocks=side_chain,
        other_branch_blocks=other_branch,
        bytes=sum(size.bytes for size in sizes),
        chars=sum(size.chars for size in sizes),
        tools=dict(sorted(tools.items(), key=_by_weight)),
        unread=walk.unread_report(),
    )


def weigh(size: ToolSize, entry: Entry) -> ToolSize:
    """Return ``size`` with one more block."""
    text = "" if entry.result is None else result_text(entry.content)
    return ToolSize(
        size.calls + (entry.call is not None),
        size.results + (entry.result is not None),
        size.errors + entry.is_error,
        size.bytes + len(text.encode("utf-8", "surrogatepass")),
        size.chars + len(text),
    )


def _by_weight(item: tuple[str, ToolSize]) -> tuple[int, str]:
    return -item[1].bytes, item[0]


def format_of(messages: Sequence[JsonObject]) -> str:
    """Return the shape of the messages; ``mixed`` if there are several, ``unknown`` if no message shows one."""
    return one_of({_message_format(message) for message in messages})


def one_of(names: set[str]) -> str:
    """Return one name for the shapes of several messages. The empty shape fits any."""
    shapes = names - {""}
    return shapes.pop() if len(shapes) == 1 else "mixed" if shapes else "unknown"


def _message_format(message: JsonObject) -> str:
    """Return the shape of a message by its structure; empty if it fits any."""
    shape = record_format(message)
    if shape:
        return shape
    with suppress(NeedsImport):  # the walk raises it for each message that it reads
        shape = read_message(message, message.get("role"), MessageParts())
    return shape


def record_format(message: JsonObject) -> str:
    """Return the shape of a session record; empty if an object is not a record."""
    is_record = "uuid" in message and ("message" in message or "parentUuid" in message)
    return "claude-code" if is_record else ""
