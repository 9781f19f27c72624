"""Requests on the command line: a session becomes the request of a destination, and what that changed is told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from toolcarry import convert
from toolcarry._input.document import decode_messages
from toolcarry.api.conversation import Conversation
from toolcarry.api.convert import KINDS, To
from toolcarry.cli.io import json_line
from toolcarry.cli.terminal import one_line
from toolcarry.sessions.draft import KINDS as SESSION_KINDS
from toolcarry.types.destinations import Destination
from toolcarry.types.mends import MENDS
from toolcarry.types.results import Loss
from toolcarry.types.unread import NOTHING, Unread
from toolcarry.types.values import Mend

MOST_SHOWN: Final = 3
"""The maximum number of losses or corrections of one kind that are listed; ``--json`` lists all."""
MEANINGS: Final = {**KINDS, **SESSION_KINDS, **MENDS}


class Request(NamedTuple):
    """The body of a request, and what a session file lost when it became one."""

    body: bytes
    losses: tuple[Loss, ...] = ()
    unread: Unread = NOTHING
    skipped_lines: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return what was lost, as members of a JSON record."""
        return {
            "losses": [loss.to_dict() for loss in self.losses],
            "unread": self.unread.to_dict(),
        }


def as_request(data: bytes, destination: str | Destination | Mapping[str, Any] | None) -> Request:
    """Return a request for the destination, made of a session file; a request, and anything else, unchanged."""
    if (
        destination is None
        or isinstance(destination, Mapping)
        or not Conversation.of(data).is_session
    ):
        return Request(data)
    converted = convert(data, to=cast("To", destination), repair=False)
    is_whole = all(loss.kind != "skipped_lines" for loss in converted.losses)
    skipped = () if is_whole else decode_messages(data)[1]
    return Request(json_line(converted.to_dict()), converted.losses, converted.unread, skipped)


def advice(data: bytes) -> str:
    """Return a hint for a file that is not a request; empty if toolcarry knows no hint."""
    if not Conversation.of(data).is_session:
        return ""
    return "; it is a session file: name the provider with --destination"


def tell(changes: Sequence[Loss | Mend]) -> list[str]:
    """Return a line for each kind: its description and the places of the first ones, counted from 1."""
    by_kind: dict[str, list[Loss | Mend]] = {}
    for change in changes:
        by_kind.setdefault(change.kind, []).append(change)
    lines: list[str] = []
    for kind, found in by_kind.items():
        shown = "; ".join(filter(None, map(place, found[:MOST_SHOWN])))
        more = f"; {len(found) - MOST_SHOWN:,} more" if len(found) > MOST_SHOWN else ""
        lines.append(f"{MEANINGS[kind]}: {shown}{more}" if shown else MEANINGS[kind])
    return lines


def place(change: Loss | Mend) -> str:
    """Return the number of the message or line in which something was lost or corrected, with the detail."""
    detail = change.detail
    if isinstance(change, Mend):
        detail = ": ".join(filter(None, (change.call_id, detail)))
    detail = one_line(detail)
    if change.position is None:
        return detail
    return f"{change.position + 1:,}{f' ({detail})' if detail else ''}"


def counted_from_one(not_repaired: str) -> str:
    """Return the text about what was not repaired with its messages counted from 1, as in all other lines.

    >>> counted_from_one("server_tool_use in message 3, unread in messages 0, 1 and 2 more")
    'server_tool_use in message 4, unread in messages 1, 2 and 2 more'
    """

    def shifted(found: re.Match[str]) -> str:
        return re.sub(r"\d+", lambda number: str(int(number[0]) + 1), found[0])

    return re.sub(r"in messages? \d+(, \d+)*", shifted, not_repaired)
