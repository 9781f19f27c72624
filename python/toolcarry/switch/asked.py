"""One request to the switch, and its answer put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toolcarry.switch.prompts import join_prompts, leading_prompts
from toolcarry.switch.sessions import SessionKey
from toolcarry.switch.values import Reason, Switched, SwitchReport

__all__ = ["Asked", "joined", "untouched"]


class Asked(NamedTuple):
    """One request: whose it is, for whom, by which message its line is known, and its messages."""

    key: SessionKey
    backend: str
    first: str
    messages: Sequence[Any]


def untouched(asked: Asked, reason: Reason) -> Switched:
    """The client's own messages."""
    return Switched(asked.messages, SwitchReport(reason, kept=len(asked.messages)), asked.first)


def joined(asked: Asked, beginning: Sequence[Any], end: int, report: SwitchReport) -> Switched:
    """A beginning in place of the client's messages up to ``end``, behind the system prompts that these begin with."""
    prompts, rest = leading_prompts(asked.messages), asked.messages[end:]
    seam = join_prompts([*beginning[-1:], *rest[:1]])
    messages = [*prompts, *beginning[:-1], *seam, *rest[1:]]
    kept = len(prompts) + len(rest)
    report = replace(report, replaced=len(asked.messages) - kept, kept=kept)
    return Switched(messages, report, asked.first)
