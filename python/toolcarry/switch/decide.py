"""What is to be done with a request, by what is known of its conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from toolcarry._input.objects import plain_message
from toolcarry.switch.asked import Asked
from toolcarry.switch.bare import bare
from toolcarry.switch.entries import role_in
from toolcarry.switch.fingerprint import Mark
from toolcarry.switch.sessions import PARTED, Line, Prefix, Session
from toolcarry.switch.values import Reason

__all__ = ["Known", "find_known", "holds_own", "is_to_be_noted", "reason_for"]


MOST_NEWEST: Final = 8
"""How many lines are among those that were used last."""


class Known(NamedTuple):
    """What was sent before for the beginning of a conversation, and where in the request that beginning ends."""

    prefix: Prefix
    end: int


def find_known(line: Line, backend: str, first: Mark, rest: Iterator[Mark]) -> Known | None:
    """The longest beginning of a request that this backend was sent something for.

    Takes of ``rest`` what it needs.
    """
    wanted = {
        (prefix.count, prefix.digest): prefix
        for prefix in line.prefixes
        if prefix.backend == backend
    }
    most = max((count for count, _ in wanted), default=0)
    found = None
    for mark in (first, *islice(rest, max(most - 1, 0))):
        prefix = wanted.get((mark.length, mark.digest))
        if prefix is not None:
            found = Known(prefix, mark.end)
    return found


def is_to_be_noted(session: Session, line: Line, backend: str) -> bool:
    """Whether it tells something that this backend was asked.

    Where it has answered the line already, that is what is known anyway, as long as its answer can't be taken for that
    of another line, and the line is not soon the one that was used longest ago.
    """
    if line.backend != backend or line.asked not in ("", backend):
        return line.asked != backend
    newest = session.lines[:MOST_NEWEST]
    return line not in newest or any(
        known.asked == backend for known in session.lines if known is not line
    )


def reason_for(session: Session, line: Line, asked: Asked, known: Known | None) -> Reason:
    """Why a request is changed, or left as it is.

    Of a line that nobody has answered yet it is asked whether the conversation is one backend's alone: if not, what the
    request holds may be of another one, and is carried. Of two answers to one request, the one that is chosen is carried
    where there is anything in it that its backend alone understands.
    """
    backend = asked.backend
    if known is not None:
        return "resumed"
    last = line.backend or session.backend
    if last == PARTED and not holds_own(asked.messages):
        return "same_backend"
    if last not in ("", backend):
        return "switched"
    lines = (line,) if line.backend else session.lines
    if any(prefix.backend == backend for known in lines for prefix in known.prefixes):
        return "rewritten"
    return "same_backend" if last else "new"


def holds_own(messages: Sequence[Any]) -> bool:
    """Whether anything of what models said is understood by their backends alone."""
    plain = (plain_message(message, position) for position, message in enumerate(messages))
    said = (message for message in plain if role_in(message) in ("assistant", None))
    return any(bare(message) is not message for message in said)
