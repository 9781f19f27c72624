"""The values that the switch returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolcarry.summarize import Summary
from toolcarry.types.values import Report

__all__ = ["Reason", "SwitchReport", "Switched", "SwitchedBody"]

Reason = Literal["new", "same_backend", "switched", "resumed", "rewritten"]


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """The outcome of one request, with the reason.

    ``reason`` is ``new`` (no backend is known to have answered), ``same_backend``, ``switched``, ``resumed`` (the same
    beginning as in the last request) or ``rewritten`` (the client changed what had been carried, or it is unknown: it
    is carried afresh). Of messages, ``replaced`` went into the context, or stand in front of it anew, and ``kept`` are
    the caller's own. ``withheld`` names what redaction could not clean and is therefore not sent.
    """

    reason: Reason
    replaced: int = 0
    kept: int = 0
    summary: Summary | None = None
    carried: Report | None = None
    withheld: str = ""

    @property
    def is_switched(self) -> bool:
        """True if the request differs from the client's."""
        return self.reason in ("switched", "resumed", "rewritten")

    @property
    def is_sticky(self) -> bool:
        """True if the beginning is the one that was sent before, byte for byte."""
        return self.reason == "resumed"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values that ``json.dumps`` takes; of the summary not its text.

        >>> SwitchReport("new").to_dict()["reason"]
        'new'
        """
        summary = self.summary
        return {
            "reason": self.reason,
            "is_switched": self.is_switched,
            "is_sticky": self.is_sticky,
            "replaced": self.replaced,
            "kept": self.kept,
            "summary": None
            if summary is None
            else {"status": summary.status, "error": summary.error},
            "carried": None if self.carried is None else self.carried.to_dict(),
            "withheld": self.withheld,
        }


@dataclass(frozen=True, slots=True)
class Switched:
    """The ``messages`` for the backend, and the ``report``.

    ``line`` is for ``SummarizeTransformer.answered``: which of a conversation's requests it was that succeeded.
    """

    messages: Sequence[Any]
    report: SwitchReport
    line: str = ""

    @property
    def is_switched(self) -> bool:
        """True if the messages differ from the client's."""
        return self.report.is_switched


@dataclass(frozen=True, slots=True)
class SwitchedBody:
    """The ``body`` for the backend, the same object where nothing changes, and the ``report``; ``line`` as above.

    ``untouched`` says why a body went through unread. ``is_thinking_off`` says that the request asks for no thinking,
    as long as a turn lasts that another backend began: Anthropic would refuse it.
    """

    body: bytes
    report: SwitchReport
    line: str = ""
    untouched: str = ""
    is_thinking_off: bool = False

    @property
    def is_switched(self) -> bool:
        """True if the body differs from the client's."""
        return self.report.is_switched
